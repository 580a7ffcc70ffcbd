"""What a cluster, a namespace and a run are like when a fault is met: `fault_set` says which."""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from controlplane import fates, stored
from controlplane.api import Api, Object, await_quota, wait
from running.patients import pod, read

Setup = Callable[[Api, str], None]
GPU = "nvidia.com/gpu"
TAINT = {"key": GPU, "value": "present", "effect": "NoSchedule"}


def nothing(_: Api, __: str) -> None:
    """Leave the namespace as it is."""


def nowhere(_: Api, __: str) -> AbstractContextManager[None]:
    return nullcontext()


def job(spec: Object, *, fate: str = "run", labels: Mapping[str, str] | None = None, **fields: Any) -> Object:
    """Return a Job whose pods have a spec."""
    template = {"metadata": {"annotations": {fates.ANNOTATION: fate}}, "spec": {"restartPolicy": "Never", **spec}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "run", **({"labels": dict(labels)} if labels else {})},
        "spec": {"backoffLimit": 0, **fields, "template": template},
    }


def one(
    *, fate: str = "run", count: int = 1, labels: Mapping[str, str] | None = None, **spec: Any
) -> Callable[[str], list[Object]]:
    """Return what makes a Job of some pods; ``<ns>`` in it stands for the namespace."""
    several = {"parallelism": count, "completions": count} if count > 1 else {}

    def made(namespace: str) -> list[Object]:
        whole = job(pod(**spec), fate=fate, labels=labels, **several)
        found: Object = json.loads(json.dumps(whole).replace("<ns>", namespace))
        return [found]

    return made


def asking(**amounts: str) -> Object:
    return {"limits": {"cpu": "1", "memory": "1Gi", **_named(amounts)}}


def _named(amounts: Mapping[str, str]) -> dict[str, str]:
    return {GPU if name == "gpu" else name: amount for name, amount in amounts.items()}


def create(text: str) -> Setup:
    def setup(api: Api, namespace: str) -> None:
        for item in read(text, ns=namespace):
            api.create(item, namespace).expect_done()

    return setup


def pool(*nodes: Mapping[str, Any], **amounts: str) -> Setup:
    """Add nodes with the label pool=<ns>, each with taints and labels."""

    def setup(api: Api, namespace: str) -> None:
        for number, each in enumerate(nodes):
            has = {"pods": "110", "cpu": "4", "memory": "8Gi", **_named(amounts), **each.get("amounts", {})}
            labels = {"pool": namespace, "kubernetes.io/hostname": f"{namespace}-{number}", **each.get("labels", {})}
            name = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"{namespace}-{number}", "labels": labels}}
            spec = {"taints": list(each.get("taints", ()))}
            api.create({**name, "spec": spec, "status": {"capacity": has, "allocatable": has}}).expect_done()
            wait(partial(_unready, api, name))

    return setup


def _unready(api: Api, node: Object) -> list[str]:
    return [] if stored.condition(api.read(node).expect_done(), "Ready") else ["node"]


def claims(*, mode: str = "ReadWriteMany", bound: bool = True, storage_class: str = "", **more: Any) -> Setup:
    """Make the claim ``disk``, and a volume for it."""

    def setup(api: Api, namespace: str) -> None:
        spec = {"accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": storage_class}
        item = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "disk", **more.get("metadata", {})},
        }
        item["spec"] = json.loads(json.dumps({**spec, **more.get("spec", {})}).replace("<ns>", namespace))
        if bound:
            made = stored.volume(namespace, {**item, "spec": spec})
            api.create({**made, "spec": {**made["spec"], **more.get("volume", {})}}).expect_done()
        api.create(item, namespace).expect_done()
        phase = more.get("phase", "Bound" if bound else "Pending")
        wait(
            lambda: [] if api.read(item, namespace).expect_done().get("status", {}).get("phase") == phase else ["disk"]
        )

    return setup


def all_of(*setups: Setup) -> Setup:
    def setup(api: Api, namespace: str) -> None:
        for each in setups:
            each(api, namespace)

    return setup


def deleted(kind: str, name: str, version: str = "v1") -> Setup:
    return lambda api, namespace: (
        api.delete({"apiVersion": version, "kind": kind, "metadata": {"name": name}}, namespace).expect_done() and None
    )


def says(status: Object) -> Setup:
    """Have a pod say what a kubelet says."""

    def setup(api: Api, namespace: str) -> None:
        for each in placed(api, namespace):
            name = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": each["metadata"]["name"]}}
            api.merge({**name, "status": status}, namespace, subresource="status").expect_done()

    return setup


def placed(api: Api, namespace: str) -> list[Object]:
    """Return the pods of a namespace, when there are some, and all have a node."""

    def left() -> list[str]:
        found = api.list("v1", "Pod", namespace)
        return [] if found and all(each["spec"].get("nodeName") for each in found) else ["no pod"]

    wait(left)
    return api.list("v1", "Pod", namespace)


