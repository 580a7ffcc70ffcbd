"""The cases of tests/cases/: what a command does to a tree of files, as a diff. A case is added without Python.

    VERB/NAME/before/           the files that the commands find, in the working directory
    VERB/NAME/args              the words behind `packyard`, a command on each line
    VERB/NAME/input             what the commands read on standard input; no file: nothing
    VERB/NAME/expected.diff     what the commands change; no file: nothing
    VERB/NAME/expected-output   what the last one prints on standard output; no file: not compared
    VERB/NAME/expected-messages what the last one prints on standard error, and succeeds; no file: not compared
    VERB/NAME/expected-error    what the last one prints on standard error, and exits with 1; no file: it succeeds

`PACKYARD_WRITE=1 pytest tests/test_cases.py -k NAME` writes what is expected, for you to read. `before` may be a
link to a folder of tests/trees/; without it, the folder is empty.

Each case of `cfg` is also run by kustomize 3.8.7, which has to do the same. Three more files are for these cases:

    expected-kustomize          what kustomize 3.8.7 does, where the bytes are not the same
    differs                     why it does something else; no file: values, comments, definitions, output are the same
    then                        what kustomize does next, and has to do alike in the files that packyard left
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

import pytest
import yaml

import tiny
from commandline import inside
from contents import content
from served import Served

CASES = Path(__file__).with_name("cases")
each_case = pytest.mark.parametrize(
    "case", [pytest.param(file.parent, id="/".join(file.parent.parts[-2:])) for file in sorted(CASES.glob("*/*/args"))]
)
_BINARY = (".gz",)
#: Lines are broken, a comment is replaced, an empty mapping is filled.
_CHANGED_FOR_GOOD = {
    "create-setter-behind-every-kind-of-scalar",
    "create-setter-inside-brackets",
    "create-setter-a-krmfile-with-an-empty-mapping",
}
_Done = subprocess.CompletedProcess[str]


@each_case
def test_a_command_does_what_its_case_says(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(_tree(case, tmp_path))
    data = (case / "input").read_bytes() if (case / "input").exists() else b""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))
    done = [tiny.run(*words) for words in _commands(case)]
    assert all(code == 0 for code, _, _ in done[:-1]), done
    code, output, error = done[-1]
    found = {"expected.diff": _diff(case / "before", tmp_path / "tree")}
    if (case / "expected-output").exists():
        found["expected-output"] = output
    if not code and (case / "expected-messages").exists():
        found["expected-messages"] = error
    if code:
        found["expected-error"] = error.partition("\nusage:")[0].replace(str(tmp_path), "")
    if os.environ.get("PACKYARD_WRITE"):
        _write(case, found, "expected.diff", "expected-error", "expected-messages", "expected-output")
    assert {name: text for name, text in found.items() if text} == {
        name: text for name, text in _expected(case).items() if name != "expected-kustomize"
    }
    assert code in (0, 1)


@pytest.mark.oracle
@pytest.mark.parametrize("case", sorted(CASES.glob("cfg/*")), ids=lambda item: item.name)
def test_kustomize_3_8_7_does_what_a_case_of_cfg_says(case: Path, served3: Served, tmp_path: Path) -> None:
    ours_dir, theirs_dir = (_tree(case, tmp_path / name) for name in ("ours", "theirs"))
    ours, theirs = _run(inside, case, ours_dir), _run(served3, case, theirs_dir)
    expected = _report(theirs, case, theirs_dir)
    differs = (case / "differs").exists()
    if differs:
        assert expected != _report(ours, case, ours_dir)
    else:
        assert (ours.returncode, ours.stdout, _says(ours_dir)) == (theirs.returncode, theirs.stdout, _says(theirs_dir))
        if _diff(ours_dir, theirs_dir) == "":
            expected = ""
    if (case / "then").exists():
        said = [_run(served3, case, folder, "then").stdout for folder in (ours_dir, theirs_dir)]
        assert "changed" in str(_says(ours_dir))
        if differs:
            expected += f"then, in the files of packyard: {said[0]}"
        else:
            assert (said[0], _says(ours_dir)) == (said[1], _says(theirs_dir))
    if os.environ.get("PACKYARD_WRITE"):
        _write(case, {"expected-kustomize": expected}, "expected-kustomize")
    assert expected == _expected(case).get("expected-kustomize", "")


@pytest.mark.parametrize(
    "case", sorted(file.parent for file in CASES.glob("cfg/create-setter-*/then")), ids=lambda item: item.name
)
def test_deleting_what_was_created_restores_the_bytes(case: Path, tmp_path: Path) -> None:
    """But for a Krmfile's last line break."""
    folder = _tree(case, tmp_path)
    assert _run(inside, case, folder).returncode == 0
    created = _bytes(folder)
    name, below = _commands(case, "then")[0][3], ["-R"] if "-R" in _commands(case)[0] else []
    done = inside("cfg", "delete-setter", ".", name, *below, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert created != _bytes(case / "before")
    assert (_bytes(folder) == _bytes(case / "before")) is (case.name not in _CHANGED_FOR_GOOD)


def _run(program: Callable[..., _Done], case: Path, folder: Path, file: str = "args") -> _Done:
    return [program(*words, cwd=folder) for words in _commands(case, file)][-1]


def _report(done: _Done, case: Path, folder: Path) -> str:
    """Return the exit code, what was printed (of errors the first line, of help nothing), and the diff."""
    printed = done.stdout.partition("Usage:")[0] + done.stderr.partition("\n")[0].rstrip()
    return f"exit {done.returncode}\n{printed.strip()}\n{_diff(case / 'before', folder)}".replace(str(folder), ".")


def _says(folder: Path) -> dict[str, object]:
    """Return what the files say: values, setter comments, definitions."""
    return {path: _content(path, text.decode()) for path, text in _bytes(folder).items()}


def _content(path: str, text: str) -> object:
    if path.endswith("Krmfile"):
        return yaml.safe_load(text)
    return (content(text), re.findall(r'# (\{"\$openapi".*)', text)) if path.endswith(".yaml") else text


def _bytes(folder: Path) -> dict[str, bytes]:
    """Return the files by their paths; a Krmfile without its last line break."""
    files = {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    return {path: data.rstrip() if path.endswith("Krmfile") else data for path, data in files.items()}


def _tree(case: Path, tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir(parents=True)
    if (case / "before").exists():
        shutil.copytree(case / "before", tmp_path / "tree", dirs_exist_ok=True, symlinks=True)
    return tmp_path / "tree"


def _commands(case: Path, file: str = "args") -> list[list[str]]:
    return [shlex.split(line) for line in (case / file).read_text("utf-8").splitlines()]


def _expected(case: Path) -> dict[str, str]:
    return {file.name: _text(file) for file in case.glob("expected*")}


def _write(case: Path, found: dict[str, str], *names: str) -> None:
    for name in names:
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
