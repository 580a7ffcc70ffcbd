"""docs/authoring.md: its table of fields against the code that reads them, and its variables of README fragments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import everyfield
import real
from documents import pages
from packyard.core.errors import InputError
from packyard.core.work.memo import Memo
from packyard.core.yaml.fields import Fields
from packyard.writing.build import assemble
from packyard.writing.source import workspace

PAGE = (pages.DOCS / "authoring.md").read_text("utf-8")


def documented() -> Iterator[tuple[str, str, str]]:
    """Yield file, field and whether it is required, for each field of the table."""
    for file, fields, required, _ in pages.rows(PAGE, "| file | field"):
        first = ""
        for name in re.findall(r"`([^`]+)`", fields):
            first = name if not name.startswith("…") else f"{first.rpartition('.')[0]}{name[1:]}"
            yield file, first, required


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return everyfield.workspace(tmp_path)


def test_the_table_has_every_field_that_is_read_and_no_other(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[tuple[str, str]] = set()
    get = Fields._get

    def noted(fields: Fields, key: str) -> object:
        found = get(fields, key)
        path = ".".join(part for part in (fields.path, key) if part)
        asked.add((everyfield.as_file(fields.file), everyfield.as_documented(path)))
        return found

    monkeypatch.setattr(Fields, "_get", noted)
    everyfield.read(root)
    assert {(file, field) for file, field, _ in documented()} == asked


@pytest.mark.parametrize(("file", "field", "required"), list(documented()))
def test_what_the_table_calls_required_is_required(file: str, field: str, required: str, root: Path) -> None:
    path = root / file if file == "packyard.yaml" else root / "packages/all" / file.replace("*", "all")
    content = yaml.safe_load(path.read_text("utf-8"))
    above, _, key = field.replace("NAME", "name").rpartition(".")
    for each in below(content, above.split(".") if above else []):
        each.pop(key, None)
    path.write_text(yaml.safe_dump(content))
    try:
        everyfield.read(root)
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