def of_container(**state: Any) -> Object:
    """Return the status of a pod whose container is in a state."""
    base = {"name": "main", "image": "registry.example/main:1", "imageID": "", "ready": False, "restartCount": 0}
    ready = [{"type": "Ready", "status": "False"}]
    return {"phase": "Pending", "conditions": ready, "containerStatuses": [{**base, "state": state}]}


def failed(code: int, **more: str) -> Object:
    """Return the status of a pod whose container has ended with a code."""
    return {**of_container(terminated={"exitCode": code, "reason": "Error", **more}), "phase": "Failed"}


def waits(reason: str, message: str = "") -> Object:
    return of_container(waiting={"reason": reason, "message": message})


def event(reason: str, message: str) -> Setup:
    """Have a kubelet warn of each pod."""

    def setup(api: Api, namespace: str) -> None:
        for each in placed(api, namespace):
            warning("Pod", each["metadata"]["name"], reason, message)(api, namespace)

    return setup


def warning(kind: str, name: str, reason: str, message: str) -> Setup:
    """Have somebody warn of an object."""

    def setup(api: Api, namespace: str) -> None:
        about = {"apiVersion": "v1", "kind": kind, "name": name, "namespace": namespace}
        item = {"apiVersion": "v1", "kind": "Event", "metadata": {"generateName": "warning-", "namespace": namespace}}
        told = {"involvedObject": about, "reason": reason, "message": message, "type": "Warning", "count": 1}
        api.create({**item, **told, "lastTimestamp": "2026-01-01T00:00:00Z"}, namespace).expect_done()

    return setup


def starting(api: Api, namespace: str) -> None:
    """Have pods wait for their containers to be made."""
    says({**waits("ContainerCreating"), "phase": "Pending"})(api, namespace)


def claiming(storage_class: str) -> Callable[[str], list[Object]]:
    """Return what makes a pod with the claim that it mounts."""
    return lambda namespace: [*one(**DISK)(namespace), *read(CLAIM, storage_class=storage_class)]


DISK = {
    "volumes": [{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}],
    "main_volumeMounts": [{"name": "disk", "mountPath": "/disk"}],
}
#: Which Kubernetes 1.34 does not know unless somebody switches it on.
MODEL = {
    "volumes": [{"name": "model", "image": {"reference": "registry.example/model:1", "pullPolicy": "IfNotPresent"}}],
    "main_volumeMounts": [{"name": "model", "mountPath": "/model"}],
}
HERE = {"nodeSelector": {"pool": "<ns>"}}
_QUOTA = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: small}, spec: {hard: %s}}"
RANGE = "{apiVersion: v1, kind: LimitRange, metadata: {name: range}, spec: {limits: [%s]}}"


def quota(hard: str) -> Setup:
    def setup(api: Api, namespace: str) -> None:
        create(_QUOTA % hard)(api, namespace)
        await_quota(api, "small", namespace)

    return setup


def env(kind: str, name: str, key: str) -> list[Object]:
    return [{"name": "A", "valueFrom": {f"{kind}KeyRef": {"name": name, "key": key}}}]


QUEUE = {"kueue.x-k8s.io/queue-name": "team"}


def kueue(kind: str, name: str, spec: Object) -> Setup:
    item = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}
    return create(json.dumps(item))


def queue(cpus: str) -> Setup:
    """Open the queue ``team`` with a quota."""
    quotas = [{"name": "cpu", "nominalQuota": cpus}, {"name": "memory", "nominalQuota": "64Gi"}]
    group = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "<ns>", "resources": quotas}]}
    return all_of(
        kueue("ResourceFlavor", "<ns>", {}),
        kueue("ClusterQueue", "<ns>", {"namespaceSelector": {}, "resourceGroups": [group]}),
        kueue("LocalQueue", "team", {"clusterQueue": "<ns>"}),
        active,
    )


def active(api: Api, namespace: str) -> None:
    item = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "team"}}
    wait(lambda: [] if stored.condition(api.read(item, namespace).expect_done(), "Active") else ["queue"])


def custom(version: str, kind: str) -> Callable[[str], list[Object]]:
    return lambda _: [{"apiVersion": version, "kind": kind, "metadata": {"name": "run"}, "spec": {}}]


CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
spec: {accessModes: [ReadWriteMany], storageClassName: "<storage_class>", resources: {requests: {storage: 1Gi}}}
"""
STORAGE_CLASS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: <ns>}
provisioner: ebs.csi.aws.com
volumeBindingMode: Immediate
"""
LARGE = {
    "name": "first",
    "image": "registry.example/first:1",
    "resources": asking(cpu="30"),
    "securityContext": pod()["containers"][0]["securityContext"],
}


def going_claim(api: Api, namespace: str) -> None:
    claims(bound=False, metadata={"finalizers": ["test.example/held"]})(api, namespace)
    deleted("PersistentVolumeClaim", "disk")(api, namespace)
