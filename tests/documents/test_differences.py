"""docs/from-kustomize-cfg.md and functions.md: the tests that they name are there."""

from __future__ import annotations

import re
from pathlib import Path

import real
from documents import pages

PAGE = (pages.DOCS / "from-kustomize-cfg.md").read_text("utf-8")
NAMED = re.findall(r"`(test_\w+)`", PAGE)
TESTS = real.REPOSITORY / "tests"


def defined(file: Path) -> set[str]:
    return set(re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE))


def test_every_test_that_the_page_names_is_there() -> None:
    there = set().union(*(defined(file) for file in TESTS.rglob("test_*.py")))
    functions = re.findall(r"`(test_\w+)`", (pages.DOCS / "functions.md").read_text("utf-8"))
    assert {*NAMED, *functions} - there == set()
