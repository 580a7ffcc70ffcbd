"""READMEs are rendered strictly, sandboxed, and with tables that survive any value."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tiny
from packyard.core.errors import InputError
from packyard.core.work.memo import Memo
from packyard.writing.build.readme import render


def test_joins_rendered_fragments_with_one_blank_line() -> None:
    fragments = [("a.md", "\n# {{ name }}\n\n\n"), ("empty.md", "{# nothing #}\n"), ("b.md", "text & <b>")]
    assert render(fragments, {"name": "bert"}, Memo()) == b"# bert\n\ntext & <b>\n"


def test_control_lines_leave_no_trace() -> None:
    text = "list:\n  {% for item in items %}\n- {{ item }}\n  {% endfor %}\nend\n"
    assert render([("a.md", text)], {"items": ["x", "y"]}, Memo()) == b"list:\n- x\n- y\nend\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("one\n{{ nmae }}\n", 2, "'nmae' is undefined"),
        ("one\n\n{{ model.precison }}\n", 3, "has no attribute 'precison'"),
        ("one\n{% if %}\n", 2, "Expected an expression"),
        ("{% for %}", 1, "."),
        ("one\n{{ 1 / 0 }}\n", 2, "division by zero"),
        ("one\n{{ 'x' | unknown_filter }}\n", 2, "No filter named 'unknown_filter'"),
        ("one\n{% include 'other.md' %}\n", 2, "cannot include"),
        ("one\n{{ ''.__class__.__mro__ }}\n", 2, "unsafe|__class__"),
        ("one\n{{ model.name }}\n", 2, "this has no value, and would be printed as None"),
    ],
)
def test_names_the_file_and_line_of_a_fault(text: str, line: int, message: str) -> None:
    with pytest.raises(InputError, match=rf"^docs/a\.md:{line}: .*({message})"):
        render([("ok.md", "fine"), ("docs/a.md", text)], {"model": {"name": None}}, Memo())


@pytest.mark.parametrize(
    "text",
    ["{{ 'x' * 1000000000 }}", "{{ 'x' * 1000 * 1000 * 1000 }}", "{{ 9 ** 999999999 }}", "{{ '%999999999d' % 1 }}"],
)
def test_a_few_signs_do_not_become_gigabytes(text: str) -> None:
    with pytest.raises(InputError, match="takes numbers up to"):
        render([("a.md", text)], {}, Memo())
    assert render([("a.md", "{{ '../' * 3 }}{{ 7 * 6 }}{{ 2 ** 8 }}{{ 7 % 4 }}")], {}, Memo()) == b"../../../422563\n"


LARGE = [
    "{{ '{:>9999999999}'.format(1) }}",
    "{{ 'x' | center(9999999999) }}",
    "{{ 'x'.ljust(9999999999) }}",
    "{{ '%9999999999d' | format(1) }}",
    "{{ [1] | batch(9999999999, 1) | list }}",
    "{{ ('a' * 1000) | replace('a', 'b' * 1000) }}",
    "{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
    "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = {1: n.x, 2: n.x} %}{% endfor %}{{ n.x }}",
    "{% for i in range(99999) %}xxxxxxxxxxxxxxxx{{ 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy' }}{% endfor %}",
    "{% for i in range(9999) %}{{ range(99999) | list | length }}{% endfor %}",
]


@pytest.mark.parametrize("text", LARGE)
def test_no_value_and_no_text_grows_beyond_bounds(text: str) -> None:
    with pytest.raises(InputError, match=r"^a\.md:1: .*(takes|may|unsafe|No filter)"):
        render([("a.md", text)], {}, Memo())


@pytest.mark.parametrize("text", ["{{ lipsum() }}", "{{ [1, 2, 3] | random }}"])
def test_a_fragment_is_the_same_at_each_run(text: str) -> None:
    with pytest.raises(InputError, match=r"undefined|No filter"):
        render([("a.md", text)], {}, Memo())


@pytest.mark.nightly
@pytest.mark.parametrize(
    "text",
    [
        "one\n{% for a in range(99999) %}\n{% for b in range(99999) %}\n{% endfor %}\n{% endfor %}",
        "one\n{% macro f(n) %}{{ f(n - 1) if n }}{{ f(n - 1) if n }}{% endmacro %}\n{{ f(90) }}",
        "one\n{% for a in rows recursive %}{{ loop(rows) if loop.depth < 90 }}{{ loop(rows) if loop.depth < 90 }}"
        "{% endfor %}",
    ],
)
def test_a_fragment_does_not_loop_for_long(text: str) -> None:
    with pytest.raises(InputError, match=r"a\.md:[23]: a fragment may take 100000 turns of loops, and calls"):
        render([("a.md", text)], {"rows": [1]}, Memo())


@pytest.mark.parametrize(
    ("value", "shown"),
    [("a|b`c``", r"``` a\|b`c`` ```"), ("5", "`5`"), ("", ""), (None, ""), ("one\n\n  two", "`one two`")],
)
def test_a_cell_of_a_table_survives_any_value(value: object, shown: str) -> None:
    assert render([("a.md", "| {{ rows[0] | code | cell }} |")], {"rows": [value]}, Memo()).decode() == f"| {shown} |\n"


def test_jinja_is_not_imported_before_it_is_needed() -> None:
    program = "import packyard.writing.build.readme, packyard.sharing, sys\n"
    program += "sys.exit(bool({'jinja2', 'requests'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


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
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: train
  labels: {app.kubernetes.io/name: train}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: train}
subjects: [{kind: ServiceAccount, name: default}]
"""
KRMFILE = """\
apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.NFS_SERVER:
      description: The server.
      x-k8s-cli: {setter: {name: NFS_SERVER, value: a.example}}
    io.k8s.cli.setters.SIZE:
      description: How much.
      x-k8s-cli: {setter: {name: SIZE, value: "", required: true}}
"""


def test_the_fragments_of_the_library_say_of_a_foreign_package_only_what_it_has(tmp_path: Path) -> None:
    root = tiny.workspace(tmp_path / "ws")
    (root / "packyard.yaml").write_text((root / "packyard.yaml").read_text() + "libraries: [builtin]\n")
    for number, text in enumerate(FOREIGN.split("---\n")):
        tiny.write(root / f"bases/one/{number}.yaml", text)
    tiny.replace(root / "bases/one/kustomization.yaml", "[cm.yaml]", "[cm.yaml, 0.yaml, 1.yaml]")
    tiny.write(root / "bases/one/Krmfile", KRMFILE)
    tiny.replace(root / "bases/one/cm.yaml", 'a: "1"', 'a: "" # {"$openapi":"SIZE"}')
    code, text, said = tiny.run("build", "p", "--readmes", "-", "--workspace", root)
    assert code == 0, said
    assert "kubectl get pods -n ml\n" in text
    assert "kustomize cfg set one SIZE VALUE\n" in text
    for foreign in ("NAMESPACE", "USER_ID", "FS_ID", "RUN_NAME", "OUTPUT_DIR", "do-not-disrupt", "/instance="):
        assert foreign not in text, foreign
