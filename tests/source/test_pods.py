"""Patches of pods: one file for the pods of every kind of object, written out as what kustomize applies."""

from __future__ import annotations

import pytest
import yaml

import real
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
TRAINING_RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
spec:
  template:
    spec:
      replicatedJobs:
      - {name: initializer, template: {spec: {template: {spec: {}}}}}
      - {name: node, template: {spec: {template: {spec: {}}}}}
"""
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
    sidecars:
    - name: beside
  - name: say
    metadata:
      labels: {component: saying}
    script:
      name: main
  - name: group
    metadata:
      labels: {component: group}
    containerSet:
      containers:
      - name: one
      - name: two
"""
CRON_WORKFLOW = "apiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow\nspec:\n  workflowSpec:\n" + "".join(
    f"  {line}\n" for line in WORKFLOW.partition("spec:\n")[2].splitlines()
)


#: What a pod's ``spec`` may say, but for its containers, and for ``priority``, which of a Workflow is something else.
POD_FIELDS = (
    *("activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy"),
    *("enableServiceLinks", "hostAliases", "hostIPC", "hostNetwork", "hostPID", "hostUsers", "hostname"),
    *("imagePullSecrets", "initContainers", "nodeName", "nodeSelector", "os", "overhead", "preemptionPolicy"),
    *("priorityClassName", "readinessGates", "resourceClaims", "resources", "restartPolicy", "runtimeClassName"),
    *("schedulerName", "schedulingGates", "securityContext", "serviceAccountName", "setHostnameAsFQDN"),
    *("shareProcessNamespace", "subdomain", "terminationGracePeriodSeconds", "tolerations"),
    *("topologySpreadConstraints", "volumes"),
)


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
        (JOB, "/spec/containers/[name=side]/image", ["/spec/template/spec/containers/1/image"]),
        (JOB, "/spec/containers/[name=side]", ["/spec/template/spec/containers/1"]),
        (JOB, "/spec/containers/[name=other]/image", []),
        (JOB, "/metadata/labels/app.kubernetes.io~1name", ["/spec/template/metadata/labels/app.kubernetes.io~1name"]),
        (MPI_JOB, "/spec/x", [f"/spec/mpiReplicaSpecs/{name}/template/spec/x" for name in ("Launcher", "Worker")]),
        (WORKFLOW, "/spec/securityContext", [f"/spec/templates/{i}/securityContext" for i in (1, 2, 3)]),
        (WORKFLOW, "/metadata/annotations", [f"/spec/templates/{i}/metadata/annotations" for i in (1, 2, 3)]),
        (WORKFLOW, "/spec/{initContainers,containers}/*/image", [
            "/spec/templates/1/initContainers/0/image",
            "/spec/templates/1/container/image",
            "/spec/templates/1/sidecars/0/image",
            "/spec/templates/2/script/image",
            "/spec/templates/3/containerSet/containers/0/image",
            "/spec/templates/3/containerSet/containers/1/image",
        ]),
        (WORKFLOW, "/spec/containers/0/command/0", [
            "/spec/templates/1/container/command/0",
            "/spec/templates/2/script/command/0",
            "/spec/templates/3/containerSet/containers/0/command/0",
        ]),
        (WORKFLOW, "/spec/imagePullSecrets/-", ["/spec/imagePullSecrets/-"]),
        (CRON_WORKFLOW, "/spec/imagePullSecrets/-", ["/spec/workflowSpec/imagePullSecrets/-"]),
        (CRON_WORKFLOW, "/spec/volumes/-", [f"/spec/workflowSpec/templates/{i}/volumes/-" for i in (1, 2, 3)]),
        (TRAINING_RUNTIME, "/spec/x", [
            f"/spec/template/spec/replicatedJobs/{i}/template/spec/template/spec/x" for i in (0, 1)
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


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/spec/topologySpreadConstraints", "Argo knows no topologySpreadConstraints of a pod"),
        ("/spec/restartPolicy", "Argo knows no restartPolicy of a pod"),
        ("/spec/containers/1/image", "Argo knows no containers/1 of a pod"),
        ("/spec/containers/-", "Argo knows no containers/- of a pod"),
    ],
)
def test_what_argo_has_nowhere_is_refused(path: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        paths(WORKFLOW, path)
    assert message in str(refused.value)
    assert "podSpecPatch" in str(refused.value)


def test_what_argo_has_nowhere_matters_only_where_a_template_is_chosen() -> None:
    assert paths(WORKFLOW, "/spec/restartPolicy", "component=other") == []


def test_argo_has_the_fields_that_patches_of_pods_are_given() -> None:
    """By the definition of a Workflow that Argo ships."""
    text = (real.pinned_manifests() / "argoproj.io_workflows.yaml").read_text()
    (version,) = yaml.load(text, Loader=yaml.CSafeLoader)["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    template = spec["templates"]["items"]["properties"]
    for field in POD_FIELDS:
        try:
            found = {path.removesuffix(f"/{field}") for path in paths(WORKFLOW, f"/spec/{field}", "component=saying")}
        except InputError:
            found = set()
        assert found == ({"/spec/templates/2"} if field in template else {"/spec"} if field in spec else set()), field
