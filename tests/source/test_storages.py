"""Storages serve every base: each container sees the one of its use case, and results go there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import real
from packyard.bundle import requirements
from packyard.source.compose import compose
from packyard.source.package import UseCase
from pods import as_pods
from usecases import CATALOGUE, PACKAGES, Directory, Object

#: Parts of other bases, and those that bring no pods.
_OTHERS = {"claim", "cluster-entry", "identity", "namespace"}
BASES = sorted(
    file.parent.name
    for file in (real.REPOSITORY / "bases").glob("*/kustomization.yaml")
    if "kind: Kustomization\n" in file.read_text() and file.parent.name not in _OTHERS
)
each_base = pytest.mark.parametrize("base", BASES)


def composed(base: str, storage: str) -> list[Object]:
    use_case = UseCase(path=f"{base}/{storage}", base=base, overlays=(storage,))
    return Directory(compose(CATALOGUE, PACKAGES[0], use_case).files).parse()


def pods(objects: list[Object]) -> Iterator[Object]:
    yield from (item["spec"] for item in objects if item["kind"] == "Pod")
    yield from (pod["spec"] for _, pod in as_pods(objects))


def of_storage(found: list[Object]) -> list[Object]:
    return [item for item in found if item["name"] == "storage"]


@each_base
@pytest.mark.parametrize("storage", ["none", "user-allocated-pvc", "user-mounted-nfs"])
def test_every_container_sees_the_storage_that_the_results_go_to(base: str, storage: str) -> None:
    objects = composed(base, storage)
    (output_dir,) = (item["data"]["OUTPUT_DIR"] for item in objects if "OUTPUT_DIR" in item.get("data", ()))
    assert [*pods(objects)]
    for pod in pods(objects):
        assert len(of_storage(pod["volumes"])) == 1
        for container in (*pod["initContainers"], *pod["containers"]):
            own = [each["mountPath"] for each in of_storage(container["volumeMounts"]) if "subPath" not in each]
            assert [path for path in own if output_dir.startswith(f"{path}/")] == own != []


@each_base
def test_without_a_storage_each_pod_has_a_bounded_volume_and_a_node_with_room_for_it(base: str) -> None:
    objects = composed(base, "none")
    assert not {item.kind for item in requirements.find(objects)} & {"PersistentVolumeClaim", "NFS", "CSIDriver"}
    for pod in pods(objects):
        assert of_storage(pod["volumes"]) == [{"name": "storage", "emptyDir": {"sizeLimit": "10Gi"}}]
        requests = [container["resources"]["requests"] for container in pod["containers"]]
        assert [each["ephemeral-storage"] for each in requests if "ephemeral-storage" in each] == ["10Gi"]
