"""docs/authoring.md: its table of fields against the code that reads them, and its variables of README fragments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import real
from documents import pages
from packyard.build import assemble
from packyard.bundle import lock
from packyard.bundle.lock import Lock, Pin
from packyard.errors import InputError
from packyard.source import library, package, workspace
from packyard.source.fields import Fields
from packyard.work.memo import Memo

PAGE = (pages.DOCS / "authoring.md").read_text("utf-8")
WORKSPACE = """
apiVersion: packyard/v1
kind: Workspace
name: all
prefix: use-cases
license: LICENSE
kubernetes: ["1.34"]
libraries:
- {name: bundle, version: "1", from: https://channel.example}
- {path: parts}
- {git: https://git.example/repository, commit: "0123456789012345678901234567890123456789"}
moved: {OLD: NEW}
"""
PACKAGE = """
apiVersion: packyard/v1
kind: Package
model: {name: m, framework: f, category: c, precision: p, mode: training}
setters: {A: "1"}
moved: {OLD: NEW}
useCases:
  NAME:
    base: part
    storage: [part]
    programs: [part]
    setters: {B: "2"}
    patches:
    - patches/a.yaml
    - path: patches/a.yaml
      target: {group: g, version: v, kind: K, name: n, namespace: s, labelSelector: a=b, annotationSelector: a=b}
    - {patch: "{kind: ConfigMap, metadata: {name: x}}"}
"""


def documented() -> Iterator[tuple[str, str, str]]:
    """Yield file, field and whether it is required, for each field of the table."""
    for file, fields, required, _ in pages.rows(PAGE, "| file | field"):
        first = ""
        for name in re.findall(r"`([^`]+)`", fields):
            first = name if not name.startswith("…") else f"{first.rpartition('.')[0]}{name[1:]}"
            yield file, first, required


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace whose files have every field."""
    write(tmp_path / "packyard.yaml", WORKSPACE)
    write(tmp_path / "LICENSE", "free")
    pins = {name: _copy_of_library(tmp_path / "libraries" / name) for name in ("bundle", "parts", "repository")}
    lock.write(tmp_path / "packyard.lock", Lock(libraries=pins))
    for folder in ("bases", "overlays/storage", "overlays/programs"):
        (tmp_path / folder / "part").mkdir(parents=True)
    write(tmp_path / "packages/all/package.yaml", PACKAGE.replace("NAME", "name"))
    write(tmp_path / "packages/all/patches/a.yaml", "kind: ConfigMap\nmetadata: {name: x}\n")
    return tmp_path


def _copy_of_library(folder: Path) -> Pin:
    write(folder / "packyard.yaml", "apiVersion: packyard/v1\nkind: Library\n")
    digest = library.digest(folder.name, folder)
    return Pin(version="1", channel="", tar=digest, digest=digest)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def test_the_table_has_every_field_that_is_read_and_no_other(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[tuple[str, str]] = set()
    get = Fields._get

    def noted(fields: Fields, key: str) -> object:
        found = get(fields, key)
        path = ".".join(part for part in (fields.path, key) if part)
        asked.add((Path(fields.file).name, path.replace("useCases.name", "useCases.NAME")))
        return found

    monkeypatch.setattr(Fields, "_get", noted)
    package.read(workspace.read(root), "all")
    assert {(file, field) for file, field, _ in documented()} == asked


@pytest.mark.parametrize(("file", "field", "required"), list(documented()))
def test_what_the_table_calls_required_is_required(file: str, field: str, required: str, root: Path) -> None:
    path = root / file if file == "packyard.yaml" else root / "packages/all" / file
    content = yaml.safe_load(path.read_text("utf-8"))
    above, _, key = field.replace("NAME", "name").rpartition(".")
    for each in below(content, above.split(".") if above else []):
        each.pop(key, None)
    write(path, yaml.safe_dump(content))
    try:
        package.read(workspace.read(root), "all")
    except InputError:
        assert required in ("required", "one of them")
    else:
        assert required == ""


def below(content: object, path: list[str]) -> Iterator[dict[str, object]]:
    """Yield the mappings that a path leads to, in all items of a list."""
    if isinstance(content, list):
        for item in content:
            yield from below(item, path)
    elif isinstance(content, dict) and path:
        yield from below(content.get(path[0]), path[1:])
    elif isinstance(content, dict):
        yield content


def test_fragments_may_use_the_variables_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}
    render = assemble.readme.render

    def noted(texts: object, context: dict[str, object], memo: Memo) -> bytes:
        seen.update(context)
        return render(texts, context, memo)  # type: ignore[arg-type]

    monkeypatch.setattr(assemble.readme, "render", noted)
    assemble.assemble(workspace.read(real.REPOSITORY), "mask-rcnn-fp32-training-k8s", "1.0.0")
    table = {
        name: set(re.findall(r"`(\w+)`", meaning))
        for names, meaning in pages.rows(PAGE, "| variable |")
        for name in re.findall(r"`(\w+)`", names)
    }
    assert set(table) == set(seen)
    for name in ("use_cases", "parameters", "rules", "options", "presets"):
        (item, *_) = seen[name]  # type: ignore[misc]
        fields = {field for field in dir(item) if not field.startswith("_") and not callable(getattr(item, field))}
        assert table[name] == fields
