"""The table of every field against the code that reads them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from documents import pages
from packyard.core.yaml.fields import Fields
from writing.source import everyfield

PAGE = (pages.DOCS / "generated/fields.md").read_text("utf-8")


def documented() -> Iterator[tuple[str, str]]:
    """Yield file and name of each field of the table."""
    for file, fields, _, _ in pages.rows(PAGE, "| file | field"):
        first = ""
        for name in re.findall(r"`([^`]+)`", fields):
            first = name if not name.startswith("…") else f"{first.rpartition('.')[0]}{name[1:]}"
            yield file, first


def test_the_table_has_every_field_that_is_read_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[tuple[str, str]] = set()
    get = Fields.anything

    def noted(fields: Fields, key: str) -> object:
        found = get(fields, key)
        path = ".".join(part for part in (fields.path, key) if part)
        asked.add((everyfield.as_file(fields.file), everyfield.as_documented(path)))
        return found

    monkeypatch.setattr(Fields, "anything", noted)
    everyfield.read(everyfield.workspace(tmp_path))
    assert {*documented()} == asked
