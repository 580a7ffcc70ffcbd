"""The commands of a package's README, typed by a shell in a directory that holds the package.

A block of commands runs if `script` does not refuse it. It gets neither the home folder nor the environment of the
caller. ``kustomize cfg`` is packyard's own, ``kustomize build`` is by the program from PATH or else packyard's; instead
of kubectl there is a program that reads what it is to apply, and agrees: no cluster is asked.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packyard.core.errors import UnavailableError
from packyard.core.work import process
from packyard.using.render.programs import Program
from packyard.writing.checks import markdown
from packyard.writing.judging import runnable

_SHELLS = ("sh", "bash", "shell")
_SECONDS = 300.0  # for a block
_WRITTEN = 256 * 1024**2  # bytes that it may write
_MOST = 10_000  # bytes of what it says
_KEPT = ("LANG", "LC_ALL", "TMPDIR", "PYTHONPATH")

_PACKYARD = """\
#!/bin/sh
exec {python} -c {main} "$@"
"""
_MAIN = "import sys; sys.path.pop(0); from packyard.cli.main import main; sys.exit(main())"  # not from where it runs
_KUSTOMIZE = """\
#!/bin/sh
case $1 in
cfg) exec packyard "$@" ;;
build) {build} ;;
*) {other} ;;
esac
"""
_KUBECTL = """\
#!/bin/sh
case " $* " in
*" -f - "*) test -n "$(cat)" || { echo 'kubectl: nothing to apply' >&2; exit 1; } ;;
esac
"""


@dataclass(frozen=True, slots=True)
class CommandBlock:
    """One block of commands, and its line in the README."""

    text: str
    line: int


def blocks(text: str) -> list[CommandBlock]:
    """Return the blocks of commands of a README, in their order."""
    listings = [each.lines for each in markdown.parse(text).blocks if each.language in _SHELLS and each.lines]
    return [CommandBlock("".join(f"{line}\n" for _, line in lines), lines[0][0]) for lines in listings]


def missing(block: CommandBlock, program: Program | None) -> str:
    """Return the first command of a block that is not run here, by its program and verb, or nothing."""
    return runnable.refused(runnable.script(block.text), _is_kustomize(program))


def run(
    block: CommandBlock,
    parent_dir: Path,
    programs_dir: Path,
    environment: Mapping[str, str],
    *,
    seconds: float = _SECONDS,
    most: int = _WRITTEN,
) -> str:
    """Type a block in a directory; return what was printed if a command failed, otherwise nothing.

    Of the caller's environment it gets PATH, language and folders of packyard alone. ``most``: the bytes that it may
    write.
    """
    command = ["sh", "-e", "-c", runnable.script(block.text)]
    path = f"{programs_dir}:{environment.get('PATH', os.defpath)}"
    env = {name: environment[name] for name in _KEPT if name in environment} | {"PATH": path, "HOME": str(parent_dir)}
    try:
        result = process.run(command, folder=parent_dir, env=env, seconds=seconds, most=most)
    except UnavailableError as error:
        return str(error)
    return result.stderr[:_MOST].decode("utf-8", "replace").strip() or "a command failed" if result.code else ""


def stand_ins(folder: Path, program: Program | None) -> Path:
    """Write the programs that stand before those of PATH, and return their folder."""
    real = f'exec {shlex.quote(str(program.file))} "$@"' if program and _is_kustomize(program) else ""
    own = 'shift; exec packyard render --built-in "$@"'
    texts = {
        "packyard": _PACKYARD.format(python=shlex.quote(sys.executable), main=shlex.quote(_MAIN)),
        "kustomize": _KUSTOMIZE.format(build=real or own, other=real or "exit 127"),
        "kubectl": _KUBECTL,
    }
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def _is_kustomize(program: Program | None) -> bool:
    return program is not None and program.name == "kustomize"
