"""Names: what Kubernetes refuses, as shipped and at the longest that setters admit, and what is derived from them."""

import re

import pytest

import tiny
from writing.checks.linting import lint, package

BOUND = ' # {"$openapi":"NAME"}'
COUNT = ' # {"$openapi":"COUNT"}'
_RULES = ("no-name", "name-too-long", "name-without-limit")


def krmfile(limit: str = "maxLength: 20", count: str = "maximum: 100", name: str = "run") -> str:
    """Return definitions: NAME is ``train-${RUN}``, six characters and those of RUN; COUNT a number."""
    return f"""\
openAPI:
  definitions:
    io.k8s.cli.setters.RUN:
      type: string
      {limit}
      example: other
      x-k8s-cli: {{setter: {{name: RUN, value: {name}}}}}
    io.k8s.cli.substitutions.NAME:
      x-k8s-cli:
        substitution:
          name: NAME
          pattern: train-${{RUN}}
          values: [{{marker: "${{RUN}}", ref: "#/definitions/io.k8s.cli.setters.RUN"}}]
    io.k8s.cli.setters.COUNT:
      type: integer
      minimum: 1
      {count}
      x-k8s-cli: {{setter: {{name: COUNT, value: "2"}}}}
"""


def messages(text: str, definitions: str = "kind: Krmfile\n") -> list[str]:
    found = lint(package({"a.yaml": text}, definitions))
    return [f"{each.line}:{each.column} {each.severity} {each.message}" for each in found if each.rule in _RULES]


def named(kind: str, spec: str = "", name: str = "train-run" + BOUND) -> str:
    version, _, short = kind.partition(" ")
    return f"apiVersion: {version}\nkind: {short}\nmetadata:\n  name: {name}\nspec:\n  count: 2{COUNT}\n{spec}"


#: A TrainJob's runtime. Its own numbers are not for the pods that train, and how many complete is never said.
RUNTIME = tiny.text("checks/runtime.yaml")
#: What each kind leaves for its name, where COUNT goes up to 100.
KINDS = [
    ("batch/v1 Job", f"  completionMode: Indexed\n  parallelism: 2{COUNT}\n", 60),
    ("batch/v1 Job", "  completionMode: Indexed\n  completions: 10\n", 61),
    ("apps/v1 StatefulSet", f"  replicas: 2{COUNT}\n", 52),
    ("leaderworkerset.x-k8s.io/v1 LeaderWorkerSet", f"  replicas: 2{COUNT}\n", 49),
    ("argoproj.io/v1alpha1 Workflow", "", 63),
    ("argoproj.io/v1alpha1 CronWorkflow", "", 52),
    ("kubeflow.org/v2beta1 MPIJob", f"  mpiReplicaSpecs: {{Worker: {{replicas: 2{COUNT}\n    }}}}\n", 53),
    ("kubeflow.org/v2beta1 MPIJob", "", 54),
    ("kubeflow.org/v1 TFJob", "  tfReplicaSpecs:\n    Chief: {}\n    PS: {replicas: 1000}\n", 55),
    ("kubeflow.org/v1 PyTorchJob", f"  pytorchReplicaSpecs:\n    Worker:\n      replicas: 2{COUNT}\n", 53),
    (
        "jobset.x-k8s.io/v1alpha2 JobSet",
        "  replicatedJobs:\n  - name: worker\n    replicas: 20\n"
        f"    template: {{spec: {{parallelism: 2{COUNT}\n      }}}}\n",
        50,
    ),
    (
        "jobset.x-k8s.io/v1alpha2 JobSet",
        f"  replicatedJobs:\n  - name: worker\n    template: {{spec: {{completions: 2{COUNT}\n      }}}}\n",
        45,
    ),
    ("trainer.kubeflow.org/v1alpha1 TrainJob", "  runtimeRef: {name: of-the-cluster}\n", 63),
    ("trainer.kubeflow.org/v1alpha1 TrainJob", f"  trainer: {{numNodes: 2{COUNT}\n    }}\n{RUNTIME}", 45),
    ("trainer.kubeflow.org/v1alpha1 TrainJob", RUNTIME.replace("mlPolicy: {}", "mlPolicy: {numNodes: 1000}"), 44),
    ("trainer.kubeflow.org/v1alpha1 TrainJob", RUNTIME.replace("step: trainer", "step: other"), 42),
]


@pytest.mark.parametrize(("kind", "spec", "most"), KINDS)
def test_a_name_may_be_as_long_as_what_is_derived_from_it_admits(kind: str, spec: str, most: int) -> None:
    text = named(kind, spec)
    assert messages(text, krmfile(f"maxLength: {most - 6}")) == []
    (fault,) = messages(text, krmfile(f"maxLength: {most - 5}"))
    assert fault.startswith("4:9 error ")
    assert re.search(r"may have \d+ characters, and this may make it \d+$", fault)


@pytest.mark.parametrize("rule", ["size(RUN) <= 46", "RUN.size() <= 46"])
def test_a_rule_on_its_size_limits_a_value_as_maxlength_does(rule: str) -> None:
    definitions = f"rules:\n- rule: {rule}\n  message: No room.\n" + krmfile("maxLength: 60")
    assert messages(named("batch/v1 CronJob"), definitions) == []
    (fault,) = messages(named("batch/v1 CronJob"), definitions.replace("46", "47"))
    assert fault.endswith("this may make it 64")
    (fault,) = messages(named("batch/v1 CronJob"), definitions.replace("46", "70"))
    assert fault.endswith("this may make it 77")


def test_a_name_that_waits_for_its_value_is_judged_with_examples() -> None:
    definitions = krmfile(name='"", required: true')
    assert messages(named("v1 Service", name="train-" + BOUND), definitions) == []
    assert messages(named("v1 Service", name="train-" + BOUND), definitions.replace("other", "Other")) == [
        "4:9 error 'train-Other' is not a valid name for the name of Service"
    ]
    assert messages(named("v1 Service", name="train-" + BOUND), definitions.replace("      example: other\n", "")) == []


def test_the_name_of_a_port_has_fifteen_characters_at_most_and_no_two_dashes_in_a_row() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - ports: [{name: NAME}]\n"
    assert messages(pod.replace("NAME", "a-name-of-15-ch")) == []
    (fault,) = messages(pod.replace("NAME", "a-name-of-16-cha"))
    assert fault.endswith("a port may have 15 characters, and this may make it 16")
    for wrong in ("a--b", "80", "-a", "A"):
        assert len(messages(pod.replace("NAME", f"'{wrong}'"))) == 1, wrong
