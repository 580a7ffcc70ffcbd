"""Faults seeded on the real control plane: the doctor finds each, by name, and finds nothing else."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import real
from catalogue.usecases import Object
from controlplane import shared, stored
from controlplane.api import Api, await_quota, wait
from packyard.core.kubernetes.groups import resource_of
from packyard.core.kubernetes.operators import OPERATORS
from packyard.running.runs import kubectl
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl
from running.patients import deployed, examine, pod, read, running, told


def create(api: Api, namespace: str, text: str, **names: str) -> list[Object]:
    objects = read(text, **names)
    for item in objects:
        api.create(item, namespace).expect_done()
    return objects


def phases(api: Api, namespace: str) -> dict[str, str]:
    claims = api.list("v1", "PersistentVolumeClaim", namespace)
    return {item["metadata"]["name"]: item.get("status", {}).get("phase", "") for item in claims}


def add_volume(api: Api, volume: Object) -> None:
    """Add a volume before its claim: one that a controller sees first takes another's, of those for anybody."""
    api.create(volume).expect_done()
    wait(lambda: [] if stored.phase(api.read(volume).expect_done()) == "Available" else [str(volume["metadata"])])


#: What is said of a class that nobody makes volumes of.
NO_PROVISIONER = "nothing shows that its provisioner is there: no CSIDriver, volume or pod names nobody.example"
CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: <name>}
spec: {accessModes: [<mode>], storageClassName: "<storage_class>", resources: {requests: {storage: <size>}}}
---
"""


def test_faults_of_claims_that_are_mounted(operated: Api, client: Kubectl) -> None:
    namespace = operated.create_namespace("restricted")
    client = replace(client, namespace=namespace)
    classes = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: <name>}
provisioner: nobody.example
volumeBindingMode: <binding>
"""
    pending = {"pending": "Immediate", "waiting": "WaitForFirstConsumer"}
    for name, binding in pending.items():
        create(operated, namespace, classes, name=f"{namespace}-{name}", binding=binding)
        storage_class = f"{namespace}-{name}"
        create(operated, namespace, CLAIM, name=name, mode="ReadWriteMany", storage_class=storage_class, size="1Gi")
    bound = {
        "one-pod": "ReadWriteOncePod",
        "one-node": "ReadWriteOnce",
        "read-only": "ReadOnlyMany",
        "all": "ReadWriteMany",
    }
    for name, mode in bound.items():
        (claim,) = read(CLAIM, name=name, mode=mode, storage_class="", size="1Gi")
        add_volume(operated, stored.volume(namespace, claim))
        operated.create(claim, namespace).expect_done()
    (lost,) = read(CLAIM, name="lost", mode="ReadWriteMany", storage_class="", size="1Gi")
    lost["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    operated.create({**lost, "spec": {**lost["spec"], "volumeName": f"{namespace}-gone"}}, namespace).expect_done()
    (going,) = read(CLAIM, name="going", mode="ReadWriteMany", storage_class="", size="1Gi")
    going["metadata"]["finalizers"] = ["test.example/held"]
    operated.create(going, namespace).expect_done()
    operated.delete(going, namespace).expect_done()
    there = {**dict.fromkeys(bound, "Bound"), **dict.fromkeys(pending, "Pending"), "lost": "Lost"}
    wait(lambda: sorted(there.items() - phases(operated, namespace).items()))
    found = examine(client, mounting(*bound, *pending, "lost", "going", "absent"))
    assert told(found) == [
        "error: PersistentVolumeClaim absent: is not there",
        "error: PersistentVolumeClaim going: is being deleted",
        "error: PersistentVolumeClaim lost: has lost its volume",
        "error: PersistentVolumeClaim one-pod: is ReadWriteOncePod, and 2 pods of the run mount it at once",
        f"error: PersistentVolumeClaim pending: is not bound to a volume; its class is {namespace}-pending",
        "error: PersistentVolumeClaim read-only: is ReadOnlyMany, and pods write to it",
        "warning: PersistentVolumeClaim one-node: is ReadWriteOnce, and 2 pods of the run mount it at once",
        f"warning: StorageClass {namespace}-pending: {NO_PROVISIONER}",
        f"warning: StorageClass {namespace}-waiting: {NO_PROVISIONER}",
    ]
    assert all(
        f"--namespace={namespace} " in each.fix and "--context=" in each.fix
        for each in found
        if each.about.startswith("Pers")
    )


def mounting(*claims: str) -> list[Object]:
    """Return a Deployment of two pods that mount claims."""
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in claims]
    return [deployed("run", pod(volumes=volumes, main_volumeMounts=mounts), replicas=2)]


