"""Servers of a model that lies on the storage, run as processes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from catalogue.usecases import PACKAGES, Object
from packyard.writing.source.package import Package, UseCase
from workload import catalogue, deploy, zoo
from workload.cluster import Cluster
from workload.nightly.test_use_cases import READ_ONLY, seen_from_here

RESNET50 = "resnet50v1-5-fp32-inference-k8s"
USE_CASES = [
    pytest.param(item, each, id=each.path)
    for item in PACKAGES
    for each in item.use_cases
    if item.name == RESNET50 and each.base == "serving"
]


@pytest.mark.parametrize(("package", "use_case"), USE_CASES)
def test_servers_find_the_model_on_the_storage_and_can_change_nothing_of_it(
    package: Package, use_case: UseCase, new_cluster: Callable[[list[Object]], Cluster]
) -> None:
    objects = catalogue.set_objects(
        package, use_case, REPLICAS=2, MODEL_BASE_PATH="/alice/resnet50", MODEL_PORT=9000, TF_SERVING_PORT=9001
    )
    (deployment,) = deploy.of_kind(objects, "Deployment")
    cluster = new_cluster(objects)
    zoo.store_models(cluster, [deployment])
    servers = deploy.run_pods(cluster, deployment)
    cluster.wait_ready(*servers)
    assert len(servers) == 2
    for server in servers:
        (record,) = server.records
        assert record["argv"][1:] == [
            "--port=9000",
            "--rest_api_port=9001",
            "--model_name=resnet50v1-5-fp32-inference",
            "--model_base_path=/data/alice/resnet50",
        ]
        assert record["writable"]["/data/alice/resnet50"] == READ_ONLY
        (model,) = [path for path in server.volumes["storage"].rglob("*") if path.is_file()]
        assert model == seen_from_here(server, "/data/alice/resnet50/1/saved_model.pb")
        for container in deployment["spec"]["template"]["spec"]["containers"]:
            mounts = [each for each in container["volumeMounts"] if each["name"] == "storage"]
            assert mounts == [{"name": "storage", "mountPath": "/data", "readOnly": True}]
