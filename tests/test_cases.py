"""The cases of tests/cases/: what a command does to a tree of files, as a diff. A case is added without Python.

A case is a file VERB/NAME.txtar, written as `casefiles` says. Its first lines are the words behind `packyard`, a
command on each. Below stand

    before/…                    the files that the commands find, in the working directory; none: the folder is empty
    input                       what the commands read on standard input; none: nothing
    expected.diff               what the commands change; none: nothing
    expected-output             what the last one prints on standard output; none: not compared
    expected-messages           what the last one prints on standard error, and succeeds; none: not compared
    expected-error              what the last one prints on standard error, and exits with 1; none: it succeeds

`PACKYARD_WRITE=1 pytest tests/test_cases.py -k NAME` writes what is expected, for you to read.

Each case of `cfg` is also run by kustomize 3.8.7, which has to do the same; what it prints is its own. Three more parts
are for these cases:

    expected-kustomize          what kustomize 3.8.7 does, where the bytes are not the same
    differs                     why it does something else; none: values, comments, definitions, exit codes are the same
    then                        what kustomize does next, and has to do alike in the files that packyard left
"""

import io
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from difflib import unified_diff
from pathlib import Path

import pytest
import yaml

import tiny
from casefiles import Case, cases
from reading import content
from real import Kustomize
from tiny import inside

CASES = cases("*/*")
OF_CFG = [case for case in CASES if case.id.startswith("cfg/")]
_BINARY = (".gz",)
_Done = subprocess.CompletedProcess[str]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_command_does_what_its_case_says(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _tree(case, tmp_path)
    before = _bytes(folder)
    monkeypatch.chdir(folder)
    data = case.parts.get("input", "").encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))
    done = [tiny.run(*words) for words in _commands(case)]
    assert all(code == 0 for code, _, _ in done[:-1]), done
    code, output, error = done[-1]
    found = {"expected.diff": _diff(before, _bytes(folder))}
    if "expected-output" in case.parts:
        found["expected-output"] = output
    if not code and "expected-messages" in case.parts:
        found["expected-messages"] = error
    if code:
        found["expected-error"] = error.partition("\nusage:")[0].replace(str(tmp_path), "")
    if os.environ.get("PACKYARD_WRITE"):
        _write(case, found, "expected.diff", "expected-error", "expected-messages", "expected-output")
    assert {name: text for name, text in found.items() if text} == {
        name: text for name, text in case.parts.items() if name.startswith("expected") and name != "expected-kustomize"
    }
    assert code in (0, 1)


@pytest.mark.oracle
@pytest.mark.parametrize("case", OF_CFG, ids=lambda case: case.file.stem)
def test_kustomize_3_8_7_does_what_a_case_of_cfg_says(case: Case, kustomize3: Kustomize, tmp_path: Path) -> None:
    ours_dir, theirs_dir = (_tree(case, tmp_path / name) for name in ("ours", "theirs"))
    before = _bytes(ours_dir)
    ours, theirs = _run(inside, case, ours_dir), _run(kustomize3, case, theirs_dir)
    expected = _report(theirs, before, theirs_dir)
    differs = "differs" in case.parts
    if differs:
        assert expected != _report(ours, before, ours_dir)
    else:
        assert (ours.returncode, _says(ours_dir)) == (theirs.returncode, _says(theirs_dir))
        if _bytes(ours_dir) == _bytes(theirs_dir):
            expected, theirs_dir = "", ours_dir  # what it does next, it does alike
    if "then" in case.parts:
        folders = (ours_dir, theirs_dir) if theirs_dir != ours_dir else (ours_dir,)
        said = [_run(kustomize3, case, folder, "then").stdout for folder in folders]
        assert "changed" in str(_says(ours_dir))
        if differs:
            expected += f"then, in the files of packyard: {said[0]}"
        else:
            assert (said[0], _says(ours_dir)) == (said[-1], _says(theirs_dir))
    if os.environ.get("PACKYARD_WRITE"):
        _write(case, {"expected-kustomize": expected}, "expected-kustomize")
    assert expected == case.parts.get("expected-kustomize", "")


def _run(program: Callable[..., _Done], case: Case, folder: Path, part: str = "args") -> _Done:
    return [program(*words, cwd=folder) for words in _commands(case, part)][-1]


def _report(done: _Done, before: Mapping[str, bytes], folder: Path) -> str:
    """Return the exit code and the diff."""
    return f"exit {done.returncode}\n{_diff(before, _bytes(folder))}"


def _says(folder: Path) -> dict[str, object]:
    """Return what the files say: values, setter comments, definitions."""
    return {path: _content(path, data.decode()) for path, data in _but_for_last_breaks(folder).items()}


def _content(path: str, text: str) -> object:
    if path.endswith("Krmfile"):
        return yaml.safe_load(text)
    return (content(text), re.findall(r'# (\{"\$openapi".*)', text)) if path.endswith(".yaml") else text


def _but_for_last_breaks(folder: Path) -> dict[str, bytes]:
    """Return the files by their paths; a Krmfile without its last line break."""
    return {path: data.rstrip() if path.endswith("Krmfile") else data for path, data in _bytes(folder).items()}


def _bytes(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def _tree(case: Case, tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir(parents=True)
    case.write_before(folder)
    return folder


def _commands(case: Case, part: str = "args") -> list[list[str]]:
    return [shlex.split(line) for line in case.parts[part].splitlines()]


def _write(case: Case, found: Mapping[str, str], *names: str) -> None:
    for name in names:
        if found.get(name):
            case.parts[name] = found[name]
        else:
            case.parts.pop(name, None)
    case.save()


def _diff(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Return what changed in all files of two trees; of binary files only that they are there."""
    return "".join(_file_diff(path, before.get(path), after.get(path)) for path in sorted({*before, *after}))


def _file_diff(path: str, before: bytes | None, after: bytes | None) -> str:
    names = ["/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}"]
    if path.endswith(_BINARY):
        return "" if None not in (before, after) else f"Binary files {names[0]} and {names[1]} differ\n"
    lines = ((data or b"").decode().splitlines(keepends=True) for data in (before, after))
    marked = (
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in unified_diff(*lines, *names)
    )
    return "".join(marked)
