"""The commands of a package's README, typed by a shell in a directory that holds the package.

A block of commands runs if it needs nothing but packyard, kustomize, kubectl and a few words of the shell. ``kustomize
cfg`` is packyard's own, ``kustomize build`` is by the program from PATH or else packyard's; instead of kubectl there is
a program that reads what it is to apply, and agrees: no cluster is asked.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from packyard.render.programs import Program

_FENCE = re.compile(r"^(?P<fence>```+|~~~+)(?:sh|bash|shell)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
#: What a block may start with; packyard by these verbs alone, as others need a network or keys.
_WORDS = {
    "cd",
    "echo",
    "cat",
    "head",
    "tail",
    "ls",
    "grep",
    "mkdir",
    "cp",
    "mv",
    "export",
    "true",
    "kustomize",
    "kubectl",
}
_VERBS = {"set", "setters", "explain", "enable", "disable", "undo", "render", "lint", "cfg", "list"}
_TIMEOUT = 300  # seconds for a block

_PACKYARD = """\
#!/bin/sh
exec {python} -m packyard.cli.main "$@"
"""
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
class Block:
    """One block of commands, and its line in the README."""

    text: str
    line: int


def blocks(text: str) -> list[Block]:
    """Return the blocks of commands of a README, in their order."""
    return [Block(each["text"], text.count("\n", 0, each.start()) + 2) for each in _FENCE.finditer(text)]


def missing(block: Block, program: Program | None) -> str:
    """Return the first command of a block that is not run here, by its program and verb, or nothing."""
    for command in re.split(r"[|;\n]|&&", block.text.replace("\\\n", " ")):
        words = command.split("#")[0].split()[:2]
        known = not words or words[0] in _WORDS
        if words[:1] == ["packyard"]:
            known = words[1] in _VERBS if words[1:] else False
        elif words[:1] == ["kustomize"]:
            known = words[1:] in (["cfg"], ["build"]) or _is_kustomize(program)
        if not known:
            return " ".join(words)
    return ""


def run(block: Block, parent_dir: Path, programs_dir: Path) -> str:
    """Type a block in a directory; return what was printed if a command failed, otherwise nothing."""
    before = f"PATH={shlex.quote(str(programs_dir))}:$PATH\n"
    try:
        done = subprocess.run(
            ["sh", "-e", "-c", before + block.text],
            cwd=parent_dir,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"takes longer than {_TIMEOUT} seconds"
    return done.stderr.decode("utf-8", "replace").strip() or "a command failed" if done.returncode else ""


def stand_ins(folder: Path, program: Program | None) -> Path:
    """Write the programs that stand before those of PATH, and return their folder."""
    real = f'exec {shlex.quote(str(program.file))} "$@"' if program and _is_kustomize(program) else ""
    own = 'shift; exec packyard render --built-in "$@"'
    texts = {
        "packyard": _PACKYARD.format(python=shlex.quote(sys.executable)),
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
