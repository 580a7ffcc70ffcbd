"""Every use case applied for real, side by side with others and with itself, run to its end, and deleted.

Controllers, scheduler, mpi-operator and those of JobSets and TrainJobs are the real ones; kwok's nodes only pretend to
run the pods, so that pods of Jobs succeed at once and all others become ready. Nothing here acts on a Workflow.
"""

import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import count

from catalogue.pods import as_pods
from catalogue.usecases import (
    LEVELS,
    USE_CASES,
    Directory,
    Object,
    build_all,
    each_package,
    kinds,
    level,
    moved,
    needed,
    option_names,
    shipped,
)
from controlplane.api import Api, wait
from controlplane.stored import condition, phase, volume
from packyard.writing.source.package import Package, UseCase
from real import Kustomize
from sample import some

# What the server says of a Service that it looks at while it is being made.
_OF_THE_SERVER = ("ClusterIPNotAllocated",)
# What the scheduler says of a pod whose own claim is being made and bound; a pod that never gets there fails the test.
_OF_A_CLAIM = re.compile(
    "waiting for ephemeral volume controller|could not find v1.PersistentVolumeClaim"
    '|unbound immediate PersistentVolumeClaims|persistentvolumeclaim "[^"]+" not found'
)
# mpi-operator makes a pod, or the launcher's Job, again that its cache does not have yet, says so, and goes on; so do
# LeaderWorkerSets with a StatefulSet, without the reason. Where it is another's, the former says that it is not managed
# by the MPIJob, and the latter never become available.
_SEEN_LATE = re.compile(
    r'^(worker|launcher) pod created failed: (pods|jobs\.batch) "\S+" already exists$'
    r"|^Failed to create worker statefulset for leader pod \S+$"
)
#: As many as an object makes of one template here at most.
_PODS = 8
_QUEUE = "kueue.x-k8s.io/queue-name"
_AMOUNTS = ("requests", "limits")
#: Options by which a pod asks controllers for something, as each kind of workload does in its own way.
_ASKED_FOR = ("gpu-claim", "queue")
_INSTANCE = "app.kubernetes.io/instance"
_DEVICES = "resource.k8s.io/v1"
_GPU = {"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 1}}


@each_package
def test_runs_share_a_namespace_end_well_and_leave_nothing_but_claims(
    package: Package, cluster: Api, kustomize5: Kustomize
) -> None:
    """All use cases: as they are, twice or with 1, 2 and 8 workers, and with each option; by names of their own."""
    built = build_all(kustomize5, "any", list(runs(package)))
    namespace = cluster.create_namespace(max(map(level, built), key=LEVELS.index))
    objects = moved([item for found in built for item in found], "any", namespace)
    provide(cluster, namespace, objects)
    before = names(cluster, namespace)
    apply(cluster, namespace, [moved(found, "any", namespace) for found in built])
    assert warnings(cluster, namespace) == []
    assert strays(cluster, namespace, objects) == []
    assert passed_by(cluster, namespace, objects) == set()
    for item in objects:
        cluster.delete(item, namespace).expect_done()
    wait(lambda: [pod["metadata"]["name"] for pod in cluster.list("v1", "Pod", namespace)])
    wait(lambda: sorted(names(cluster, namespace) - before))
    assert names(cluster, namespace) == before
    shared = [item for kind in ("PersistentVolume", "Namespace") for item in of_kind(objects, kind)]
    wait(lambda: [str(item) for item in shared if not cluster.read(item).refusal])


@cache
def with_option() -> list[tuple[Package, UseCase, str]]:
    """Return use cases with an option: each option, and each kind of workload with what it asks controllers for."""
    every = [(item, each, option) for item, each in USE_CASES for option in option_names(item, each)]

    def parts(case: tuple[Package, UseCase, str]) -> tuple[object, ...]:
        kind, option = (*kinds(*case[:2]),), case[2]
        return (kind, option, (kind, option)) if option in _ASKED_FOR else (kind, option)

    return some(every, parts, of="runs")


@cache
def again() -> set[tuple[str, str]]:
    """Return use cases that run a second time, one of each package and base: the others differ in their storage."""
    cases = some(USE_CASES, lambda case: ((case[0].name, case[1].base),), of="again")
    return {(item.name, each.path) for item, each in cases}


def runs(package: Package) -> Iterator[tuple[Directory, Sequence[str]]]:
    """Yield each use case set by a user, who runs some of them several times at once, and the options of each run."""
    names = (f"run-{number}" for number in count(1))
    for use_case in package.use_cases:
        directory = shipped(package, use_case)
        ready = apart(directory.set(directory.examples))
        yield ready.set({"WORKERS": "1"} if "WORKERS" in ready.setters else {}), ()
        if not any(as_pods(directory.parse())):
            continue  # a claim, say: runs share it
        here = (package.name, use_case.path)
        name = "RUN_NAME" if "RUN_NAME" in ready.setters else "MODEL_NAME"  # what looks at all runs of a model
        counts = ({"WORKERS": "2"}, {"WORKERS": "8"}) if "WORKERS" in ready.setters else ({},)
        for workers in counts if here in again() else ():
            yield ready.set({name: next(names), **workers}), ()
        for option in [option for item, each, option in with_option() if here == (item.name, each.path)]:
            yield ready.set({name: next(names)}), [option]


def apart(ready: Directory) -> Directory:
    """Return a use case that brings a volume, and a claim for it, or a namespace, by names that no other has."""
    name = f"own-{secrets.token_hex(4)}"
    if "PV_NAME" in ready.setters:
        return ready.set({"PV_NAME": name, "PVC_NAME": name})
    if [*ready.setters] == ["PVC_NAME"]:  # the claim that runs of all packages share
        return ready.set({"PVC_NAME": name})
    return ready.set({"NAMESPACE": name}) if "POD_SECURITY" in ready.setters else ready


def of_kind(objects: list[Object], kind: str) -> list[Object]:
    return [item for item in objects if item["kind"] == kind]


def apply(api: Api, namespace: str, built: list[list[Object]]) -> None:
    """Create what was built, and return when it has reached its end; first what others want to run beside."""
    for is_second in (False, True):
        objects = [item for found in built if needs_company(found) == is_second for item in found]
        api.create_all(objects, namespace)
        wait(partial(unfinished, api, namespace, objects))


def needs_company(objects: list[Object]) -> bool:
    """Say whether pods have to run where others do, such as those that put the data on their node."""
    return any(_requires(pod, "podAffinity") for _, pod in as_pods(objects))


def _requires(pod: Object, affinity: str) -> bool:
    rules = pod["spec"].get("affinity", {}).get(affinity, {})
    return "requiredDuringSchedulingIgnoredDuringExecution" in rules


def provide(api: Api, namespace: str, objects: list[Object]) -> None:
    """Give the namespace and the cluster what the objects need and do not bring, as users and administrators do."""
    wait(lambda: sorted({"ConfigMap kube-root-ca.crt", "ServiceAccount default"} - names(api, namespace)))
    claims = [claim(name) for name in needed(objects, "PersistentVolumeClaim")]
    unnamed = [
        item for item in (*claims, *of_kind(objects, "PersistentVolumeClaim")) if "volumeName" not in item["spec"]
    ]
    volumes = [volume(namespace, item) for item in unnamed]
    for item in volumes:
        api.create(item).expect_done()
    wait(
        lambda: [str(item) for item in volumes if phase(api.read(item).expect_done()) != "Available"]
    )  # or they take others
    for item in claims:
        api.create(item, namespace).expect_done()
    for name in needed(objects, "ServiceAccount"):
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
        api.create(account, namespace).expect_done()
    for item in ephemeral(objects):
        api.create(item).expect_done()
    for item in _claim_templates(objects):
        api.create(item, namespace).expect_done()
    for name in {item["metadata"].get("labels", {}).get(_QUEUE) for item in objects} - {None}:
        open_queue(api, namespace, name, objects)
    wait(lambda: [str(item) for item in claims if not bound(api.read(item, namespace).expect_done())])
    selectors = [pod["spec"].get("nodeSelector", {}) for _, pod in as_pods(objects)]
    apart = [item for item in objects if any(_requires(pod, "podAntiAffinity") for _, pod in as_pods([item]))]
    alike = max(1, sum(item["spec"].get("replicas", 1) for item in apart))
    for number, labels in enumerate(item for index, item in enumerate(selectors) if item not in selectors[:index]):
        for each_number in range(alike):
            name = f"{namespace}-{number}-{each_number}"
            add_node(api, name, labels, needed(objects, "Resource"))
            if any(_claims(objects)):
                offer_gpus(api, name)
    if selectors:
        await_scheduler(api, name, with_gpu=any(_claims(objects)))


def _claims(objects: list[Object]) -> set[str]:
    """Return the names of what the claims of pods for devices are made of."""
    pods = [pod for _, pod in as_pods(objects)]
    return {each["resourceClaimTemplateName"] for pod in pods for each in pod["spec"].get("resourceClaims", ())}


def _claim_templates(objects: list[Object]) -> list[Object]:
    """Return those that the objects lack, as users add them beside the option: of GPUs, one for each pod."""
    named = _claims(objects) - {item["metadata"]["name"] for item in of_kind(objects, "ResourceClaimTemplate")}
    spec = {"spec": {"devices": {"requests": [_GPU]}}}
    kind = {"apiVersion": _DEVICES, "kind": "ResourceClaimTemplate"}
    return [{**kind, "metadata": {"name": name}, "spec": spec} for name in sorted(named)]


def offer_gpus(api: Api, node: str) -> None:
    """Say which GPUs a node has, as NVIDIA's driver for dynamic resources does."""
    ours = {"cel": {"expression": 'device.driver == "gpu.nvidia.com"'}}
    api.apply(
        {
            "apiVersion": _DEVICES,
            "kind": "DeviceClass",
            "metadata": {"name": "gpu.nvidia.com"},
            "spec": {"selectors": [ours]},
        }
    ).expect_done()
    devices = [{"name": f"gpu-{number}", "capacity": {"memory": {"value": "81559Mi"}}} for number in range(128)]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.nvidia.com", "nodeName": node, "pool": pool, "devices": devices}
    made = {"apiVersion": _DEVICES, "kind": "ResourceSlice", "metadata": {"name": node}, "spec": spec}
    api.create(made).expect_done()


def open_queue(api: Api, namespace: str, name: str, objects: list[Object]) -> None:
    """Have Kueue admit whatever names a queue of a namespace."""
    containers = [container for _, pod in as_pods(objects) for container in pod["spec"]["containers"]]
    amounts = [container.get("resources", {}).get(field, {}) for container in containers for field in _AMOUNTS]
    covered = sorted({resource for amount in amounts for resource in amount})
    flavor = {"name": namespace, "resources": [{"name": each, "nominalQuota": "1P"} for each in covered]}
    group = {"coveredResources": covered, "flavors": [flavor]}
    for kind, own, spec in (
        ("ResourceFlavor", namespace, {}),
        ("ClusterQueue", namespace, {"namespaceSelector": {}, "resourceGroups": [group]}),
        ("LocalQueue", name, {"clusterQueue": namespace}),
    ):
        item = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": own}, "spec": spec}
        api.create(item, namespace).expect_done()


def await_scheduler(api: Api, node: str, *, with_gpu: bool) -> None:
    """Return when the scheduler knows a node as it is, and so all that were added before it: by a pod for it alone."""
    of_core, of_devices = ({"apiVersion": version, "metadata": {"name": node}} for version in ("v1", _DEVICES))
    claim = {**of_devices, "kind": "ResourceClaim", "spec": {"devices": {"requests": [_GPU]}}}
    amounts = {"cpu": "100k"}  # more than kwok gives a node of its own accord
    container = {"name": "main", "image": "registry.example/main:1", "resources": {"requests": amounts}}
    spec: Object = {"nodeSelector": {"kubernetes.io/hostname": node}, "containers": [container]}
    if with_gpu:
        spec["resourceClaims"] = [{"name": "gpus", "resourceClaimName": node}]
    made = [*([claim] if with_gpu else []), {**of_core, "kind": "Pod", "spec": spec}]
    for item in made:
        api.create(item, "default").expect_done()
    wait(lambda: [] if api.read(made[-1], "default").expect_done()["spec"].get("nodeName") else [f"pod {node}"])
    for item in reversed(made):
        api.delete(item, "default").expect_done()


def add_node(api: Api, name: str, labels: Object, devices: list[str], taints: Sequence[Object] = ()) -> None:
    """Add a node with these labels and taints beside those that all have, and plenty of everything."""
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", **labels}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    api.create({**node, "spec": {"taints": [*taints]}}).expect_done()
    wait(lambda: [] if condition(api.read(node).expect_done(), "Ready") else [f"{name} is not ready"])
    amounts = {"cpu": "1M", "memory": "1Pi", "ephemeral-storage": "1Pi", "hugepages-2Mi": "1Ti"}
    amounts |= dict.fromkeys(devices, "1k")
    status = {"status": {"capacity": amounts, "allocatable": amounts}}
    api.merge({**node, **status}, subresource="status").expect_done()
    # The taint of a node that is not ready is taken off a moment later.
    wait(lambda: [] if api.read(node).expect_done()["spec"].get("taints", []) == [*taints] else [f"{name} is tainted"])


def claim(name: str) -> Object:
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def ephemeral(objects: list[Object]) -> Iterator[Object]:
    """Yield volumes enough for the claims that live as long as a pod: for as many as any use case has of one kind."""
    for _, pod in as_pods(objects):
        for each in pod["spec"].get("volumes", ()):
            if "ephemeral" in each:
                spec = each["ephemeral"]["volumeClaimTemplate"]["spec"]
                for _ in range(_PODS):
                    made = volume("", {"metadata": {"name": secrets.token_hex(8)}, "spec": spec})
                    del made["spec"]["claimRef"]
                    made["metadata"]["name"] = made["spec"]["csi"]["volumeHandle"]
                    yield made


def bound(item: Object) -> bool:
    return phase(item) == "Bound"


def names(api: Api, namespace: str) -> set[str]:
    return {f"{item['kind']} {item['metadata']['name']}" for item in api.everything(namespace)}


def unfinished(api: Api, namespace: str, objects: list[Object]) -> list[str]:
    """Return the objects that have not reached their end yet: success, or all of their pods ready."""
    left = []
    for kind, is_finished in _IS_FINISHED.items():
        wanted = {item["metadata"]["name"]: item for item in objects if item["kind"] == kind}
        for api_version in sorted({item["apiVersion"] for item in wanted.values()}):
            found = [item for item in api.list(api_version, kind, namespace) if item["metadata"]["name"] in wanted]
            failed = [item for item in found if condition(item, "Failed") or phase(item) == "Failed"]
            assert not failed, failed
            left += [f"{kind} {item['metadata']} {item.get('status')}" for item in found if not is_finished(item)]
    return left


def is_ready(item: Object) -> bool:
    return bool(item.get("status", {}).get("readyReplicas", 0) == item["spec"]["replicas"])


_IS_FINISHED: dict[str, Callable[[Object], bool]] = {
    "Job": lambda item: bool(condition(item, "Complete")),
    "JobSet": lambda item: bool(condition(item, "Completed")),
    "LeaderWorkerSet": lambda item: bool(condition(item, "Available")),
    "TrainJob": lambda item: bool(condition(item, "Complete")),
    "MPIJob": lambda item: bool(condition(item, "Succeeded")),
    "Pod": lambda item: phase(item) == "Succeeded" or bool(condition(item, "Ready")),
    "Deployment": is_ready,
    "StatefulSet": is_ready,
    "PersistentVolumeClaim": bound,
}


def warnings(api: Api, namespace: str) -> list[str]:
    events = [item for item in api.list("v1", "Event", namespace) if item["type"] == "Warning"]
    return [f"{item['reason']}: {item['message']}" for item in events if not is_passing(item)]


def is_passing(event: Object) -> bool:
    return event["reason"] in _OF_THE_SERVER or bool(
        _OF_A_CLAIM.search(event["message"]) or _SEEN_LATE.search(event["message"])
    )


def strays(api: Api, namespace: str, objects: list[Object]) -> list[str]:
    """Return the objects that select pods of another run, or none at all; those of Workflows are never made here."""
    pods = [pod["metadata"]["labels"] for pod in api.list("v1", "Pod", namespace)]
    pods += [{_INSTANCE: instance(item)} for item in objects if item["kind"] == "Workflow"]
    found = []
    for item in objects:
        spec = item.get("spec", {})
        selector = spec.get("podSelector", spec.get("selector"))
        if isinstance(selector, dict) and item["kind"] != "PersistentVolumeClaim":
            wanted = selector.get("matchLabels", selector)
            instances = {labels[_INSTANCE] for labels in pods if wanted.items() <= labels.items()}
            if instances != {instance(item)}:
                found.append(f"{item['kind']} {item['metadata']['name']} selects pods of {sorted(instances)}")
    return found


def passed_by(api: Api, namespace: str, objects: list[Object]) -> set[str]:
    """Return the runs with a queue that Kueue did not admit; one that has ended is not admitted any more."""
    queued = [item for item in objects if _QUEUE in item["metadata"].get("labels", {}) and item["kind"] != "Workflow"]
    workloads = api.list("kueue.x-k8s.io/v1beta2", "Workload", namespace)
    seen = [item for item in workloads if condition(item, "Admitted") or condition(item, "Finished")]
    owners = [item["metadata"]["ownerReferences"] for item in seen]
    admitted = {(owner["kind"], owner["name"]) for found in owners for owner in found}
    # Of a Deployment each pod is admitted by itself.
    admitted |= {("Deployment", name.rsplit("-", 2)[0]) for kind, name in admitted if kind == "Pod"}
    return {f"{kind} {name}" for kind, name in {(item["kind"], item["metadata"]["name"]) for item in queued} - admitted}


def instance(item: Object) -> str:
    return str(item["metadata"]["labels"][_INSTANCE])
