"""Objects judged by the schemas of Kubernetes and of operators: where, what, and in which versions."""

from collections.abc import Callable
from textwrap import dedent, indent

import pytest
import yaml

import tiny
from packyard.core.kubernetes import schemas as judges
from packyard.core.kubernetes.schemas import Judge
from writing.checks.linting import lint, package, place

Judged = Callable[..., list[str]]

_RULES = ("unknown-field", "missing-field", "wrong-type", "wrong-value", "unserved-kind", "unreadable")
#: Kubernetes 1.28 and the newest that are judged in these tests, and the operators.
ALL = "Kubernetes 1.28 to 1.37"


@pytest.fixture(scope="session")
def every_judge() -> list[Judge]:
    return judges.choose([f"1.{minor}" for minor in range(28, 38)])


@pytest.fixture
def judged(every_judge: list[Judge]) -> Judged:
    """Call it with an object's text: the findings of schemas, as ``line:column rule: message``."""

    def judge(text: str, krmfile: str = "kind: Krmfile\n", **more: str) -> list[str]:
        files = {"a.yaml": dedent(text), **{name.replace("_", "."): dedent(other) for name, other in more.items()}}
        return [
            f"{finding.line}:{finding.column} {finding.rule}: {finding.message}"
            + (f" ({finding.hint})" if finding.hint else "")
            for finding in lint(package(files, dedent(krmfile)), judges=every_judge)
            if finding.rule in _RULES
        ]

    return judge


POD = """\
containers:
- name: main
  image: a/b:1
  command: [a]
"""
TEMPLATED = """\
apiVersion: {version}
kind: {kind}
metadata:
  name: x
spec:
"""
#: Kinds with a pod, what stands before ``template``, and how deep.
KINDS = {
    "batch/v1 Job": "template:\n  spec:\n",
    "v1 Pod": "",
    "kubeflow.org/v2beta1 MPIJob": "mpiReplicaSpecs:\n  Worker:\n    template:\n      spec:\n",
    "example.com/v1 Trainer": "workers:\n- template:\n    spec:\n",
}
OPERATORS = {"kubeflow.org/v2beta1 MPIJob": ", mpi-operator 0.5 to 0.8"}


def manifest(kind: str, pod: str = POD) -> str:
    version, _, name = kind.partition(" ")
    lines = KINDS[kind].splitlines()
    deep = len(lines[-1]) - len(lines[-1].lstrip()) + 2 if lines else 0
    text = TEMPLATED.format(version=version, kind=name) + indent(KINDS[kind] + indent(pod, " " * deep), "  ")
    assert yaml.safe_load(text)["kind"] == name
    return text


@pytest.mark.parametrize("kind", KINDS)
def test_finds_an_unknown_field_of_a_pod_wherever_it_sits_and_nothing_in_a_sound_one(judged: Judged, kind: str) -> None:
    assert judged(manifest(kind)) == []
    text = manifest(kind, POD + "  comand: [a]\n")
    assert judged(text) == [
        f"{place(text, 'comand')} unknown-field: containers[0] has no field 'comand' in {ALL}{OPERATORS.get(kind, '')} "
        "(did you mean 'command'?)"
    ]


def test_names_the_versions_that_lack_a_kind(judged: Judged) -> None:
    text = "apiVersion: flowcontrol.apiserver.k8s.io/v1beta3\nkind: FlowSchema\nmetadata: {name: x}\n"
    assert judged(text) == [
        "1:1 unserved-kind: there is no flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema in Kubernetes 1.32 to 1.37 "
        "(another version of Kubernetes serves it)"
    ]


def test_a_kind_of_an_operator_that_nobody_told_us_of_may_have_fields_of_its_own(judged: Judged) -> None:
    text = manifest("example.com/v1 Trainer", POD + "containerConcurrency: 1\n") + "  anything: [1]\n"
    assert judged(text) == []
    service = "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: x}\n"
    assert judged(service + "spec: {template: {spec: {containers: [{image: a}]}}}\n") == []  # its operator names it
    assert judged(text.replace("  name: x\n", "  name: x\n  label: {}\n"))[0].startswith(
        "5:3 unknown-field: metadata has no field 'label' in Kubernetes 1.28 to 1.37"
    )


WORKFLOW = tiny.text("checks/workflow-of-every-kind.yaml")


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("      mirror", "      volumes: []\n      mirror", "initContainers[0] has no field 'volumes'"),
        ("        dependencies", "        ports: [{}]\n        dependencies", "ports[0] lacks 'containerPort'"),
    ],
)
def test_judges_the_parts_of_pods_in_a_workflow(judged: Judged, old: str, new: str, found: str) -> None:
    (finding,) = judged(WORKFLOW.replace(old, new, 1))
    assert f": {found} in {ALL}, argo-workflows 3.4 to 4.0" in finding


KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.USER_ID:
      type: integer
      nullable: true
      example: "1000"
      x-k8s-cli: {setter: {name: USER_ID, value: "", required: true}}
"""
UNSET = manifest("v1 Pod", POD + 'securityContext:\n  runAsUser: "" # {"$openapi":"USER_ID"}\n')


def test_judges_a_required_setter_by_its_example(judged: Judged) -> None:
    assert judged(UNSET, KRMFILE) == []
    text = KRMFILE.replace("type: integer", "type: string").replace('"1000"', '"me"')
    assert judged(UNSET, text) == [
        f'{place(UNSET, chr(34) * 2 + " #")} wrong-type: runAsUser is "me" where a whole number is expected in {ALL}'
    ]
