"""What an option must not do to a file that somebody may have edited by hand."""

from __future__ import annotations

from textwrap import indent

import pytest

from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint
from writing.checks import practicerules

KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.A:
      x-k8s-cli: {setter: {name: A, value: "a"}}
"""
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n"
POD = "/spec/template/spec"
BOUND = 'metadata:\n  name: any\n  labels:\n    a: a # {"$openapi":"A"}\n'


def judged(component: str, **files: str) -> list[str]:
    """Lint an option; ``job_json6902`` is ``job.json6902``."""
    named = {f"option/{name.replace('_', '.')}": text.encode() for name, text in files.items()}
    resources = {path: data for path, data in named.items() if path.endswith(".yaml")}
    resources["option/kustomization.yaml"] = (COMPONENT + component).encode()
    resources.setdefault("option/labels.yaml", BOUND.encode())
    patches = {path: data for path, data in named.items() if path not in resources}
    found = practicerules.without(lint(PackageFiles(KRMFILE.encode(), resources, patches=patches)))
    return [f"{item.file.removeprefix('option/')}:{item.line} {item.rule}" for item in found]


def inline(*operations: str, kind: str = "Job") -> str:
    return f"- target: {{kind: {kind}}}\n  patch: |-\n" + indent("".join(f"- {each}\n" for each in operations), "    ")


GUARD = f"{{op: test, path: {POD}/containers/0/name, value: training}}"
MOUNT = f"{{op: add, path: {POD}/containers/0/volumeMounts/-, value: {{name: a, mountPath: /a}}}}"


def test_an_index_needs_a_test_of_whom_it_means() -> None:
    assert judged(inline(GUARD, MOUNT)) == []
    assert judged(inline(MOUNT)) == ["kustomization.yaml:6 unguarded-index"]
    assert judged(inline(MOUNT, GUARD)) == ["kustomization.yaml:6 unguarded-index"]
    assert judged(inline(GUARD.replace("training", "null"), MOUNT)) == ["kustomization.yaml:7 unguarded-index"]
    assert judged(inline(GUARD.replace("containers/0", "containers/1"), MOUNT)) == [
        "kustomization.yaml:7 unguarded-index"
    ]


def test_what_the_patch_itself_brought_needs_no_test() -> None:
    first = f"{POD}/initContainers/0"
    operations = [
        GUARD,
        f"{{op: add, path: {first}, value: {{name: copy}}}}",
        f"{{op: copy, from: {POD}/containers/0/envFrom, path: {first}/envFrom}}",
        f"{{op: add, path: {first}/envFrom/-, value: {{secretRef: {{name: a}}}}}}",
        f"{{op: copy, from: /option/volumes/0, path: {POD}/volumes/-}}",
    ]
    assert judged(inline(*operations)) == []
    assert judged(inline(*operations[1:])) == ["kustomization.yaml:7 unguarded-index"]


@pytest.mark.parametrize(
    ("operation", "is_refused"),
    [
        (f"{{op: replace, path: {POD}/volumes, value: [{{name: a}}]}}", True),
        (f"{{op: add, path: {POD}/tolerations, value: []}}", True),
        (f"{{op: copy, from: /spec/option/tolerations, path: {POD}/tolerations}}", True),
        (f"{{op: remove, path: {POD}/volumes}}", True),
        (f"{{op: replace, path: {POD}/containers/0/command, value: [sleep]}}", False),
        (f"{{op: remove, path: {POD}/containers/0/args}}", False),
        ("{op: replace, path: /data/A, value: b}", False),
    ],
)
def test_a_list_is_not_replaced(operation: str, is_refused: bool) -> None:
    assert judged(inline(GUARD, operation)) == (["kustomization.yaml:7 list-replaced"] if is_refused else [])
    empty = [f"{{op: test, path: {POD}/{name}, value: null}}" for name in ("volumes", "tolerations")]
    is_refused = "replace" in operation or "remove" in operation if is_refused else False
    assert judged(inline(GUARD, *empty, operation)) == (["kustomization.yaml:9 list-replaced"] if is_refused else [])


def test_files_of_operations_are_judged_by_their_own_lines() -> None:
    file = "- {path: job.json6902, target: {kind: Job}}\n"
    assert judged(file, job_json6902=f"- {GUARD}\n- {MOUNT}\n") == []
    assert judged(file, job_json6902=f"# A mount.\n- {MOUNT}\n") == ["job.json6902:2 unguarded-index"]
    assert judged(file, job_json6902="- {op: add\n") == ["job.json6902:2 unreadable"]


MERGE = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: any}
spec:
  template:
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: training}]
"""


def test_a_merge_that_names_a_list_of_a_custom_resource_replaces_it() -> None:
    file = "- {path: merge.yaml, target: {kind: MPIJob}}\n"
    assert judged(file, merge_yaml=MERGE) == ["merge.yaml:7 list-replaced", "merge.yaml:8 list-replaced"]
    guard = inline(*(f"{{op: test, path: {POD}/{name}, value: null}}" for name in ("tolerations", "containers")))
    assert judged(guard.replace("Job", "MPIJob") + file, merge_yaml=MERGE) == []
    assert judged(guard + file, merge_yaml=MERGE) == ["merge.yaml:7 list-replaced", "merge.yaml:8 list-replaced"]
    own = MERGE.replace("  template:\n    spec:", "  option:\n    any:")
    assert judged(file, merge_yaml=own) == []


def test_a_merge_joins_lists_of_built_in_kinds_that_have_a_key() -> None:
    file = "- {path: merge.yaml, target: {kind: (Deployment|Job)}}\n"
    assert judged(file, merge_yaml=MERGE) == ["merge.yaml:7 list-replaced"]
    assert judged(file.replace("Deployment", "JobSet"), merge_yaml=MERGE) == [
        "merge.yaml:7 list-replaced",
        "merge.yaml:8 list-replaced",
    ]


def test_a_setter_comment_binds_nothing_in_operations_or_in_an_inline_patch() -> None:
    bound = f"- {GUARD}\n- op: add\n  path: /data/A\n" + '  value: a # {"$openapi":"A"}\n'
    file = "- {path: job.json6902, target: {kind: Job}}\n"
    assert judged(file, job_json6902=bound) == ["job.json6902:4 unbound-in-patch"]
    inside = "- target: {kind: Job}\n  patch: |-\n    kind: Job\n" + '    data: a # {"$openapi":"A"}\n'
    assert judged(inside) == ["kustomization.yaml:7 unbound-in-patch"]
