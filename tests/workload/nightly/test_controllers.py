"""Our controllers make of pods what the real ones make: names, labels and variables that programs read."""

from __future__ import annotations

import json

import pytest

from catalogue.usecases import level, shipped
from controlplane.api import Api, wait
from workload import catalogue, controllers
from workload.controllers import of_kind
from workload.environment import Object

#: A use case with each kind.
CASES = {
    "Job": "mnist-fp32-training-k8s/multi-node/user-allocated-pvc",
    "JobSet": "mnist-fp32-training-k8s/multi-node-job-set/user-allocated-pvc",
    "LeaderWorkerSet": "llm-serving/several-nodes/user-allocated-pvc",
    "MPIJob": "resnet50v1-5-fp32-training-k8s/multi-node/user-allocated-pvc",
    "TrainJob": "llm-finetune/multi-node-train-job/user-allocated-pvc",
}


@pytest.mark.parametrize("kind", CASES)
def test_pods_are_those_of_the_real_controllers(kind: str, cluster: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    package, use_case = catalogue.USE_CASES[CASES[kind]]
    namespace = cluster.create_namespace(level(shipped(package, use_case).parse()))
    monkeypatch.setattr(controllers, "NAMESPACE", namespace)
    objects: list[Object] = json.loads(json.dumps(catalogue.set_objects(package, use_case)))
    for job in of_kind(objects, "MPIJob"):
        job["spec"]["launcherCreationPolicy"] = "AtStartup"  # its workers cannot be ready without their storage
        job["spec"]["runPolicy"]["cleanPodPolicy"] = "None"
    _, workloads = controllers.pods_of(objects)
    expected = [*(pod for pods in workloads for pod in pods)]
    expected += [pod for job in of_kind(objects, "MPIJob") for pod in controllers.mpi_job(job)[1]]
    applied = [item for item in objects if item["kind"] != "PersistentVolumeClaim"]
    cluster.create_all(
        [{**item, "metadata": {**item["metadata"], "namespace": namespace}} for item in applied], namespace
    )
    found: list[Object] = []

    def lacking() -> list[str]:
        found[:] = cluster.list("v1", "Pod", namespace)
        return [pod["metadata"]["name"] for pod in expected[len(found) :]]

    wait(lacking)
    theirs = {named(pod): pod for pod in found}
    for pod in expected:
        other = theirs[named(pod)]
        assert pod["metadata"]["labels"].items() <= other["metadata"]["labels"].items()
        (mine, *_), (its, *_) = pod["spec"]["containers"], other["spec"]["containers"]
        values = variables(its)
        for name, value in variables(mine).items():
            assert name in values
            assert values[name] in (value, None), name  # None: by a field of the pod
        assert paths(mine) <= paths(its)


def named(pod: Object) -> tuple[str, str, str]:
    """Return what others find a pod by; the names that Jobs give to theirs end in letters by chance."""
    hostname = pod["spec"].get("hostname", "")
    return hostname, pod["spec"].get("subdomain", ""), "" if hostname else pod["metadata"]["name"]


def variables(container: Object) -> dict[str, str | None]:
    """Return the variables that controllers add, with their values where these stand there."""
    added = [each for each in container.get("env", []) if each["name"].startswith(("JOB_", "LWS_", "OMPI_", "PET_"))]
    return {each["name"]: None if "valueFrom" in each else each.get("value", "") for each in added}


def paths(container: Object) -> set[str]:
    return {each["mountPath"] for each in container.get("volumeMounts", [])}
