"""Running ``packyard``, in this process or as users do in one of its own, and the smallest workspace to run it on.

The code is what this checkout has, wherever it is. The workspace has a base ``one`` and a package ``p``.
"""

import argparse
import gc
import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import packyard as imported
from packyard.cli import declare, main

#: The command, in front of its words; it works in every directory.
COMMAND = [sys.executable, "-m", "packyard"]
_LEVELS = ("-q", "--quiet", "-v", "--verbose")
#: The release that the catalogue is published as, for all tests; users know …/models/v2_7_0/NAME.tar.gz.
RELEASE = "v2_7_0"
SOURCE_ROOT = Path(imported.__file__).resolve().parents[1]


class _Noting(argparse.Namespace):
    """Arguments that note which of them a verb reads."""

    __slots__ = ("was_read",)

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name != "was_read":
            self.was_read.add(name)
        return super().__getattribute__(name)


def _run(module: Any, verb: str, words: Sequence[str], **known: object) -> int:
    """Run a verb; that it succeeds and did not read a flag that was typed is a fault, in all tests in this process."""
    noting = _Noting.__new__(_Noting)
    noting.was_read = set()
    flags: dict[str, str] = {}

    def parse(made: declare.Parser, typed: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
        parsed, rest = _parse(made, typed)
        names = {word.partition("=")[0] for word in typed}
        flags.update({each.dest: name for each in made._actions for name in names.intersection(each.option_strings)})
        vars(noting).update(vars(parsed))
        noting.was_read.clear()
        return noting, rest

    with mock.patch.object(declare.Parser, "parse_known_intermixed_args", parse):
        code = _run_verb(module, verb, words, **known)
    unread = [name for dest, name in flags.items() if dest not in noting.was_read]
    assert code or not unread, f"packyard {verb} takes {unread[0]}, and ignores it: {[*words]}"
    return code


_parse, _run_verb = declare.Parser.parse_known_intermixed_args, declare.run
declare.run = _run


def krmfile(definitions: str) -> str:
    """Return a Krmfile with the definitions of setters, which are indented by four."""
    return f"apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n{definitions}"


def environment(**changes: str) -> dict[str, str]:
    """Return this process' environment with the code on Python's path, and ``changes``."""
    return {**os.environ, "PYTHONPATH": str(SOURCE_ROOT), "PYTHONDONTWRITEBYTECODE": "1", **changes}


def packyard(*words: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command line and return what it printed, whatever its exit code.

    In this process, which is many times as fast, but where a level or a colour would stay on.
    """
    if any(str(word).startswith(_LEVELS) for word in words):
        return process(*words, cwd=cwd, **env)
    with mock.patch.dict(os.environ, env):
        return inside(*words, cwd=cwd)


def process(*words: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command line as users do, as a process of its own, and return what it printed, whatever its exit code."""
    command = [*COMMAND, *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=environment(**env), capture_output=True, text=True, timeout=300)


def done(*words: object, cwd: Path | None = None, **env: str) -> str:
    """Run a command line that has to succeed, and return its standard output."""
    found = packyard(*words, cwd=cwd, **env)
    assert found.returncode == 0, found.stderr
    return found.stdout


def inside(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command line in this process."""
    from packyard.cli.main import main

    kept = [io.BytesIO() for _ in range(2)]
    printed = [io.TextIOWrapper(each, "utf-8", "surrogateescape") for each in kept]
    before = Path.cwd()
    os.chdir(cwd or before)
    try:
        with redirect_stdout(printed[0]), redirect_stderr(printed[1]):
            code = main([str(word) for word in words])
    finally:
        os.chdir(before)
        gc.enable()
    stdout, stderr = (each.getvalue().decode() for each in kept)
    return subprocess.CompletedProcess([str(word) for word in words], code, stdout, stderr)


def programs_dir(folder: Path, programs: Mapping[str, Path]) -> Path:
    """Make ``folder`` a directory for PATH: ``packyard``, and each program by the name that users call it by."""
    folder.mkdir()
    (folder / "packyard").write_text(f'#!/bin/sh\nPYTHONPATH={SOURCE_ROOT} exec {" ".join(COMMAND)} "$@"\n')
    (folder / "packyard").chmod(0o755)
    for name, program in programs.items():
        (folder / name).symlink_to(program)
    return folder


TREES = Path(__file__).with_name("trees")


def text(path: str) -> str:
    """Return a file of tests/trees/."""
    return (TREES / path).read_text()


def read_tree(name: str) -> dict[str, str]:
    """Return the files of a tree of tests/trees/ by their paths."""
    root = TREES / name
    return {file.relative_to(root).as_posix(): file.read_text() for file in sorted(root.rglob("*")) if file.is_file()}


def untar(file: Path | str, folder: Path | str = ".") -> None:
    """Untar a bundle as Python does; Debian's 3.11.2 has no filter for that."""
    shutil.unpack_archive(file, folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


FILES = read_tree("workspace")
POD = text("pod.yaml")


def workspace(folder: Path) -> Path:
    """Write it."""
    write_all(folder, FILES)
    return folder


def another(root: Path, name: str) -> None:
    """Copy the package ``p`` under another name, with an object of its own."""
    folder = Path(shutil.copytree(root / "packages/p", root / "packages" / name))
    patch = f"{{patch: '[{{op: replace, path: /metadata/name, value: {name}}}]', target: {{kind: ConfigMap}}}}"
    replace(folder / "package.yaml", "base: one", f"base: one, patches: [{patch}]")


def write(file: Path, content: str | bytes) -> None:
    """Write a file, and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)


def write_all(folder: Path, files: Mapping[str, str] | Mapping[str, bytes]) -> None:
    """Write files by their paths below a folder."""
    for path, content in files.items():
        write(folder / path, content)


def script(file: Path, text: str) -> Path:
    """Write a program of the shell."""
    write(file, f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def replace(file: Path, old: str, new: str) -> None:
    """Replace a text of a file, which has to be there."""
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def run(*words: object) -> tuple[int, str, str]:
    """Run a command line here, and return its exit code, and what it printed on stdout and stderr."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = main.main([str(word) for word in words])
    return code, *(stream.buffer.getvalue().decode("utf-8", "surrogateescape") for stream in (out, err))


def composing(out: str) -> str:
    """Return what the findings of lint say of what does not compose, as `build` says it; else all of them."""
    found = [line for line in out.splitlines(keepends=True) if "[does-not-compose]" in line]
    bare = (line.replace("error: ", "", 1).replace(" [does-not-compose]", "") for line in found)
    return "".join(f"error: {line}" for line in bare) or out


def refused(*words: object, code: int = 1, cwd: Path | None = None, **env: str) -> str:
    """Run a command line that has to be refused, and return what it says."""
    found = packyard(*words, cwd=cwd, **env)
    assert found.returncode == code, found.stderr
    return composing(found.stdout) if words[0] == "lint" and found.stdout else found.stderr
