"""Patches of pods: one file for the pods of every kind of object, written out as what kustomize applies."""

from __future__ import annotations

import pytest

from packyard.errors import InputError
from packyard.source import patch, pods
from packyard.text import layout
from packyard.text.document import parse_one
from packyard.text.node import Mapping, Sequence

POD = """\
    metadata:
      labels: {component: COMPONENT}
    spec:
      containers:
      - name: main
        volumeMounts: []
      - name: side
        volumeMounts: []
      volumes: []
"""
JOB = f"apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n{POD.replace('COMPONENT', 'training')}"
DEEPER = POD.replace("    ", "        ", 1).replace("\n    ", "\n        ")
MPI_JOB = (
    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nspec:\n  mpiReplicaSpecs:\n"
    f"    Launcher:\n      template:\n{DEEPER.replace('COMPONENT', 'launcher')}"
    f"    Worker:\n      template:\n{DEEPER.replace('COMPONENT', 'worker')}"
)
WORKFLOW = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
spec:
  templates:
  - name: all
    steps: [[]]
  - name: train
    metadata:
      labels: {component: training}
    initContainers:
    - name: prepare
    container:
      name: main
"""


def node(text: str) -> Mapping | Sequence:
    root = parse_one(text.encode(), "patch.yaml").root
    assert isinstance(root, (Mapping, Sequence))
    return root


def paths(text: str, path: str, labels: str = "") -> list[str]:
    root, operations = node(text), node(f"- op: add\n  path: {path}\n  value: 1\n")
    assert isinstance(root, Mapping)
    assert isinstance(operations, Sequence)
    found = pods.expand(root, operations, labels)
    return [item.value.text("path") for item in found.items if isinstance(item.value, Mapping)]


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        (JOB, "/spec/volumes/-", ["/spec/template/spec/volumes/-"]),
        (JOB, "/spec/containers/*/image", [f"/spec/template/spec/containers/{i}/image" for i in (0, 1)]),
        (JOB, "/spec/initContainers/*/image", []),
        (JOB, "/spec/{initContainers,containers}/0/image", [
            "/spec/template/spec/initContainers/0/image", "/spec/template/spec/containers/0/image"
        ]),
        (JOB, "/spec/{initContainers,containers}/*/volumeMounts/-", [
            f"/spec/template/spec/containers/{i}/volumeMounts/-" for i in (0, 1)
        ]),
        (JOB, "/metadata/labels/app.kubernetes.io~1name", ["/spec/template/metadata/labels/app.kubernetes.io~1name"]),
        (MPI_JOB, "/spec/x", [f"/spec/mpiReplicaSpecs/{name}/template/spec/x" for name in ("Launcher", "Worker")]),
        (WORKFLOW, "/spec/securityContext", ["/spec/templates/1/securityContext"]),
        (WORKFLOW, "/metadata/annotations", ["/spec/templates/1/metadata/annotations"]),
        (WORKFLOW, "/spec/{initContainers,containers}/*/image", [
            "/spec/templates/1/initContainers/0/image", "/spec/templates/1/container/image"
        ]),
        ("apiVersion: v1\nkind: Pod\nspec: {}\n", "/spec/x", ["/spec/x"]),
        ("apiVersion: v1\nkind: ConfigMap\ndata: {}\n", "/spec/x", []),
    ],
)  # fmt: skip
def test_an_operation_goes_to_every_pod(text: str, path: str, expected: list[str]) -> None:
    assert paths(text, path) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("component=launcher", ["Launcher"]),
        ("component!=launcher", ["Worker"]),
        ("component in (launcher, worker)", ["Launcher", "Worker"]),
        ("component notin (launcher, worker)", []),
        ("component in (worker), component != x", ["Worker"]),
        ("other!=x", ["Launcher", "Worker"]),
        ("other=x", []),
    ],
)
def test_a_label_selector_chooses_among_the_pods_of_an_object(labels: str, expected: list[str]) -> None:
    assert paths(MPI_JOB, "/spec/x", labels) == [f"/spec/mpiReplicaSpecs/{name}/template/spec/x" for name in expected]


def test_the_operations_are_written_with_their_comments() -> None:
    operations = node('- op: add\n  path: /spec/image\n  value: a # {"$openapi":"IMAGE"}\n')
    root = node(JOB)
    assert isinstance(root, Mapping)
    assert isinstance(operations, Sequence)
    expanded = pods.expand(root, operations, "")
    text = '- op: add\n  path: /spec/template/spec/image\n  value: a # {"$openapi":"IMAGE"}\n'
    assert layout.write(expanded).decode() == text
    patch.apply_operations(root, expanded)
    assert '      image: a # {"$openapi":"IMAGE"}\n' in layout.write(root).decode()


@pytest.mark.parametrize(
    ("text", "labels", "message"),
    [
        (
            "- op: add\n  path: /volumes/-\n  value: 1\n",
            "",
            "patch.yaml:1:3: path '/volumes/-' has to begin with /spec/",
        ),
        ("- {op: move, path: /spec/x, from: /spec/y}\n", "", "patch.yaml:1:3: op 'move' cannot be used on pods"),
        ("- add\n", "", "patch.yaml:1:3: an operation has to be a mapping"),
        ("- op: add\n  path: /spec/x\n  value: 1\n", "a ~ b", "'a ~ b' is no label selector"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, labels: str, message: str) -> None:
    root, operations = node(JOB), node(text)
    assert isinstance(root, Mapping)
    assert isinstance(operations, Sequence)
    with pytest.raises(InputError) as refused:
        pods.expand(root, operations, labels)
    assert message in str(refused.value)