def test_faults_of_claims_and_volumes_that_come(operated: Api, client: Kubectl) -> None:
    namespace, other = operated.create_namespace("restricted"), operated.create_namespace("restricted")
    sizes = {"shrinks": "2Gi", "grows": "1Gi", "differs": "1Gi"}
    for name, size in sizes.items():  # of a class of their own: volumes for anybody are those of other tests
        create(operated, namespace, CLAIM, name=name, mode="ReadWriteOnce", storage_class=namespace, size=size)
    taken = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    volume = stored.volume(other, taken)
    operated.create(volume).expect_done()
    come = [
        *read(CLAIM, name="classless", mode="ReadWriteMany", storage_class="nope", size="1Gi"),
        *read(CLAIM, name="unfitting", mode="ReadWriteMany", storage_class="", size="1Pi"),
        *read(CLAIM, name="shrinks", mode="ReadWriteOnce", storage_class=namespace, size="1Gi"),
        *read(CLAIM, name="grows", mode="ReadWriteOnce", storage_class=namespace, size="2Gi"),
        *read(CLAIM, name="differs", mode="ReadWriteMany", storage_class=namespace, size="1Gi"),
        {**volume, "spec": {key: each for key, each in volume["spec"].items() if key != "claimRef"}},
        deployed("run", pod(volumes=[{"name": "disk", "csi": {"driver": "nobody.example"}}])),
    ]
    del come[1]["spec"]["storageClassName"]
    assert told(examine(replace(client, namespace=namespace), come)) == [
        "error: CSIDriver nobody.example: is not installed",
        "error: CSIDriver test.csi.example: is not installed",
        f"error: PersistentVolume {other}-data: is there, for claim data of namespace {other}",
        "error: PersistentVolumeClaim classless: is of the class nope, which is not there, and no volume fits it",
        "error: PersistentVolumeClaim differs: is there with other access modes",
        "error: PersistentVolumeClaim grows: is there with 1Gi storage, and may not grow to 2Gi storage",
        "error: PersistentVolumeClaim shrinks: is there with 2Gi storage, and cannot shrink to 1Gi storage",
        "error: PersistentVolumeClaim unfitting: names no class, and no class is the default, and no volume fits it",
    ]


def test_faults_of_claims_of_a_class_that_makes_no_volumes(operated: Api, client: Kubectl, namespace: str) -> None:
    local = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: <name>}, "
    local += "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}"
    create(operated, namespace, local, name=namespace)
    sizes = {"fits": "1Gi", "large": "2Gi", "chosen": "1Gi"}
    claims = {
        name: read(CLAIM, name=name, mode="ReadWriteOnce", storage_class=namespace, size=size)[0]
        for name, size in sizes.items()
    }
    claims["chosen"]["spec"]["selector"] = {"matchLabels": {"disk": "fast"}}
    for name in ("fits", "large"):
        operated.create(claims[name], namespace).expect_done()
    none = f"is of the class {namespace}, which makes no volumes, and no free volume fits it"
    (run,) = mounting(*claims)
    run["spec"]["replicas"] = 1
    objects = [run, claims["chosen"]]
    names = ["chosen", "fits", "large"]
    assert told(examine(client, objects)) == [f"warning: PersistentVolumeClaim {name}: {none}" for name in names]
    volume = stored.volume(namespace, claims["fits"])
    operated.create({**volume, "spec": {**volume["spec"], "claimRef": None}}).expect_done()
    assert told(examine(client, objects)) == [
        f"warning: PersistentVolumeClaim {name}: {none}" for name in names if name != "fits"
    ]


def test_a_class_whose_volumes_are_where_no_node_is(operated: Api, client: Kubectl, namespace: str) -> None:
    text = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: <name>}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: test.example/zone, values: [<name>-a, <name>-b]}]}]
