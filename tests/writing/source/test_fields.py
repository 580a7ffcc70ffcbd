"""Files that authors write: each field is read, and refused where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.core.errors import PackyardError
from packyard.core.work.memo import Memo
from packyard.core.yaml.document import source_of
from packyard.core.yaml.sources import Sources
from packyard.using.setters import check
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.rules import rule
from packyard.writing.source import pod_patch, required
from writing.source import everyfield

KRMFILE = """\
apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.A:
      type: integer
      minimum: 1
      description: What is counted.
      x-k8s-cli: {setter: {name: A, value: "1", isSet: true}}
    io.k8s.cli.setters.L:
      type: array
      items: {type: string, maxLength: 3}
      x-k8s-cli: {setter: {name: L, listValues: [a, b]}}
    io.k8s.cli.substitutions.S:
      x-k8s-cli:
        substitution:
          name: S
          pattern: a-${A}
          values: [{marker: "${A}", ref: "#/definitions/io.k8s.cli.setters.A"}]
rules:
- {rule: A < 9, message: Few.}
"""
PODS = """\
apiVersion: packyard/v1
kind: PodPatch
targets: [{kind: Job, labelSelector: a=b}]
roles: [worker]
absent: [affinity]
append: [tolerations]
metadata: {annotations: {a: b}}
spec:
  affinity: {}
  tolerations: [{key: a}]
  containers: [{name: (a|b), tty: true}]
"""
TEXTS = {
    "pods": PODS,
    "package": everyfield.PACKAGE.replace("NAME", "name"),
    "workspace": everyfield.WORKSPACE,
    "krmfile": KRMFILE,
    "test": everyfield.TESTS,
}
FILES = {
    "pods": "overlays/storage/part/pods.yaml",
    "package": "packages/all/package.yaml",
    "workspace": "packyard.yaml",
    "test": "packages/all/tests/all.yaml",
}

#: What is refused: the file, a text in it, and what stands in its place.
FAULTS = [
    ("package", "kind: Package", ""),
    ("package", "framework: f", "framework: [f]"),
    ("package", "category: c", 'category: ""'),
    ("package", "mode: training", "mood: training"),
    ("package", "model: {name: m, framework: f, category: c, precision: p, mode: training}", ""),
    ("package", "moved: {OLD: NEW}", 'moved: {OLD: " "}'),
    ("package", "  name:\n", "  Name:\n"),
    ("package", "  name:\n", "  options/x:\n"),
    ("package", "    base: part\n", ""),
    ("package", "base: part", "base: ../part"),
    ("package", "storage: [part]", "storage: [part, part]"),
    ("package", "programs: [part]", "programs: [Part]"),
    ("package", "    - path: patches/a.yaml\n      target", "    - target"),
    ("package", "    - path: patches/a.yaml\n", "    - path: patches/a.yaml\n      patch: x\n"),
    ("package", "target: {group: g, version: v, kind: K, name: n, namespace: s, labelSelector: a=b,"
     " annotationSelector: a=b}", "target: {}"),
    ("workspace", "kind: Workspace", "kind: Package"),
    ("workspace", "prefix: use-cases\n", ""),
    ("workspace", "prefix: use-cases", "prefix: ../x"),
    ("workspace", "moved: {OLD: NEW}", "moved: {OLD: }"),
    ("workspace", "- builtin", "- built-in"),
    ("workspace", "{path: ./libraries/parts}", "{path: /parts}"),
    ("workspace", "{path: ./libraries/parts}", "{name: Parts, path: ./libraries/parts}"),
    ("workspace", 'version: "1", ', ""),
    ("package", "definitions: [os.example.com]", "definitions: [os]"),
    ("package", "offers: [Resource example.com/p]", "offers: [example.com/p]"),
    ("package", ", offers: [Resource example.com/p]", ""),
    ("package", "link: https:", "link: http:"),
    ("package", ", keys: [k]", ""),
    ("package", ", keys: [k]", ', keys: [k], oldest: "1"'),
    ("package", 'kubernetes: "1.31"', 'kubernetes: "v1"'),
    ("package", 'kubernetes: "1.31"', "description: d"),
    ("krmfile", "rules:", "requires: [{secret: s}]\nrules:"),
    ("test", "tests:", "test:"),
    ("test", 'set: {B: "2"}', "set: {B: }"),
    ("test", "refused: B", "expect: [], refused: "),
    ("test", "{kind: K, exists: false}", "{exists: false}"),
    ("test", "exists: false", "exists: maybe"),
    ("test", "equal: {c: 1}", "equal: 1, contains: 2"),
    ("test", "matches: ^x", "matches: 1"),
    ("pods", "targets:", "target:"),
    ("pods", "{kind: Job, labelSelector: a=b}", "{}"),
    ("pods", "annotations", "annotation"),
    ("pods", "name: (a|b), ", ""),
    ("pods", "spec:", "specs:"),
    ("krmfile", "minimum: 1", 'minimum: "1"'),
    ("krmfile", "      minimum: 1", "      pattern: [a]"),
    ("krmfile", "      minimum: 1", "      nullable: maybe"),
    ("krmfile", "- {rule: A < 9, message: Few.}", "- A < 9"),
    ("krmfile", ", message: Few.", ""),
    ("krmfile", "rule: A < 9", "rules: A < 9"),
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return everyfield.workspace(tmp_path)


def is_refused(name: str, text: str, root: Path) -> bool:
    """Say whether packyard refuses a file."""
    try:
        if name == "krmfile":
            krmfile = Krmfile(source_of(text.encode(), "Krmfile"))
            rule.read(krmfile.root)
            required.gather([("Krmfile", text.encode())], Memo())
            return any(True for setter in krmfile.definitions.setters.values() for _ in check.mistyped(setter.schema))
        (root / FILES[name]).write_text(text)
        if name == "pods":
            pod_patch.read(Sources(root), FILES[name])
        everyfield.read(root)
    except PackyardError:
        return True
    return False


def test_a_file_with_every_field_is_read(root: Path) -> None:
    for name, text in TEXTS.items():
        assert not is_refused(name, text, root)


@pytest.mark.parametrize(("name", "old", "new"), FAULTS)
def test_a_field_that_is_wrong_is_refused(name: str, old: str, new: str, root: Path) -> None:
    assert TEXTS[name].count(old) >= 1, old
    assert is_refused(name, TEXTS[name].replace(old, new, 1), root)
