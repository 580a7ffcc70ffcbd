"""docs/from-kustomize-cfg.md and functions.md: each difference has a test that is there, and each such test its row."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

import real
from casefiles import cases
from documents import pages

PAGE = (pages.DOCS / "from-kustomize-cfg.md").read_text("utf-8")
NAMED = re.findall(r"`(test_\w+)`", PAGE)
CASES = re.findall(r"`(cfg/[\w.*-]+)`", PAGE)
TESTS = real.REPOSITORY / "tests"


def defined(file: Path) -> set[str]:
    return set(re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE))


def test_every_test_that_the_page_names_is_there() -> None:
    there = set().union(*(defined(file) for file in TESTS.rglob("test_*.py")))
    functions = re.findall(r"`(test_\w+)`", (pages.DOCS / "functions.md").read_text("utf-8"))
    assert {*NAMED, *functions} - there == set()


def test_every_row_names_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
    assert [row for row in rows if re.search("`(test_|cfg/)", row) is None and not row.endswith("| test |")] == []


def test_every_difference_that_is_tested_is_on_the_page_once() -> None:
    (found,) = TESTS.rglob("test_differences_real.py")
    assert {name: NAMED.count(name) for name in defined(found)} == dict.fromkeys(defined(found), 1)
    named = [PurePath(case.id) for case in cases("cfg/*") if "differs" in case.parts]
    assert [[name for name in CASES if case.match(name)] for case in named] == [
        [name] for case in named for name in CASES if case.match(name)
    ]
    assert [name for name in CASES if not any(case.match(name) for case in named)] == []