"""
    create(operated, namespace, text, name=namespace)
    (claim,) = read(CLAIM, name="disk", mode="ReadWriteOnce", storage_class=namespace, size="1Gi")
    labels = " or ".join(f"test.example/zone={namespace}-{zone}" for zone in "ab")
    said = f"makes volumes for nodes with the labels {labels} alone, and no node has these"
    for left in (True, False):
        found = [str(each) for each in examine(client, [*mounting("disk"), claim]) if "StorageClass" in each.about]
        assert found == [f"StorageClass {namespace}: {said}"] * left
        node(operated, f"{namespace}-{left}".lower(), {"test.example/zone": f"{namespace}-b"}, cpu="4", memory="8Gi")


def test_a_disk_that_another_pod_holds_on_its_node(operated: Api, client: Kubectl, namespace: str) -> None:
    for number in (1, 2):
        labels = {"pool": namespace, "number": str(number)}
        node(operated, f"{namespace}-{number}", labels, taints=[own(namespace)], cpu="4", memory="8Gi")
    (claim,) = read(CLAIM, name="disk", mode="ReadWriteOnce", storage_class="", size="1Gi")
    volume = stored.volume(namespace, claim)
    volume["spec"]["csi"]["driver"] = "ebs.csi.aws.com"
    add_volume(operated, volume)
    operated.create(claim, namespace).expect_done()
    wait(lambda: sorted({("disk", "Bound")} - phases(operated, namespace).items()))
    (run,) = mounting("disk")
    run["spec"]["replicas"] = 1
    run["spec"]["template"]["spec"]["tolerations"] = [tolerated(namespace)]
    notebook = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "notebook"},
        "spec": {**run["spec"]["template"]["spec"]},
    }
    notebook["spec"]["nodeName"] = f"{namespace}-1"
    operated.create(notebook, namespace).expect_done()
    held = f"warning: PersistentVolumeClaim disk: is ReadWriteOnce, and pod notebook mounts it on node {namespace}-1"
    for selector, said in (
        ({"pool": namespace}, [held]),
        ({"pool": namespace, "number": "2"}, [held]),
        ({"pool": namespace, "number": "1"}, []),
    ):
        run["spec"]["template"]["spec"]["nodeSelector"] = selector
        assert told(examine(client, [run])) == said
    operated.delete(notebook, namespace).expect_done()
    wait(lambda: operated.list("v1", "Pod", namespace))
    run["spec"]["template"]["spec"]["nodeSelector"] = {"pool": namespace}
    assert told(examine(client, [run])) == []


def test_faults_of_what_pods_refer_to(operated: Api, client: Kubectl, namespace: str) -> None:
    create(operated, namespace, "{apiVersion: v1, kind: Secret, metadata: {name: some}, stringData: {a: secret-value}}")
    create(operated, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: some}, data: {a: x, empty: ''}}")
    empty = "{apiVersion: v1, kind: Secret, metadata: {name: void}, stringData: {token: '', also: secret-value}}"
    create(operated, namespace, empty)
    keys = [
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": "some", "key": "a"}}},
        {"name": "B", "valueFrom": {"secretKeyRef": {"name": "some", "key": "b"}}},
        {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "some", "key": "c"}}},
        {"name": "D", "valueFrom": {"secretKeyRef": {"name": "absent-too", "key": "d", "optional": True}}},
        {"name": "E", "valueFrom": {"secretKeyRef": {"name": "void", "key": "token"}}},
        {"name": "F", "valueFrom": {"secretKeyRef": {"name": "void", "key": "also"}}},
        {"name": "G", "valueFrom": {"configMapKeyRef": {"name": "some", "key": "empty"}}},
    ]
    spec = pod(
        main_env=keys,
        main_envFrom=[{"secretRef": {"name": "absent"}}, {"configMapRef": {"name": "absent"}}],
        serviceAccountName="nobody",
        imagePullSecrets=[{"name": "some"}, {"name": "no-registry"}],
        priorityClassName="nope",
        runtimeClassName="nope",
        subdomain="nope",
    )
    ingress = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "run"}}
    found = examine(client, [deployed("run", spec), {**ingress, "spec": {"ingressClassName": "nope"}}])
    assert told(found) == [
        "error: ConfigMap absent: is not there",
        "error: ConfigMap some: has no key c, only a, empty",
        "error: IngressClass nope: is not there",
        "error: PriorityClass nope: is not there",
        "error: RuntimeClass nope: is not there",
        "error: Secret absent: is not there",
        "error: Secret no-registry: is not there",
        "error: Secret some: has no key b, only a",
        "error: Secret some: is of the type Opaque, not kubernetes.io/dockerconfigjson",
        "error: Service nope: is not there",
        "error: ServiceAccount nobody: is not there",
        "warning: Secret void: has nothing in its key token",
    ]
    assert all(each.fix and each.why for each in found)
    assert "secret-value" not in str([*map(repr, found)])


@pytest.mark.parametrize("name", ["a/b", "--all-namespaces", "UPPER", "$(reboot)", "x y", "a,b"])
def test_a_name_that_no_object_can_have_is_not_there(client: Kubectl, name: str) -> None:
    objects = [deployed("run", pod(serviceAccountName=name, subdomain=name))]
    found = examine(client, objects)
    assert told(found) == [f"error: Service {name}: is not there", f"error: ServiceAccount {name}: is not there"]
    assert all(shlex.split(each.fix)[-2 if "Service " in str(each) else -1] == name for each in found)


def test_faults_of_the_namespace(operated: Api, client: Kubectl, namespace: str) -> None:
    hostile = deployed("run", pod(hostNetwork=True))
    assert told(examine(replace(client, namespace="not-there"), [hostile])) == [
        "error: Namespace not-there: is not there"
    ]
    assert told(examine(client, [hostile])) == [
        f"error: Namespace {namespace}: enforces the Pod Security level restricted, and the pods need privileged:"
        " hostNetwork is on"
    ]
    going = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{namespace}-going"}}
    going["metadata"]["finalizers"] = ["test.example/held"]
    operated.create(going).expect_done()
    operated.delete(going).expect_done()
    told_of_it = told(examine(replace(client, namespace=f"{namespace}-going"), [hostile]))
    assert told_of_it == [f"error: Namespace {namespace}-going: is being deleted"]


def node(
    api: Api, name: str, labels: Object, *, taints: Sequence[Object] = (), cordoned: bool = False, **amounts: str
) -> None:
    """Add a node with these labels, amounts and taints."""
    has = {"pods": "110", **{key.replace("_", "/"): each for key, each in amounts.items()}}
    spec = {"taints": list(taints), "unschedulable": cordoned}
    status = {"capacity": has, "allocatable": has}
    item = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec}
    api.create({**item, "status": status}).expect_done()

    def unready() -> list[str]:
        found = api.read(item).expect_done()
        left = [each for each in found["spec"].get("taints", ()) if each["key"] == "node.kubernetes.io/not-ready"]
        return [name] if left or not stored.condition(found, "Ready") else []

    wait(unready)


def own(namespace: str) -> Object:
    """Return a taint of the nodes of a test, whose room pods of other tests would take."""
    return {"key": namespace, "effect": "NoSchedule"}


def tolerated(namespace: str) -> Object:
    return {**own(namespace), "operator": "Exists"}


def available(api: Api, item: Object, namespace: str) -> int:
    return int(api.read(item, namespace).expect_done().get("status", {}).get("availableReplicas", 0))


def await_placed(api: Api, namespace: str, name: str, *, placed: int, unplaced: int) -> None:
    """Return when the scheduler itself finds a place for so many pods of a Deployment, and none for the others.

    Of a new node it may see at first that it is not ready.
    """
    expected = ["False"] * unplaced + ["True"] * placed

    def left() -> list[str]:
        own = [each for each in api.list("v1", "Pod", namespace) if each["metadata"]["labels"]["app"] == name]
        conditions = [one for each in own for one in each["status"].get("conditions", ())]
        found = sorted(each["status"] for each in conditions if each["type"] == "PodScheduled")
        return [] if found == expected else [f"{name}: {found}"]

    wait(left)


def test_faults_of_nodes(operated: Api, client: Kubectl, namespace: str) -> None:
    taint = {"key": "team", "value": "other", "effect": "NoSchedule"}
    mine, has = [own(namespace)], {"cpu": "4", "memory": "8Gi"}
    node(operated, f"{namespace}-1", {"pool": f"{namespace}-open"}, taints=mine, **has, **{"nvidia.com_gpu": "2"})
    node(operated, f"{namespace}-2", {"pool": f"{namespace}-taint"}, taints=[*mine, taint], **has)
    node(operated, f"{namespace}-3", {"pool": f"{namespace}-cordoned"}, taints=mine, cordoned=True, **has)

    def on(pool: str, tolerations: Sequence[Object] = (), **fields: Any) -> Object:
        selector = {"pool": f"{namespace}-{pool}"}
        return pod(nodeSelector=selector, tolerations=[tolerated(namespace), *tolerations], **fields)

    def asking(**amounts: str) -> Object:
        return {
            "limits": {"cpu": "1", "memory": "1Gi", **{key.replace("_", "/"): each for key, each in amounts.items()}}
        }

    faults = {
        "cordoned": on("cordoned"),
        "few-gpus": on("open", main_resources=asking(**{"nvidia.com_gpu": "8"})),
        "labels": on("nowhere"),
        "large": on("open", main_resources=asking(cpu="5")),
        "no-device": on("open", main_resources=asking(example_fpga="1")),
        "taint": on("taint"),
        "tolerates": on("taint", tolerations=[{"key": "team", "operator": "Exists"}]),
        "tolerates-cordon": on("cordoned", tolerations=[{"operator": "Exists"}]),
    }
    runs_of = {name: deployed(name, spec) for name, spec in faults.items()}
    found = told(examine(client, [*runs_of.values()]))
    (count,) = {int(each) for each in re.findall(r"none of (\d+) nodes", "".join(found))}  # other tests add nodes, too
    rest = count - 1
    none = f"none of {count} nodes takes its pods"
    assert found == [
        f"error: Deployment cordoned: {none}: {rest} lack the labels pool={namespace}-cordoned, 1 is cordoned",
        f"error: Deployment few-gpus: {none}: {rest} lack the labels pool={namespace}-open, 1 has too little"
        " nvidia.com/gpu (8 nvidia.com/gpu asked for, 2 nvidia.com/gpu the most)",
        f"error: Deployment labels: {none}: {rest + 1} lack the labels pool={namespace}-nowhere",
        f"error: Deployment large: {none}: {rest} lack the labels pool={namespace}-open, 1 has too little cpu (5 cpu"
        " asked for, 4 cpu the most)",
        f"error: Deployment no-device: {none}: {rest} lack the labels pool={namespace}-open, 1 has no example/fpga",
        f"error: Deployment taint: {none}: {rest} lack the labels pool={namespace}-taint, 1 has the taint"
        " team=other:NoSchedule",
    ]
    for each in runs_of.values():
        operated.create(each, namespace).expect_done()
    for name in faults:
        is_placed = name.startswith("tolerates")
        await_placed(operated, namespace, name, placed=int(is_placed), unplaced=int(not is_placed))
    fits, four, five = (deployed("run", on("open", main_resources=asking()), count) for count in (3, 4, 5))
    assert told(examine(client, [four])) == []
    apart = {"labelSelector": {"matchLabels": {"app": "run"}}, "topologyKey": "kubernetes.io/hostname"}
    rule = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    assert told(examine(client, [deployed("run", on("open", affinity=rule), 2)])) == [
        "error: Deployment run: there is no room for all 2 pods at once: 0.2 cpu, 128Mi memory in all; also where nodes"
        " are empty, 1 find no place"
    ]
    assert told(examine(client, [five])) == [
        "error: Deployment run: there is no room for all 5 pods at once: 5 cpu, 5Gi memory in all; also where nodes are"
        " empty, 1 find no place"
    ]
    other = deployed("other", on("open", main_resources=asking()), 2)
    operated.create(other, namespace).expect_done()
    wait(lambda: [] if available(operated, other, namespace) == 2 else ["pods"])
    assert told(examine(client, [fits])) == [
        "warning: Deployment run: there is no room for all 3 pods at once: 3 cpu, 3Gi memory in all, beside the pods"
        " that run now"
    ]
    last = deployed("run", on("open", main_resources=asking()), 2)
    (labelled,) = runs.labelled([last], "run")
    operated.create(labelled, namespace).expect_done()
    quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: full}, spec: {hard: {pods: '2'}}}"
    wait(lambda: [] if available(operated, last, namespace) == 2 else ["pods"])
    create(operated, namespace, quota)
    await_quota(operated, "full", namespace)
    assert told(examine(client, [last])) == []
    zone = f"{namespace}.example/zone"
    spread = {"topologyKey": zone, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}, "maxSkew": 1}
    assert told(examine(client, [deployed("run", on("open", topologySpreadConstraints=[spread]))])) == [
        f"error: Deployment run: no node has the label {zone}, over which its pods have to be spread",
        f"unknown: Deployment run: over what it has to be spread ({zone}) is not part of the search for room",
    ]


def test_pods_to_be_spread_over_more_values_of_a_label_than_there_are(
    operated: Api, client: Kubectl, namespace: str
) -> None:
    labels = {"pool": namespace, "test.example/area": "a"}
    node(operated, f"{namespace}-1", labels, taints=[own(namespace)], cpu="4", memory="8Gi")
    rule = {"maxSkew": 1, "topologyKey": "test.example/area", "minDomains": 2, "whenUnsatisfiable": "DoNotSchedule"}
    for count, left in ((1, 0), (2, 1)):
        over = {**rule, "labelSelector": {"matchLabels": {"app": f"run-{count}"}}}
        placing = {"nodeSelector": {"pool": namespace}, "tolerations": [tolerated(namespace)]}
        spec = pod(topologySpreadConstraints=[over], **placing)
        run = deployed(f"run-{count}", spec, count)
        found = [str(each) for each in examine(client, [run]) if each.severity == "error"]
        said = "its pods have to be spread over 2 values of the label test.example/area, and its nodes have 1"
        assert found == [f"Deployment run-{count}: {said}"] * left
        operated.create(run, namespace).expect_done()
        await_placed(operated, namespace, f"run-{count}", placed=count - left, unplaced=left)


def test_faults_of_quotas_and_limits(operated: Api, client: Kubectl, namespace: str) -> None:
    limits = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: small}
spec: {hard: {pods: "3", requests.cpu: "1", limits.memory: 1Gi, count/deployments.apps: "0", requests.storage: 5Gi}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: large}
spec: {hard: {pods: "30", requests.cpu: "100", count/jobs.batch: "0", count/serviceaccounts: "0"}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: range}
spec:
  limits:
  - {type: Container, max: {cpu: 200m}, min: {memory: 16Mi}, default: {cpu: 100m}}
  - {type: Pod, max: {memory: 64Mi}}
  - {type: PersistentVolumeClaim, max: {storage: 1Gi}}
"""
    create(operated, namespace, limits)
    for name in ("small", "large"):
        await_quota(operated, name, namespace)
    run = deployed("run", pod(main_resources={"limits": {"cpu": "300m"}, "requests": {"memory": "8Mi"}}), 4)
    claim = read(CLAIM, name="data", mode="ReadWriteMany", storage_class="", size="10Gi")
    found = [each for each in examine(client, [run, *claim]) if each.check == "limits"]
    assert told(found) == [
        "error: LimitRange range: container main of Deployment run has 0.3 cpu, and 0.2 cpu is the most;"
        " container main of Deployment run asks for 8Mi memory, and 16Mi memory is the least;"
        " claim data has 10Gi storage, and 1Gi storage is the most",
        "error: ResourceQuota small: has every pod say its limits.memory, and not all do",
        "error: ResourceQuota small: has no room: count/deployments.apps: 1 needed, 0 of 0 free; pods: 4 needed, 3 of"
        " 3 free; requests.cpu: 1.2 needed, 1 of 1 free; requests.storage: 10Gi needed, 5Gi of 5Gi free",
    ]


