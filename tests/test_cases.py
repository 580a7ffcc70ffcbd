"""The cases of tests/cases/: what a command does to a tree of files, as a diff. A case is added without Python.

    VERB/NAME/before/           the files that the commands find, in the working directory
    VERB/NAME/args              the words behind `packyard`, a command on each line
    VERB/NAME/expected.diff     what the commands change; no file: nothing
    VERB/NAME/expected-output   what the last one prints on standard output; no file: not compared
    VERB/NAME/expected-error    what the last one prints on standard error, and exits with 1; no file: it succeeds

`PACKYARD_WRITE=1 pytest tests/test_cases.py -k NAME` writes expected.diff or expected-error, for you to read. `before`
may be a link to a folder of tests/trees/. Each case of `cfg` is also run by kustomize 3.8.7, which has to do the same;
where it does not, a file `differs` in the case says why.
"""

from __future__ import annotations

import os
import shlex
import shutil
from difflib import unified_diff
from pathlib import Path

import pytest

import tiny
from served import Cfg

CASES = Path(__file__).with_name("cases")
each_case = pytest.mark.parametrize(
    "case", [pytest.param(file.parent, id="/".join(file.parent.parts[-2:])) for file in sorted(CASES.glob("*/*/args"))]
)
_BINARY = (".gz",)


@each_case
def test_a_command_does_what_its_case_says(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_tree(case, tmp_path))
    done = [tiny.run(*words) for words in _commands(case)]
    assert all(code == 0 for code, _, _ in done[:-1]), done
    code, output, error = done[-1]
    found = {"expected.diff": _diff(case / "before", tmp_path / "tree")}
    if (case / "expected-output").exists():
        found["expected-output"] = output
    if code:
        found["expected-error"] = error
    if os.environ.get("PACKYARD_WRITE"):
        _write(case, found)
    assert {name: text for name, text in found.items() if text} == _expected(case)
    assert code in (0, 1)


@pytest.mark.parametrize(
    "case",
    [item for item in sorted(CASES.glob("cfg/*")) if not (item / "differs").exists()],
    ids=lambda item: item.name,
)
def test_kustomize_3_8_7_does_what_a_case_of_cfg_says(case: Path, cfg3: Cfg, tmp_path: Path) -> None:
    folder = _tree(case, tmp_path)
    done = [cfg3(*words[1:], cwd=folder) for words in _commands(case)]
    expected = _expected(case)
    assert (done[-1].returncode == 1) is ("expected-error" in expected)
    assert _diff(case / "before", folder) == expected.get("expected.diff", "")
    assert done[-1].stdout == expected.get("expected-output", done[-1].stdout)


def _tree(case: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(case / "before", tmp_path / "tree"))


def _commands(case: Path) -> list[list[str]]:
    return [shlex.split(line) for line in (case / "args").read_text("utf-8").splitlines()]


def _expected(case: Path) -> dict[str, str]:
    return {file.name: _text(file) for file in case.glob("expected*")}


def _write(case: Path, found: dict[str, str]) -> None:
    for name in ("expected.diff", "expected-error", "expected-output"):
        if found.get(name):
            (case / name).write_bytes(found[name].encode())
        else:
            (case / name).unlink(missing_ok=True)


def _diff(before: Path, after: Path) -> str:
    """Return what changed in all files of two trees; of binary files only that they are there."""
    paths = sorted(
        {file.relative_to(root).as_posix() for root in (before, after) for file in root.rglob("*") if file.is_file()}
    )
    return "".join(_file_diff(path, before / path, after / path) for path in paths)


def _file_diff(path: str, before: Path, after: Path) -> str:
    names = [f"a/{path}" if before.exists() else "/dev/null", f"b/{path}" if after.exists() else "/dev/null"]
    if path.endswith(_BINARY):
        return "" if before.exists() and after.exists() else f"Binary files {names[0]} and {names[1]} differ\n"
    lines = (_text(file).splitlines(keepends=True) if file.exists() else [] for file in (before, after))
    marked = (
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in unified_diff(*lines, *names)
    )
    return "".join(marked)


def _text(file: Path) -> str:
    return file.read_bytes().decode()
