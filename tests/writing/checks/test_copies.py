"""Every finding of trees with known defects: use cases that are edited copies of each other, and nine real packages.

Beside this file, `copies.txt` has those of tests/trees/copies, `zoo.txt` those of the real packages as their users hold
them. With PACKYARD_WRITE=1, the tests write them, for you to read.
"""

import json
import os
from pathlib import Path

import tiny
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.writing.checks import folder


def judge(root: Path, expected: str) -> None:
    findings = folder.lint(Tree(root), judges=schemas.choose(("1.31",))).findings
    found = [
        f"{finding.file.removeprefix(f'{root}/')}:{finding.line}:{finding.column} {finding.severity} {finding.rule}"
        for finding in findings
    ]
    file = Path(__file__).with_name(expected)
    if os.environ.get("PACKYARD_WRITE"):
        file.write_text("".join(f"{line}\n" for line in found))
    assert found == file.read_text().splitlines()


def test_finds_each_fault_of_edited_copies_and_nothing_else() -> None:
    judge(tiny.TREES / "copies", "copies.txt")


def test_finds_the_known_defects_of_real_packages_and_nothing_else(corpus: Path, tmp_path: Path) -> None:
    for case in (corpus / "zoo").glob("*.json"):
        for path, text in json.loads(case.read_text("utf-8"))["before"].items():
            if path == "Krmfile" or path.endswith(".yaml"):
                tiny.write(tmp_path / case.stem / path, text)
    judge(tmp_path, "zoo.txt")
