"""What no pod of the catalogue has, as it is shipped and with each of its options.

Why a subPath of a storage fails: `test_cluster` of the room workload has an export whose root is a group's.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from packyard.source.package import Package, UseCase
from pods import as_pods
from served import Served
from usecases import Object, build_all, each_use_case, option_names, shipped

#: Volumes that a kubelet makes, whose directories it may enter as root.
_OWN = ("configMap", "downwardAPI", "emptyDir", "projected", "secret")


@pytest.fixture
def pods(package: Package, use_case: UseCase, served5: Served) -> list[Object]:
    """The pods of a use case, as it is and with each of its options."""
    key = (package.name, use_case.path)
    if key not in _PODS:
        directory = shipped(package, use_case)
        ready = directory.set(directory.examples)
        choices = [(ready, ()), *((ready, (name,)) for name in option_names(package, use_case))]
        _PODS[key] = [pod["spec"] for objects in build_all(served5, "ml", choices) for _, pod in as_pods(objects)]
    return _PODS[key]


_PODS: dict[tuple[str, str], list[Object]] = {}


def containers(pod: Object) -> Iterator[Object]:
    yield from (*pod.get("initContainers", []), *pod["containers"])


@each_use_case
def test_no_storage_is_mounted_by_a_directory_of_it(pods: list[Object]) -> None:
    """The kubelet looks for that directory as root, which an export takes for nobody."""
    for pod in pods:
        own = {each["name"] for each in pod.get("volumes", []) if any(kind in each for kind in _OWN)}
        mounts = [mount for container in containers(pod) for mount in container.get("volumeMounts", [])]
        parts = [each for each in mounts if each["name"] not in own and {"subPath", "subPathExpr"} & each.keys()]
        assert not parts


@each_use_case
def test_no_container_asks_for_none_of_a_resource(pods: list[Object]) -> None:
    """A queue of Kueue without GPUs never admits a pod that asks for 0 of them."""
    for pod in pods:
        needs = [container.get("resources", {}) for container in containers(pod)]
        amounts = [str(amount) for each in needs for kind in each.values() for amount in kind.values()]
        assert "0" not in amounts
