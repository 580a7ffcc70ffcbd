"""The doctor on a real control plane: silent where all is sound, honest where it may not look, and quick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest

from catalogue.nightly import test_runs
from catalogue.usecases import LEVELS, PACKAGES, Object, build_all, level, moved, shipped
from controlplane.api import Api
from packyard.core.kubernetes import held, pods
from packyard.running import doctor
from packyard.running.doctor import facts
from packyard.running.doctor.finding import Finding
from packyard.running.runs.kubectl import Kubectl
from real import Served
from running.patients import deployed, pod, read, told


@pytest.mark.parametrize("brings_claims", [False, True])
def test_every_use_case_is_sound_where_it_has_what_it_needs(
    operated: Api, served5: Served, client: Kubectl, brings_claims: bool
) -> None:
    """With what a user and an administrator make beforehand; claims that are brought are made by nobody else."""
    wanted = [shipped(package, use_case) for package in PACKAGES for use_case in package.use_cases]
    built = build_all(served5, "any", [(test_runs.apart(each.set(each.examples)), ()) for each in wanted])
    chosen = [each for each in built if bool(test_runs.of_kind(each, "PersistentVolumeClaim")) == brings_claims]
    namespace = operated.create_namespace(max(map(level, chosen), key=LEVELS.index))
    runs = [moved(each, "any", namespace) for each in chosen]
    whole = [item for each in runs for item in each]
    test_runs.provide(operated, namespace, whole)
    for each in needed_secrets(whole):
        operated.create(each, namespace).expect_done()
    known = facts.read(replace(client, namespace=namespace), doctor.questions(whole))
    for objects in runs:
        found = doctor.judge(objects, known)
        # Volumes of claims that are brought are there, which nobody asks for, and no class is.
        wrong = [each for each in found if each.severity != "passed"]
        wrong = [each for each in wrong if not brings_claims or each.check != "storage"]
        assert told(wrong) == []
        assert len(found) >= 3


def examples(package: str, path: str) -> list[Object]:
    """Return the objects of a use case of the catalogue with examples for what has to be set."""
    (found,) = (each for each in PACKAGES if each.name == package)
    directory = shipped(found, next(each for each in found.use_cases if each.path.endswith(path)))
    return directory.set(directory.examples).parse()


def needed_secrets(objects: Sequence[Object]) -> list[Object]:
    """Return the Secrets that pods need, with the keys that they need."""
    found: dict[str, dict[str, str]] = {}
    for each in (each for found_pod in pods.find_all(objects) for each in held.find(found_pod)):
        if each.kind == "Secret" and not each.is_optional:
            found.setdefault(each.name, {}).update(dict.fromkeys(each.keys, "x"))
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": keys}
        for name, keys in found.items()
    ]


ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "run"},
    "rules": [{"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create"]}],
}
DISK = {"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}
RUN = [deployed("run", pod(main_envFrom=[{"secretRef": {"name": "keys"}}], volumes=[DISK])), ROLE]


SAID = """
{kind: Namespace, metadata: {name: any, labels: {pod-security.kubernetes.io/enforce: baseline}}}
---
{kind: PersistentVolumeClaim, metadata: {name: disk}, spec: {accessModes: [ReadWriteOnce], storageClassName: a,
 resources: {requests: {storage: 1Gi}}}, status: {phase: Pending, accessModes: [ReadWriteOnce]}}
---
{kind: PersistentVolume, metadata: {name: a}, spec: {claimRef: {namespace: any, name: disk}, capacity: {storage: 1Gi}}}
---
{kind: StorageClass, metadata: {name: a, annotations: {a: b}}, volumeBindingMode: Immediate}
---
{kind: ResourceQuota, metadata: {name: a}, spec: {hard: {pods: "1", limits.cpu: "1"}}, status: {used: {pods: "1"}}}
---
{kind: LimitRange, metadata: {name: a}, spec: {limits: [{type: Container, max: {cpu: 1m}, default: {cpu: 1m}}]}}
---
{kind: Node, metadata: {name: a, labels: {kubernetes.io/os: linux}}, spec: {taints: [{key: a, effect: NoSchedule}]},
 status: {allocatable: {cpu: "1", pods: "9"}, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: any, labels: {a: b}},
 spec: {nodeName: a, containers: [{name: a, resources: {requests: {cpu: 1m}}}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: any}, status: {availableReplicas: 1},
 spec: {template: {spec: {containers: [{name: a, image: "a/mpi-operator:0.8.0"}]}}}}
"""


@pytest.mark.nightly
def test_fields_of_any_type_are_no_bug() -> None:
    """In objects, of which anything may be left to be set, and in what a cluster says: each field has a turn."""
    said, odd = read(SAID), cycle(["", 5, [""], {"name": 5}, None])
    served = {"kubeflow.org/v2beta1": {"MPIJob": "mpijobs"}}

    def check(objects: Sequence[Object], said: Sequence[Object]) -> None:
        known = facts.Facts(
            namespace="any",
            objects={str(item.get("kind")): [item] for item in said},
            groups={"kubeflow.org": ["v2beta1"]},
            apis=served,
        )
        doctor.questions(objects)
        assert all(isinstance(each, Finding) for each in doctor.judge(objects, known))

    for item in (*examples("bert-large-fp32-training-k8s", "multi-node/user-allocated-pvc"), *RUN):
        for changed in filter(is_object, spoil(item, odd)):
            check([changed], said)
    mpi_job = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "run"}}
    for item in said:
        others = [each for each in said if each is not item]
        for changed in filter(is_object, spoil(item, odd)):
            check([mpi_job, *RUN], [changed, *others])


def is_object(value: object) -> bool:
    return isinstance(value, dict) and bool(value)


def spoil(value: Any, odd: Iterator[object]) -> Iterator[Any]:
    """Yield a value with each of its parts in turn replaced by the next odd one."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from ({**value, key: each} for each in spoil(member, odd))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from ([*value[:number], each, *value[number + 1 :]] for each in spoil(member, odd))
    yield next(odd)
