"""Where pods stand: the same in plain values and in nodes, and wherever the schemas of a kind have them."""

import json
from textwrap import indent
from typing import Any

import pytest
import yaml

import tiny
from packyard.core.kubernetes import pods
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import parse_one
from packyard.core.yaml.node import MappingNode, Scalar

POD = """\
volumes: [{name: data}]
initContainers: [{name: init}]
containers: [{name: main}]
ephemeralContainers: [{name: debug}]
"""
ALL = ["init", "main", "debug"]
#: Kinds with pod templates, and what stands before a pod.
KINDS = {
    "v1 Pod": "spec:",
    "v1 PodTemplate": "template: spec:",
    "apps/v1 Deployment": "spec: template: spec:",
    "batch/v1 CronJob": "spec: jobTemplate: spec: template: spec:",
    "kubeflow.org/v2beta1 MPIJob": "spec: mpiReplicaSpecs: Worker: template: spec:",
    "kubeflow.org/v1 PyTorchJob": "spec: pytorchReplicaSpecs: Worker: template: spec:",
    "jobset.x-k8s.io/v1alpha2 JobSet": "spec: replicatedJobs: - template: spec: template: spec:",
    "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet": "spec: leaderWorkerTemplate: workerTemplate: spec:",
    "trainer.kubeflow.org/v1alpha1 TrainingRuntime": (
        "spec: template: spec: replicatedJobs: - template: spec: template: spec:"
    ),
    "ray.io/v1alpha1 RayJob": "spec: submitterPodTemplate: spec:",
    # no kind of the table: found by its containers
    "example.com/v1 Trainer": "spec: workers: - template: spec:",
    "trainer.kubeflow.org/v1alpha1 TrainJob": "spec: podTemplateOverrides: - spec:",
}
WORKFLOW = tiny.text("pods/workflow.yaml")
WORKFLOWS = {
    "argoproj.io/v1alpha1 Workflow": "spec",
    "argoproj.io/v1alpha1 WorkflowTemplate": "spec",
    "argoproj.io/v1alpha1 ClusterWorkflowTemplate": "spec",
    "argoproj.io/v1alpha1 CronWorkflow": "spec.workflowSpec",
}


def named(value: Any) -> str:
    """Return the name of a mapping, plain or a node."""
    name = value.get("name")
    return str(name.value if isinstance(name, Scalar) else name)


def told(pod: Pod[Any]) -> dict[str, object]:
    """Tell what a finder says of a pod."""
    account = pod.get("serviceAccountName")
    return {
        "path": ".".join(map(str, pod.path)),
        "template": pod.template is not None,
        "containers": list(map(named, pod.containers)),
        "volumes": sorted(pod.volume_names),
        "account": account.value if isinstance(account, Scalar) else account,
    }


def found(text: str) -> list[dict[str, object]]:
    """Tell of the pods in a text, which are the same in its value and in its nodes."""
    document = parse_one(text.encode(), "a.yaml")
    assert isinstance(document.root, MappingNode)
    plain = list(map(told, pods.find(yaml.safe_load(text))))
    assert list(map(told, pods.find(document.root))) == plain
    return plain


def manifest(kind: str, before: str, rest: str) -> str:
    """Write an object; ``before`` are the keys above the rest, with a dash for the item of a list."""
    version, _, name = kind.partition(" ")
    lines = [f"apiVersion: {version}", f"kind: {name}"]
    depth, dash = 0, ""
    for word in before.split():
        if word == "-":
            dash = "- "
        else:
            lines.append(" " * depth + dash + word)
            depth, dash = depth + 2 + len(dash), ""
    return "\n".join(lines) + "\n" + indent(rest, " " * depth)


@pytest.mark.parametrize("kind", KINDS)
def test_finds_the_pods_of_a_kind(kind: str) -> None:
    path = ".".join("0" if word == "-" else word.rstrip(":") for word in KINDS[kind].split())
    assert found(manifest(kind, KINDS[kind], POD)) == [
        {"path": path, "template": True, "containers": ALL, "volumes": ["data"], "account": None}
    ]


@pytest.mark.parametrize(
    ("kind", "before"), [("RayCluster", ""), ("RayJob", "rayClusterSpec"), ("RayService", "rayClusterConfig")]
)
def test_finds_the_pods_of_the_head_and_of_each_group_of_workers(kind: str, before: str) -> None:
    pod = {"template": {"spec": {"containers": [{"name": "ray"}]}}}
    groups = {"workerGroupSpecs": [pod, pod], "headGroupSpec": pod}
    root = {"apiVersion": "ray.io/v1", "kind": kind, "spec": {before: groups} if before else groups}
    start = ".".join(filter(None, ["spec", before]))
    assert [each["path"] for each in found(json.dumps(root))] == [
        f"{start}.headGroupSpec.template.spec",
        f"{start}.workerGroupSpecs.0.template.spec",
        f"{start}.workerGroupSpecs.1.template.spec",
    ]


@pytest.mark.parametrize("kind", WORKFLOWS)
def test_finds_the_pods_of_a_workflow_with_what_it_says_for_all(kind: str) -> None:
    path = WORKFLOWS[kind]
    before = path.replace(".", ": ") + ":"
    both = {"template": False, "volumes": ["data", "made"], "account": "runner"}
    assert found(manifest(kind, before, WORKFLOW)) == [
        {
            "path": f"{path}.templates.2",
            "template": False,
            "containers": ["init", "main", "beside"],
            "volumes": ["data", "made", "more"],
            "account": "own",
        },
        {**both, "path": f"{path}.templates.3", "containers": ["main"]},
        {**both, "path": f"{path}.templates.4", "containers": ["a", "b"]},
        {**both, "path": f"{path}.templates.0.steps.0.0.inline", "containers": ["inline"]},
        {**both, "path": f"{path}.templates.1.dag.tasks.0.inline", "containers": ["task"]},
    ]
