"""What the doctor makes of facts of a cluster; a real one is asked by `test_fault_set`, and recorded there."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from packyard.core.kubernetes.operators import OPERATORS
from packyard.running import doctor
from packyard.running.doctor import admission
from packyard.running.doctor.facts import Facts
from packyard.running.runs.run import LABEL
from running.patients import deployed, pod, read, running, told
from running.setups import asking
from tiny import packyard, script

Object = dict[str, Any]

BY_IMAGE = {operator.image: operator for operator in OPERATORS}
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
POD = "{spec: {containers: [{name: a, resources: {requests: {cpu: '%s'}}}]}}"
MPI_JOB = f"""
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: run}}
spec:
  mpiReplicaSpecs:
    Launcher: {{template: {POD % 1}}}
    Worker: {{replicas: 2, template: {POD % 4}}}
"""
CLAIM = """
kind: PersistentVolumeClaim
apiVersion: v1
metadata: {name: disk}
spec: {accessModes: [<mode>], storageClassName: <class>, resources: {requests: {storage: 2Gi}}}
status: {phase: <phase>}
"""


def node(name: str = "a", labels: Mapping[str, str] | None = None, **fields: Any) -> Object:
    """Return a node with room; ``fields`` are of its spec, or amounts."""
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"} | fields.pop("amounts", {})
    status = {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels or {}}, "spec": fields, "status": status}


def cluster(*items: Object, **fields: Any) -> Facts:
    """Return a cluster with these objects, in whose namespace the user may do all."""
    objects: dict[str, list[Object]] = {}
    for item in ({"kind": "Namespace", "metadata": {"name": "ml"}}, *items):
        objects.setdefault(item["kind"], []).append(item)
    return Facts(**{"namespace": "ml", "objects": objects, **fields})


def found(objects: Sequence[Object], known: Facts) -> list[str]:
    """Return what is not as it should be."""
    return told([each for each in doctor.judge(objects, known) if each.severity != "passed"])


def claim(mode: str = "ReadWriteMany", of: str = "fast", *, phase: str = "Bound") -> Object:
    (item,) = read(CLAIM, mode=mode, **{"class": of, "phase": phase})
    return item


def mounting(count: int = 1) -> Object:
    """Return a Deployment of pods that write to a claim."""
    volumes = [{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]
    return deployed("run", pod(volumes=volumes, main_volumeMounts=[{"name": "disk", "mountPath": "/disk"}]), count)


def test_a_run_that_fits_on_nodes_of_different_sizes_is_not_refused() -> None:
    """Whoever packs the launcher first, on the larger node, finds no place for the second worker."""
    nodes = [node("a"), node("b", amounts={"cpu": "5"})]
    operator = running(BY_IMAGE["mpi-operator"], "v0.8.0") | {"status": {"availableReplicas": 1}}
    assert found(read(MPI_JOB), cluster(*nodes, operator, groups={"kubeflow.org": ["v2beta1"]})) == []


def test_nodes_are_counted_by_what_is_hardest_to_change() -> None:
    nodes = [node("a"), node("b", taints=[TAINT], amounts={"nvidia.com/gpu": "8"}), node("c", {"pool": "x"})]
    run = [deployed("run", pod(main_resources=asking(gpu="1")))]
    said = "2 without nvidia.com/gpu, 1 with the taint nvidia.com/gpu=present:NoSchedule"
    assert found(run, cluster(*nodes)) == [f"warning: Deployment run: none of 3 nodes takes its pods: {said}"]
    larger = [deployed("run", pod(main_resources=asking(cpu="9"), nodeSelector={"pool": "x"}))]
    said = "2 without the labels pool=x, 1 with too little cpu (9 asked for)"
    assert found(larger, cluster(*nodes)) == [f"warning: Deployment run: none of 3 nodes takes its pods: {said}"]
    assert found(run, cluster()) == ["warning: Deployment run: there is no node"]


def test_a_claim_of_one_node_is_no_trouble_where_there_is_one() -> None:
    assert found([mounting(2)], cluster(claim("ReadWriteOnce"), node())) == []


@pytest.mark.parametrize(
    ("changes", "there", "said"),
    [
        ({"storageClassName": "nope"}, True, "is of the class nope, which is not there"),
        ({"storageClassName": ""}, False, ""),
        ({"storageClassName": None}, False, "names no class, and no class is the default"),
        ({"storageClassName": None}, True, ""),
        ({"storageClassName": "fast"}, True, ""),
    ],
)
def test_new_claims_have_a_class_or_are_to_have_none(changes: Object, there: bool, said: str) -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    items = [{"kind": "StorageClass", "metadata": {"name": "fast", "annotations": annotations}}] * there
    item = claim()
    item["spec"] = {key: each for key, each in {**item["spec"], **changes}.items() if each is not None}
    expected = [f"warning: PersistentVolumeClaim disk: {said}"] if said else []
    assert found([item], cluster(*items)) == expected


def test_quotas_have_room_for_all_pods_together() -> None:
    quota = {"kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": {"pods": "3", "limits.cpu": "1"}}}
    quota["status"] = {"used": {"pods": "1"}}
    run = deployed("run", pod(main_resources=asking(cpu="300m")), 4)
    assert found([run], cluster(quota, node())) == [
        "error: ResourceQuota small: has no room: limits.cpu: 1.2 needed, 1 of 1 free; pods: 4 needed, 2 of 3 free"
    ]
    own = {"kind": "Pod", "metadata": {"name": "a", "namespace": "ml", "labels": {LABEL: "run"}}}
    labelled = {**run, "metadata": {"name": "run", "labels": {"app.kubernetes.io/instance": "run"}}}
    assert found([labelled], cluster(quota, node(), own)) == []
    quota["spec"]["scopes"] = ["Terminating"]
    assert found([run], cluster(quota, node())) == []


@pytest.mark.parametrize(
    ("sent", "answer", "paths"),
    [
        ({"a": "1", "b": None, "c": {}}, {"a": 1}, []),
        ({"env": [{"name": "A"}, {"name": "B", "value": "1"}]}, {"env": [{"name": "A"}]}, ["env[B].value"]),
        ({"ports": [{"port": 1}]}, {"ports": [{"host": "x"}, {"port": 2}]}, []),
        ({"args": ["a", "b"]}, {"args": ["a"]}, ["args[1]"]),
        ({"a": {"b": "1"}, "c": [{"name": "x", "y": 1}, {"name": "z", "p": 1, "q": 2}]}, {}, ["a", "c[x].y", "c[z]"]),
    ],
)
def test_what_a_server_leaves_out_is_named_by_its_path(sent: Object, answer: Object, paths: Sequence[str]) -> None:
    assert [*admission.dropped(sent, answer)] == paths


def of(version: str, kind: str, **labels: str) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "run", "labels": labels}, "spec": {}}


def test_kinds_operators_and_queues() -> None:
    deployments = [
        running(BY_IMAGE[image], version) | {"status": {"availableReplicas": ready}}
        for image, version, ready in (
            ("workflow-controller", "v3.7.0", 0),
            ("trainer-controller-manager", "v1.9.2", 1),
            ("lws", "main", 1),
        )
    ]
    for deployment in deployments:
        deployment["metadata"]["namespace"] = "operators"
    groups = {"policy": ["v1"], "batch": ["v1"], "kubeflow.org": ["v1"], "argoproj.io": ["v1alpha1"]}
    groups |= {"trainer.kubeflow.org": ["v1alpha1"], "leaderworkerset.x-k8s.io": ["v1"]}
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
    known = cluster(*deployments, groups=groups)
    judged = [each for each in doctor.judge(objects, known) if each.check in ("api", "queue")]
    assert told([each for each in judged if each.severity != "passed"]) == [
        "error: Argo Workflows v3.7.0: no pod of Deployment operators/workflow-controller is ready",
        "error: JobSet of jobset.x-k8s.io/v1alpha2: is not known to the cluster",
        "error: Kubeflow Trainer v1.9.2: is too old",
        "error: MPIJob of kubeflow.org/v2beta1: is not served, only kubeflow.org/v1",
        "error: PodDisruptionBudget of policy/v1beta1: is not served, only policy/v1",
        "error: Thing of nobody.example/v1: is not known to the cluster",
        "unknown: LeaderWorkerSet main: the image of Deployment operators/lws does not tell its version",
        "warning: Kubeflow Training Operator: no Deployment of this cluster runs it",
        "warning: LocalQueue team: there is no Kueue in the cluster",
    ]
    fixes = {each.about: each.fix for each in judged}
    assert fixes["MPIJob of kubeflow.org/v2beta1"].endswith("/v0.8.0/deploy/v2beta1/mpi-operator.yaml")


def test_without_a_use_case_the_operators_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As whoever keeps a cluster asks before there is a package."""
    jobset = next(operator for operator in OPERATORS if operator.operator == "JobSet")
    deployment = running(jobset, "v0.9.0") | {"status": {"availableReplicas": 1}}
    program = tmp_path / "bin/kubectl"
    lines = json.dumps({"kind": "List", "items": [deployment]})
    config = json.dumps({"contexts": [{"name": "test", "context": {"user": "zoe", "namespace": "ml"}}]})
    script(program, f"case \"$*\" in *'config view'*) echo '{config}' ;; *) echo '{lines}' ;; esac")
    monkeypatch.chdir(tmp_path)
    done = packyard("doctor", "-v", PATH=f"{program.parent}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    assert "warning: MPI operator: no Deployment of this cluster runs it\n" in done.stdout
    assert "JobSet" not in done.stdout
    assert "passed: JobSet v0.9.0" in done.stderr
    assert "--probe needs DIR" in packyard("doctor", "--probe").stderr


def test_what_may_not_be_read_is_unknown_once_for_all_that_need_it() -> None:
    reason = 'User "ann" cannot list resource "nodes"'
    known = cluster(claim("ReadWriteOnce"), unread={"nodes": reason})
    assert found([mounting(2)], known) == [f"unknown: claims, nodes: not looked at: {reason}"]


@pytest.mark.parametrize("name", ["a/b", "--all-namespaces", "UPPER", "$(reboot)", "x y", "a,b"])
def test_a_name_that_no_object_can_have_is_not_there(name: str) -> None:
    (about,) = found([deployed("run", pod(serviceAccountName=name))], cluster(node()))
    assert about == f"error: ServiceAccount {name}: is not there"
