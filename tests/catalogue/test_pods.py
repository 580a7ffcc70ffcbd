"""What no pod of the catalogue has, as it is shipped and with options.

Why a subPath of a storage fails: `test_cluster` of the room workload has an export whose root is a group's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from packyard.writing.source.package import Package, UseCase
from pods import as_pods
from served import Served
from usecases import Object, build_all, each_use_case, sampled_options, shipped

#: Volumes that a kubelet makes, whose directories it may enter as root.
_OWN = ("configMap", "downwardAPI", "emptyDir", "projected", "secret")


@pytest.fixture
def pods(package: Package, use_case: UseCase, served5: Served) -> list[Object]:
    """The pods of a use case, as it is and with options, each of which is tried in each base."""
    key = (package.name, use_case.path)
    if key not in _PODS:
        directory = shipped(package, use_case)
        ready = directory.set(directory.examples)
        choices = [(ready, ()), *((ready, (name,)) for name in sampled_options(package, use_case, of="pods"))]
        _PODS[key] = [pod["spec"] for objects in build_all(served5, "ml", choices) for _, pod in as_pods(objects)]
    return _PODS[key]


_PODS: dict[tuple[str, str], list[Object]] = {}


def containers(pod: Object) -> Iterator[Object]:
    yield from (*pod.get("initContainers", []), *pod["containers"])


def a_directory_of_a_storage(pod: Object) -> Iterator[Object]:
    """Yield mounts whose directory the kubelet looks for as root, which an export takes for nobody."""
    own = {each["name"] for each in pod.get("volumes", []) if any(kind in each for kind in _OWN)}
    for mount in (mount for container in containers(pod) for mount in container.get("volumeMounts", [])):
        if mount["name"] not in own and {"subPath", "subPathExpr"} & mount.keys():
            yield mount


def none_of_a_resource(pod: Object) -> Iterator[Object]:
    """Yield resources of which a container asks for 0: a queue of Kueue without GPUs never admits such a pod."""
    for needs in (container.get("resources", {}) for container in containers(pod)):
        if "0" in {str(amount) for kind in ("requests", "limits") for amount in needs.get(kind, {}).values()}:
            yield needs


@pytest.mark.parametrize("fault", [a_directory_of_a_storage, none_of_a_resource])
@each_use_case
def test_no_pod_asks_for(fault: Callable[[Object], Iterator[Object]], pods: list[Object]) -> None:
    assert [each for pod in pods for each in fault(pod)] == []
