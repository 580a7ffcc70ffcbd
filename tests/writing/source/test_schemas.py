"""The JSON Schemas: right for every file of ours and every field, and as strict as the readers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

import real
import tiny
from packyard.core.errors import PackyardError
from packyard.core.work.memo import Memo
from packyard.core.yaml.document import source_of
from packyard.core.yaml.sources import Sources
from packyard.using.setters import check
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.rules import rule
from packyard.writing.source import needs, pod_patch, schemas
from writing.source import everyfield

KRMFILE = tiny.krmfile("""\
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
""")
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

#: What both refuse: the file, a text in it, and what stands in its place.
FAULTS = [
    ("package", "category: c", 'category: ""'),
    ("package", "mode: training", "mode: train"),
    ("package", "moved: {OLD: NEW}", 'moved: {OLD: " "}'),
    ("package", "  name:\n", "  Name:\n"),
    ("package", "    base: part\n", ""),
    ("package", "storage: [part]", "storage: [part, part]"),
    ("package", "    - path: patches/a.yaml\n", "    - path: patches/a.yaml\n      patch: x\n"),
    ("package", "target: {group: g, version: v, kind: K, name: n, namespace: s, labelSelector: a=b,"
     " annotationSelector: a=b}", "target: {}"),
    ("workspace", "prefix: use-cases\n", ""),
    ("workspace", "- builtin", "- built-in"),
    ("workspace", "{path: ./libraries/parts}", "{path: /parts}"),
    ("workspace", 'version: "1", ', ""),
    ("package", "definitions: [os.example.com]", "definitions: [os]"),
    ("package", ", offers: [Resource example.com/p]", ""),
    ("package", ", keys: [k]", ', keys: [k], oldest: "1"'),
    ("package", 'kubernetes: "1.31"', "description: d"),
    ("krmfile", "rules:", "requires: [{secret: s}]\nrules:"),
    ("test", "refused: B", "expect: [], refused: "),
    ("test", "exists: false", "exists: maybe"),
    ("test", "equal: {c: 1}", "equal: 1, contains: 2"),
    ("pods", "{kind: Job, labelSelector: a=b}", "{}"),
    ("pods", "name: (a|b), ", ""),
    ("krmfile", "minimum: 1", 'minimum: "1"'),
    ("krmfile", "      minimum: 1", "      nullable: maybe"),
    ("krmfile", ", message: Few.", ""),
]  # fmt: skip


@pytest.fixture(scope="module")
def validators() -> dict[str, Any]:
    return {name: jsonschema_rs.validator_for(json.loads(schemas.read(name))) for name in schemas.NAMES}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return everyfield.workspace(tmp_path)


def is_refused(name: str, text: str, root: Path) -> bool:
    """Say whether packyard refuses a file."""
    try:
        if name == "krmfile":
            krmfile = Krmfile(source_of(text.encode(), "Krmfile"))
            rule.read(krmfile.root)
            needs.gather([("Krmfile", text.encode())], Memo())
            return any(True for setter in krmfile.definitions.setters.values() for _ in check.mistyped(setter.schema))
        (root / FILES[name]).write_text(text)
        if name == "pods":
            pod_patch.read(Sources(root), FILES[name])
        everyfield.read(root)
    except PackyardError:
        return True
    return False


def ours() -> Iterator[tuple[str, Path]]:
    """Yield every file of the catalogue, and those of the tests, with the name of its schema."""
    yield "workspace", real.REPOSITORY / "packyard.yaml"
    yield from (("package", file) for file in real.REPOSITORY.glob("packages/*/package.yaml"))
    yield from (("test", file) for file in real.REPOSITORY.glob("packages/*/tests/*.yaml"))
    yield from (("pods", file) for file in real.REPOSITORY.glob("overlays/*/*/pods.yaml"))
    for folder in (".", "bases", "overlays", "packages"):
        pattern = "Krmfile" if folder == "." else "**/Krmfile"
        yield from (("krmfile", file) for file in (real.REPOSITORY / folder).glob(pattern))


def test_every_file_of_ours_is_valid(validators: dict[str, Any]) -> None:
    found = list(ours())
    assert len(found) > 40
    for name, file in found:
        for document in yaml.safe_load_all(file.read_text()):
            assert not [str(error) for error in validators[name].iter_errors(document)], file


def test_a_file_with_every_field_is_valid_and_so_is_a_library(validators: dict[str, Any], root: Path) -> None:
    for name, text in TEXTS.items():
        assert not is_refused(name, text, root)
        assert not [str(error) for error in validators[name].iter_errors(yaml.safe_load(text))], name
    library = {"apiVersion": "packyard/v1", "kind": "Library", "name": "parts", "license": "LICENSE"}
    assert validators["workspace"].is_valid(library)


@pytest.mark.parametrize(("name", "old", "new"), FAULTS)
def test_reader_and_schema_refuse_the_same(
    name: str, old: str, new: str, validators: dict[str, Any], root: Path
) -> None:
    assert old in TEXTS[name]
    text = TEXTS[name].replace(old, new, 1)
    assert is_refused(name, text, root)
    assert not validators[name].is_valid(yaml.safe_load(text))