_SCOPED = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: %s}, spec: {hard: {pods: '0'}, %s}}"
_CLASSES = "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: %s}]}"


@pytest.mark.parametrize(
    ("scope", "fields", "is_counted"),
    [
        ("scopes: [Terminating]", {}, False),
        ("scopes: [Terminating]", {"activeDeadlineSeconds": 5}, True),
        ("scopes: [NotTerminating]", {"activeDeadlineSeconds": 5}, False),
        ("scopes: [BestEffort]", {}, False),
        ("scopes: [BestEffort]", {"main_resources": {}}, True),
        ("scopes: [BestEffort]", {"main_resources": {}, "resources": {"limits": {"cpu": "1"}}}, False),
        ("scopes: [NotBestEffort, NotTerminating]", {}, True),
        (_CLASSES % "Exists", {"priorityClassName": "system-node-critical"}, True),
        (_CLASSES % "DoesNotExist", {"priorityClassName": "system-node-critical"}, False),
        (_CLASSES % "In, values: [system-node-critical]", {"priorityClassName": "system-node-critical"}, True),
        (_CLASSES % "In, values: [system-node-critical]", {}, False),
    ],
)
def test_a_quota_counts_the_pods_of_its_scopes_as_the_server_does(
    scope: str, fields: dict[str, Any], is_counted: bool, cluster: Api, client: Kubectl, namespace: str
) -> None:
    create(cluster, namespace, _SCOPED % ("scoped", scope))
    await_quota(cluster, "scoped", namespace)
    spec = pod(**fields)
    tried = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    assert ("exceeded quota" in cluster.create(tried, namespace, dry_run=True).refusal) is is_counted
    run = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "run"}}
    template = {"spec": {**spec, "restartPolicy": "Never"}}
    found = [str(each) for each in examine(client, [{**run, "spec": {"template": template}}]) if "scoped" in str(each)]
    assert found == ["ResourceQuota scoped: has no room: pods: 1 needed, 0 of 0 free"] * is_counted


