"""READMEs are rendered strictly, sandboxed, and with tables that survive any value."""

from pathlib import Path

import pytest

import tiny
from packyard.core.errors import InputError
from packyard.writing.build.readme import render
from writing.source.libraries import KRMFILE, define


def test_joins_rendered_fragments_with_one_blank_line() -> None:
    fragments = [("a.md", "\n\none {{ x }}\n"), ("b.md", "{% if no %}gone{% endif %}\n"), ("c.md", "three\n\n")]
    assert render(fragments, {"x": "ü", "no": False}) == "one ü\n\nthree\n".encode()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("one\n{{ nmae }}\n", 2, "'nmae' is undefined"),
        ("one\n\n{{ model.precison }}\n", 3, "has no attribute 'precison'"),
        ("one\n{% if %}\n", 2, "Expected an expression"),
        ("one\n{{ 1 / 0 }}\n", 2, "division by zero"),
        ("one\n{{ 'x' | unknown_filter }}\n", 2, "No filter named 'unknown_filter'"),
        ("one\n{% include 'other.md' %}\n", 2, "no loader"),
        ("one\n{{ ''.__class__.__mro__ }}\n", 2, "unsafe|__class__"),
        ("one\n{{ model.name }}\n", 2, "this has no value, and would be printed as None"),
        ("{{ lipsum() }}", 1, "undefined"),
        ("{{ [1, 2, 3] | random }}", 1, "No filter"),
        ("{{ 'x' * 1000000000 }}", 1, "takes too much memory"),
        ("{{ '%9999999999d' | format(1) }}", 1, "takes too much memory"),
        ("{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}", 1, "memory"),
    ],
)
def test_names_the_file_and_line_of_a_fault(text: str, line: int, message: str) -> None:
    with pytest.raises(InputError, match=rf"^docs/a\.md:{line}: .*({message})"):
        render([("ok.md", "fine"), ("docs/a.md", text)], {"model": {"name": None}})
    assert render([("a.md", "{{ '../' * 3 }}{{ 7 * 6 }}")], {}) == b"../../../42\n", "the next one is rendered"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "text",
    [
        "{{ 9 ** 999999999 }}",
        "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    ],
)
def test_a_fragment_does_not_run_for_long(text: str) -> None:
    with pytest.raises(InputError, match=r"^a\.md:1: takes too much time or memory to render"):
        render([("ok.md", "fine"), ("a.md", text)], {})
    assert render([("ok.md", "fine")], {}) == b"fine\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [("a|b`c``", r"``` a\|b`c`` ```"), ("5", "`5`"), ("", ""), (None, ""), ("one\n\n  two", "`one two`")],
)
def test_a_cell_of_a_table_survives_any_value(value: object, shown: str) -> None:
    assert render([("a.md", "| {{ rows[0] | code | cell }} |")], {"rows": [value]}).decode() == f"| {shown} |\n"


FOREIGN = """\
apiVersion: ray.io/v1
kind: RayJob
metadata:
  name: train
  labels: {app.kubernetes.io/name: train}
spec:
  entrypoint: python train.py
  rayClusterSpec:
    headGroupSpec:
      rayStartParams: {}
      template:
        spec:
          containers:
          - {name: head, image: registry.example/ray:2.9.0, resources: {limits: {memory: 1Gi}}}
          volumes:
          - name: data
            nfs:
              server: a.example # {"$openapi":"NFS_SERVER"}
              path: /export
---
apiVersion: example.com/v1
kind: Task
metadata:
  name: train
  labels: {app.kubernetes.io/name: train}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: train
  labels: {app.kubernetes.io/name: train}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: train}
subjects: [{kind: ServiceAccount, name: default}]
"""


def test_the_fragments_of_the_library_say_of_a_foreign_package_only_what_it_has(tmp_path: Path) -> None:
    root = tiny.workspace(tmp_path / "ws")
    (root / "packyard.yaml").write_text((root / "packyard.yaml").read_text() + "libraries: [builtin]\n")
    for number, text in enumerate(FOREIGN.split("---\n")):
        tiny.write(root / f"bases/one/{number}.yaml", text)
    tiny.replace(root / "bases/one/kustomization.yaml", "[cm.yaml]", "[cm.yaml, 0.yaml, 1.yaml, 2.yaml]")
    server = define("NFS_SERVER", "a.example", "description: The server.")
    size = define("SIZE", "", "description: How much.", required=True)
    tiny.write(root / "bases/one/Krmfile", KRMFILE + server + size)
    tiny.replace(root / "bases/one/cm.yaml", 'a: "1"', 'a: "" # {"$openapi":"SIZE"}')
    tiny.done("build", "p", "--version", "1", "--to", tmp_path / "out", "--workspace", root)
    text = (tmp_path / "out/p/README.md").read_text()
    assert "kubectl get pods -n ml\n" in text
    assert "packyard set one SIZE=VALUE\n" in text
    assert "- KubeRay 1.4 or later (tried up to 1.6):\n  `helm repo add kuberay " in text
    assert "- An operator of example.com for tasks.\n" in text
    for foreign in ("NAMESPACE", "USER_ID", "FS_ID", "RUN_NAME", "OUTPUT_DIR", "do-not-disrupt", "/instance="):
        assert foreign not in text, foreign
