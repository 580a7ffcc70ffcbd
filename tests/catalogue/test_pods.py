"""What no object and no pod of the catalogue has, as it is shipped and with options.

Why a subPath of a storage fails: `test_cluster` of the room workload has an export whose root is a group's.
"""

import re
from collections.abc import Callable, Iterator

import pytest

from catalogue.pods import as_pods
from catalogue.usecases import Object, build_all, each_use_case, moved, sampled_options, shipped
from packyard.core.kubernetes import images
from packyard.writing.source.package import Package, UseCase
from real import Kustomize

#: Volumes that a kubelet makes, whose directories it may enter as root.
_OWN = ("configMap", "downwardAPI", "emptyDir", "projected", "secret")


@pytest.fixture
def objects(package: Package, use_case: UseCase, kustomize5: Kustomize) -> list[Object]:
    """The objects of a use case, as it is and with options, each of which is tried in each base."""
    key = (package.name, use_case.path)
    if key not in _OBJECTS:
        directory = shipped(package, use_case)
        ready = directory.set(directory.examples)
        choices = [(ready, ()), *((ready, (name,)) for name in sampled_options(package, use_case, of="pods"))]
        built = [item for each in build_all(kustomize5, "ml", choices) for item in each]
        _OBJECTS[key] = [*built, *moved(ready.beside(), "ml", "ml")]
    return _OBJECTS[key]


@pytest.fixture
def pods(objects: list[Object]) -> list[Object]:
    return [pod["spec"] for _, pod in as_pods(objects)]


_OBJECTS: dict[tuple[str, str], list[Object]] = {}


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


def addresses_of_services(pod: Object) -> Iterator[Object]:
    """Yield a pod that is told each Service of its namespace: one named vllm sets VLLM_PORT, which ends vLLM."""
    if pod.get("enableServiceLinks", True):
        yield pod


def a_gpu_beside_the_taint_of_its_nodes(pod: Object) -> Iterator[Object]:
    """Yield a pod that asks for GPUs, and does not tolerate what keeps other pods from their nodes."""
    asks = any("nvidia.com/gpu" in container.get("resources", {}).get("limits", {}) for container in containers(pod))
    if asks and not any(each.get("key") == "nvidia.com/gpu" for each in pod.get("tolerations", [])):
        yield pod


def no_reason_when_it_fails(pod: Object) -> Iterator[Object]:
    """Yield containers that compute or copy, and whose end says nothing of why."""
    for container in containers(pod):
        if container["name"] in WORK and container.get("terminationMessagePolicy") != "FallbackToLogsOnError":
            yield container


#: The names of the containers whose end is that of a run.
WORK = {
    *("benchmark", "copy", "copy-dataset", "copy-notebooks", "main", "mpi-launcher", "node", "publish", "server"),
    *("smoke-test", "staging", "training"),
}


@pytest.mark.parametrize(
    "fault",
    [
        *(a_directory_of_a_storage, addresses_of_services, a_gpu_beside_the_taint_of_its_nodes),
        *(none_of_a_resource, no_reason_when_it_fails),
    ],
)
@each_use_case
def test_no_pod_asks_for(fault: Callable[[Object], Iterator[Object]], pods: list[Object]) -> None:
    assert [each for pod in pods for each in fault(pod)] == []


@each_use_case
def test_every_object_says_what_it_is_and_of_which_run(objects: list[Object]) -> None:
    wanted = {"app.kubernetes.io/name", "app.kubernetes.io/instance"}
    assert [item for item in objects if not wanted <= item["metadata"].get("labels", {}).keys()] == []


@each_use_case
def test_no_job_takes_the_loss_of_a_node_for_a_failure(objects: list[Object]) -> None:
    wanted = {"Job": "Ignore", "JobSet": "FailJob", "TrainingRuntime": "FailJob"}  # a JobSet starts all pods again
    for item in objects:
        specs = [item] if item["kind"] == "Job" else job_set_jobs(item)
        for spec in (each["spec"] for each in specs):
            (rule,) = spec["podFailurePolicy"]["rules"]
            assert rule["action"] == wanted[item["kind"]]
            assert rule["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]


def job_set_jobs(item: Object) -> list[Object]:
    """Return the templates of the Jobs of a JobSet, or of the one that a TrainJob becomes."""
    inner = item["spec"]["template"] if item["kind"] == "TrainingRuntime" else item
    if item["kind"] not in ("JobSet", "TrainingRuntime"):
        return []
    rules = {rule["action"]: rule["onJobFailureReasons"] for rule in inner["spec"]["failurePolicy"]["rules"]}
    assert rules["RestartJobSetAndIgnoreMaxRestarts"] == ["PodFailurePolicy"]
    return [role["template"] for role in inner["spec"]["replicatedJobs"]]


@each_use_case
def test_all_images_come_from_one_registry(package: Package, use_case: UseCase) -> None:
    """REGISTRY says which, for helpers and options too; IMAGE and AMD_IMAGE are whole names that users choose."""
    mirror = "registry.example:5000/mirror"
    values = {"REGISTRY": mirror, "IMAGE": f"{mirror}/mine:1"}
    directory = shipped(package, use_case)
    there = directory.set({name: value for name, value in values.items() if name in directory.setters})
    items = (*there.parse(), *there.beside())
    named = {image for item in items for image in images.find(item)}
    whole = {name: f"{mirror}/mine:1" for name in directory.option_setters if name.endswith("_IMAGE")}
    if "REGISTRY" in directory.option_setters:
        whole["REGISTRY"] = mirror
    directory = directory.set_options(whole)
    text = b"\n".join(directory.options_files.values()).decode()
    named |= set(re.findall(r'^\s+(?:- )?image: "?([^\s"]+)', text, re.MULTILINE))
    assert {image for image in named if not image.startswith(mirror)} == set()