@pytest.mark.parametrize(
    ("hard", "spec", "said"),
    [
        ("services.loadbalancers", {"type": "LoadBalancer"}, "services.loadbalancers: 1 needed, 0 of 0 free"),
        ("services.nodeports", {"type": "LoadBalancer"}, "services.nodeports: 2 needed, 0 of 0 free"),
        ("services.nodeports", {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False}, ""),
        ("services.nodeports", {"type": "NodePort"}, "services.nodeports: 2 needed, 0 of 0 free"),
        ("services.nodeports", {"type": "ClusterIP"}, ""),
    ],
)
def test_a_quota_counts_load_balancers_and_ports_of_nodes_as_the_server_does(
    hard: str, spec: Object, said: str, cluster: Api, client: Kubectl, namespace: str
) -> None:
    limits = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {%s: '0'}}}"
    create(cluster, namespace, limits % hard)
    await_quota(cluster, "q", namespace)
    ports = [{"name": str(port), "port": port} for port in (80, 81)]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "run"}, "spec": {**spec, "ports": ports}}
    for port in ports:
        port["name"] = f"p{port['port']}"
    assert ("exceeded quota" in cluster.create(service, namespace, dry_run=True).refusal) is bool(said)
    found = told([each for each in examine(client, [service]) if each.check == "limits"])
    assert found == ([f"error: ResourceQuota q: has no room: {said}"] if said else [])


