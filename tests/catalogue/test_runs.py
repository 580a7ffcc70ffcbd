"""Every use case applied for real, side by side with others and with itself, run to its end, and deleted.

Controllers, scheduler and mpi-operator are the real ones; kwok's nodes only pretend to run the pods, so that pods of
Jobs succeed at once and all others become ready. Nothing here acts on a Workflow or a JobSet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from controlplane.api import Api, wait
from packyard.bundle import requirements
from packyard.source.package import Package
from pods import as_pods
from usecases import LEVELS, Directory, Object, each_package, level, moved, shipped

_INSTANCE = "app.kubernetes.io/instance"


@dataclass(frozen=True)
class Run:
    """A use case set by a user: who it is, and its objects."""

    name: str
    objects: list[Object]


def runs(directories: Mapping[str, Directory], kustomize: Path, namespace: str) -> list[Run]:
    """Return every use case by several RUN_NAMEs: as it is, twice or with 1, 2 and 8 workers; and with each option."""
    found = []
    for path, directory in directories.items():
        ready = directory.set(directory.examples)
        workers = ("1", "2", "8") if "WORKERS" in directory.setters else ("", "")
        settings: list[tuple[dict[str, str], list[str]]] = [({"WORKERS": n} if n else {}, []) for n in workers]
        settings += [({}, [option]) for option in directory.options]
        for number, (values, options) in enumerate(settings):
            values |= {"RUN_NAME": f"{number}-{directory.setters['RUN_NAME'].value}"[:10]} if number else {}
            objects = ready.set(values).build(kustomize, namespace, options)
            found.append(Run(f"{path} {values} {options}", objects))
    return found


@each_package
def test_runs_share_a_namespace_end_well_and_leave_nothing_but_claims(
    package: Package, cluster: Api, kustomize5: Path
) -> None:
    directories = {use_case.path: shipped(package, use_case) for use_case in package.use_cases}
    found = runs(directories, kustomize5, "any")
    namespace = cluster.create_namespace(max((level(run.objects) for run in found), key=LEVELS.index))
    found = [Run(run.name, moved(run.objects, "any", namespace)) for run in found]
    objects = [item for run in found for item in run.objects]
    provide(cluster, namespace, objects)
    before = names(cluster, namespace)
    for item in objects:
        cluster.create(item, namespace).expect_done()
    wait(lambda: [f"{run.name}: {text}" for run in found for text in unfinished(cluster, namespace, run)])
    assert warnings(cluster, namespace) == []
    assert [text for item in objects for text in strays(cluster, namespace, item)] == []
    for item in objects:
        cluster.delete(item, namespace).expect_done()
    wait(lambda: sorted(names(cluster, namespace) - before))
    assert names(cluster, namespace) == before


def provide(api: Api, namespace: str, objects: list[Object]) -> None:
    """Give the namespace and the cluster what the objects need and do not bring, as users and administrators do."""
    wait(lambda: sorted({"ConfigMap kube-root-ca.crt", "ServiceAccount default"} - names(api, namespace)))
    needed = requirements.find(objects)
    claims = [claim(item.name) for item in needed if item.kind == "PersistentVolumeClaim"]
    for item in (*claims, *(item for item in objects if item["kind"] == "PersistentVolumeClaim")):
        api.create(volume(namespace, item)).expect_done()
    for item in claims:
        api.create(item, namespace).expect_done()
    for each in needed:
        if each.kind == "ServiceAccount":
            account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": each.name}}
            api.create(account, namespace).expect_done()
    wait(lambda: [str(item) for item in claims if not bound(api.read(item, namespace).expect_done())])
    selectors = [pod["spec"].get("nodeSelector", {}) for _, pod in as_pods(objects)]
    for number, labels in enumerate(item for index, item in enumerate(selectors) if item not in selectors[:index]):
        add_node(api, f"{namespace}-{number}", labels, [item.name for item in needed if item.kind == "Resource"])


def add_node(api: Api, name: str, labels: Object, devices: list[str]) -> None:
    """Add a node with these labels, and plenty of each device."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    api.create(node).expect_done()
    wait(lambda: [] if condition(api.read(node).expect_done(), "Ready") else [f"{name} is not ready"])
    amounts = dict.fromkeys(devices, "1k")
    status = {"status": {"capacity": amounts, "allocatable": amounts}}
    api.merge({**node, **status}, subresource="status").expect_done()


def claim(name: str) -> Object:
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def volume(namespace: str, claim: Object) -> Object:
    """Return a volume for a claim and no other."""
    spec, name = claim["spec"], claim["metadata"]["name"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-{name}"},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": spec["resources"]["requests"],
            "claimRef": {"namespace": namespace, "name": name},
            "csi": {"driver": "test.csi.example", "volumeHandle": name},
            "storageClassName": spec.get("storageClassName", ""),
        },
    }


def bound(item: Object) -> bool:
    return bool(item["status"].get("phase") == "Bound")


def names(api: Api, namespace: str) -> set[str]:
    return {f"{item['kind']} {item['metadata']['name']}" for item in api.everything(namespace)}


def unfinished(api: Api, namespace: str, run: Run) -> Iterator[str]:
    """Yield the objects of a run that have not reached their end yet: success, or all of their pods ready."""
    for item in run.objects:
        if item["kind"] in _IS_FINISHED:
            found = api.read(item, namespace).expect_done()
            failed = condition(found, "Failed")
            assert not failed, f"{run.name}: {failed}"
            if not _IS_FINISHED[item["kind"]](found):
                yield f"{item['kind']} {found.get('status')}"


def condition(item: Object, name: str) -> Object:
    """Return a condition that holds of an object, else an empty one."""
    found = item.get("status", {}).get("conditions") or []
    return next((each for each in found if each["type"] == name and each["status"] == "True"), {})


def is_ready(item: Object) -> bool:
    return bool(item.get("status", {}).get("readyReplicas", 0) == item["spec"]["replicas"])


_IS_FINISHED: dict[str, Callable[[Object], bool]] = {
    "Job": lambda item: bool(condition(item, "Complete")),
    "MPIJob": lambda item: bool(condition(item, "Succeeded")),
    "Deployment": is_ready,
    "StatefulSet": is_ready,
    "PersistentVolumeClaim": bound,
}


def warnings(api: Api, namespace: str) -> list[str]:
    events = api.list("v1", "Event", namespace)
    return [f"{item['reason']}: {item['message']}" for item in events if item["type"] == "Warning"]


def strays(api: Api, namespace: str, item: Object) -> Iterator[str]:
    """Yield pods of other runs that an object selects, and the object if it selects none at all."""
    spec = item.get("spec", {})
    selector = spec.get("podSelector", spec.get("selector"))
    if isinstance(selector, dict) and item["kind"] != "PersistentVolumeClaim":
        wanted = selector.get("matchLabels", selector)
        pods = [pod["metadata"] for pod in api.list("v1", "Pod", namespace)]
        selected = [pod for pod in pods if wanted.items() <= pod["labels"].items()]
        if not selected:
            yield f"{item['kind']} {item['metadata']['name']} selects no pod"
        for pod in selected:
            if pod["labels"][_INSTANCE] != item["metadata"]["labels"][_INSTANCE]:
                yield f"{item['kind']} {item['metadata']['name']} selects {pod['name']} of another run"
