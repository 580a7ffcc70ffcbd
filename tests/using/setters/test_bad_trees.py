"""Trees that are wrong, odd or hostile: an error with its place, bounded time, nothing written; or no harm at all."""

import os
import subprocess
from pathlib import Path

import pytest

from core.files.krmfiles import one_setter
from tiny import packyard, write
from using.commands import refused

KRMFILE = one_setter()
BOUND = 'x: old # {"$openapi":"V"}\n'


def make(root: Path) -> Path:
    write(root / "Krmfile", KRMFILE)
    (root / "r.yaml").write_text(BOUND, "utf-8")
    return root


#: What is in the way of a set: the file, its bytes, or what makes it, and what is said.
BAD_FILES = {
    "a directory": ("Krmfile", os.mkdir, "Krmfile: is not a regular file"),
    "a list": ("Krmfile", b"- a\n", "Krmfile:1: its root must be a mapping"),
    "empty": ("Krmfile", b"", "Krmfile: is empty"),
    "a key twice": ("Krmfile", b"openAPI: {}\n" + KRMFILE.encode(), "Krmfile:2:1: key 'openAPI' occurs twice"),
    "not UTF-8": ("r.yaml", BOUND.encode() + b"# Gr\xfc\xdfe\n", "r.yaml:2: not UTF-8"),
    "UTF-16": ("r.yaml", BOUND.encode("utf-16"), "r.yaml: is UTF-16, not UTF-8"),
    "UTF-16 in the other order": (
        *("r.yaml", b"\xfe\xff" + BOUND.encode("utf-16-be"), "r.yaml: is UTF-16, not UTF-8"),
    ),
    "a Krmfile that is a pipe": ("Krmfile", os.mkfifo, "Krmfile: is not a regular file"),
    "a name with a line break": ("line\nbreak.yaml", f"{BOUND}a: [\n".encode(), "line\\nbreak.yaml:3:1: "),
    "binary": ("r.yaml", BOUND.encode() + bytes(range(256)), "r.yaml:"),
    "a NUL": ("r.yaml", BOUND.encode() + b"a: \x00\n", "r.yaml:2:4"),
    "too deep": (
        *("r.yaml", f"{BOUND}a: {'[' * 10_000}{']' * 10_000}\n".encode()),
        "r.yaml:2:203: nested deeper than 200 levels",
    ),
    "no YAML": ("r.yaml", f"{BOUND}a: [\n".encode(), "r.yaml:3:1"),
    "a pipe": ("f.yaml", os.mkfifo, "f.yaml: is not a regular file"),
    "a dangling link": ("l.yaml", lambda file: file.symlink_to("nowhere"), "l.yaml: is not a regular file"),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_refuses_by_file_and_line_and_writes_nothing(tmp_path: Path, what: str) -> None:
    root = make(tmp_path / "package")
    name, found, says = BAD_FILES[what]
    (root / name).unlink(missing_ok=True)
    if isinstance(found, bytes):
        (root / name).write_bytes(found)
    else:
        found(root / name)
    for words in (
        ("set", "package", "V=new"),
        ("cfg", "set", "package", "V", "new"),
        ("cfg", "delete-setter", "package", "V"),
    ):
        assert f"package/{says}" in refused(root, *words, cwd=tmp_path)


def test_aliases_and_comments_that_would_explode_are_only_read(tmp_path: Path) -> None:
    root = make(tmp_path / "package")
    bomb = f'b: x # {{"$openapi": {"[" * 100_000}\na0: &a0 [x]\n' + "".join(
        f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]\n" for number in range(1, 30)
    )
    (root / "r.yaml").write_text(BOUND + bomb, "utf-8")
    assert packyard("set", "package", "V=new", cwd=tmp_path).returncode == 0
    assert (root / "r.yaml").read_text("utf-8") == BOUND.replace("old", "new") + bomb


def test_very_long_lines_and_strange_names_do_no_harm(tmp_path: Path) -> None:
    root = make(tmp_path / "package")
    (root / "long.yaml").write_text(f"a: {'x' * 1_000_000} # note\n{BOUND}", "utf-8")
    (root / "line\nbreak.yaml").write_text(BOUND, "utf-8")
    (root / "a..b.yaml").write_text(BOUND, "utf-8")
    done = packyard("set", root.name, "V=new", cwd=root.parent)
    assert done.returncode == 0, done.stderr
    for name in ("r.yaml", "line\nbreak.yaml", "a..b.yaml"):
        assert (root / name).read_text("utf-8") == BOUND.replace("old", "new")


def test_a_diff_of_a_file_whose_name_has_a_line_break_can_be_applied(tmp_path: Path) -> None:
    root = make(tmp_path / "package")
    (root / 'line\nbreak "é".yaml').write_text(BOUND, "utf-8")
    diff = packyard("set", "package", "V=new", "--dry-run", cwd=tmp_path).stdout
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=diff, text=True, check=True)
    assert (root / 'line\nbreak "é".yaml').read_text("utf-8") == BOUND.replace("old", "new")