def test_a_quota_of_a_class_counts_its_claims(cluster: Api, client: Kubectl, namespace: str) -> None:
    of_class = "fast.storageclass.storage.k8s.io"
    limits = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {%s/requests.storage: 1Gi}}}"
    create(cluster, namespace, limits % of_class)
    await_quota(cluster, "q", namespace)
    for storage_class, size in (("fast", "2Gi"), ("fast", "1Gi"), ("slow", "2Gi")):
        (claim,) = read(CLAIM, name="disk", mode="ReadWriteOnce", storage_class=storage_class, size=size)
        is_refused = "exceeded quota" in cluster.create(claim, namespace, dry_run=True).refusal
        found = [str(each) for each in examine(client, [claim]) if each.check == "limits"]
        said = f"ResourceQuota q: has no room: {of_class}/requests.storage: 2Gi needed, 1Gi of 1Gi free"
        assert found == ([said] if is_refused else [])


def test_a_quota_has_what_a_pod_says_itself_in_place_of_its_containers(
    cluster: Api, client: Kubectl, namespace: str
) -> None:
    create(cluster, namespace, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {cpu: '1'}}}")
    await_quota(cluster, "q", namespace)
    for cpu, refusal in (("900m", ""), ("1200m", "cpu: 1.2 needed, 1 of 1 free")):
        spec = pod(main_resources={}, resources={"requests": {"cpu": cpu}}, restartPolicy="Never")
        tried = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
        assert ("exceeded quota" in cluster.create(tried, namespace, dry_run=True).refusal) is bool(refusal)
        run = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "run"}}
        found = examine(client, [{**run, "spec": {"template": {"spec": spec}}}])
        told = [str(each) for each in found if "ResourceQuota q" in str(each)]
        assert told == ([f"ResourceQuota q: has no room: {refusal}"] if refusal else [])


CUSTOM = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: <resource>.<group>}
spec:
  group: <group>
  scope: Namespaced
  names: {kind: <kind>, plural: <resource>}
  versions:
  - name: <version>
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


def define(api: Api, version: str, kind: str) -> None:
    """Have the server know a kind."""
    group, _, number = version.rpartition("/")
    create(api, "", CUSTOM, resource=resource_of(kind), group=group, version=number, kind=kind)
    wait(lambda: [] if (version, kind) in known(api) else [kind])


def known(api: Api) -> set[tuple[str, str]]:
    api.resources.clear()
    api.path("v1", "Pod")
    return {*api.resources}


def of(version: str, kind: str, **labels: str) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "run", "labels": labels}, "spec": {}}


@pytest.mark.nightly
@pytest.mark.usefixtures("kubectl")
def test_faults_of_kinds_operators_and_queues(tmp_path: Path) -> None:
    """On a control plane of their own, which knows no kind but Kubernetes' and those of the test."""
    real.pinned_program("kubernetes")
    with shared.use(tmp_path, "-m", "controlplane.service", "bare", str(tmp_path)):
        api = Api(tmp_path)
        config = str(tmp_path / "kubeconfig")
        client = kubectl.find(os.environ["PATH"], kubeconfig=config, namespace="default")
        for version, kind in (
            ("kubeflow.org/v1", "MPIJob"),
            ("kubeflow.org/v1", "TFJob"),
            ("argoproj.io/v1alpha1", "Workflow"),
            ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
            ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
        ):
            define(api, version, kind)
        operators = {each.image: each for each in OPERATORS}
        for image, version, ready in (
            ("workflow-controller", "v3.7.0", 0),
            ("trainer-controller-manager", "v1.9.2", 1),
            ("lws", "main", 1),
        ):
            made = running(operators[image], version)
            api.create(made, "default").expect_done()
            counts = {"replicas": 1, "availableReplicas": ready, "readyReplicas": ready}
            api.merge({**made, "status": counts}, "default", subresource="status").expect_done()
        objects = [
            of("kubeflow.org/v2beta1", "MPIJob"),
            of("kubeflow.org/v1", "TFJob"),
            of("argoproj.io/v1alpha1", "Workflow"),
            of("trainer.kubeflow.org/v1alpha1", "TrainJob"),
            of("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
            of("nobody.example/v1", "Thing"),
            of("policy/v1beta1", "PodDisruptionBudget"),
            of("batch/v1", "Job", **{"kueue.x-k8s.io/queue-name": "team"}),
        ]
        found = [each for each in examine(client, objects) if each.check in ("api", "queue")]
        assert told(found) == [
            "error: Argo Workflows v3.7.0: no pod of Deployment default/workflow-controller is ready",
            "error: JobSet of jobset.x-k8s.io/v1alpha2: is not known to the cluster",
            "error: Kubeflow Trainer v1.9.2: is too old",
            "error: MPIJob of kubeflow.org/v2beta1: is not served, only kubeflow.org/v1",
            "error: PodDisruptionBudget of policy/v1beta1: is not served, only policy/v1",
            "error: Thing of nobody.example/v1: is not known to the cluster",
            "unknown: LeaderWorkerSet main: the image of Deployment default/lws does not tell its version",
            "warning: Kubeflow Training Operator: no Deployment of this cluster runs it",
            "warning: LocalQueue team: there is no Kueue in the cluster",
        ]
        fixes = {each.about: each.fix for each in found}
        assert fixes["MPIJob of kubeflow.org/v2beta1"].endswith("/v0.8.0/deploy/v2beta1/mpi-operator.yaml")
        of_this_cluster = f"kubectl --kubeconfig={config} --context=test apply "
        assert fixes["JobSet of jobset.x-k8s.io/v1alpha2"].startswith(of_this_cluster)
        define(api, "kueue.x-k8s.io/v1beta1", "LocalQueue")
        stopped = of("kueue.x-k8s.io/v1beta1", "LocalQueue")
        api.create(stopped, "default").expect_done()
        condition = {"type": "Active", "status": "False", "message": "its ClusterQueue is stopped"}
        api.merge({**stopped, "status": {"conditions": [condition]}}, "default", subresource="status").expect_done()
        queued = [of("batch/v1", "Job", **{"kueue.x-k8s.io/queue-name": name}) for name in ("team", "run")]
        assert told([each for each in examine(client, queued) if each.check == "queue"]) == [
            "error: LocalQueue run: is not active: its ClusterQueue is stopped",
            "error: LocalQueue team: is not there",
        ]
