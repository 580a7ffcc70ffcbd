"""`--readmes` of `build` and of `lint`: READMEs of packages, written where they are committed, or compared.

The flag names the folder, since a workspace commits them where its readers look. The version in them is the word
VERSION, unless one is given, so that a release changes no committed text.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

from packyard.cli import fanout, output, progress, unified
from packyard.cli.rows import Rows
from packyard.core.errors import InputError, Problem, UsageError
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.core.work import executor
from packyard.writing.build.packing import Packing
from packyard.writing.source.workspace import Workspace

ROWS = Rows("package", "name, file, state, text", "--readmes")
_VERSION = "VERSION"


def write(arguments: argparse.Namespace, workspace: Workspace, names: Sequence[str]) -> int:
    """Write DIR/NAME.md for each package, or print them where DIR is ``-``."""
    texts = _texts(arguments, workspace, names)
    if arguments.readmes == "-":
        if ROWS.show([(name, None, "rendered", text.decode()) for name, text in texts.items()], arguments.output):
            output.data(b"\n".join(texts.values()))
        return 0
    out_dir = Path(arguments.readmes)
    workspace.check_target(out_dir)
    files = _write(out_dir, texts)
    if ROWS.show([_row(*each, "written") for each in zip(files, texts.items(), strict=True)], arguments.output):
        for file in files:
            output.line(str(file))
    return 0


def check(arguments: argparse.Namespace, workspace: Workspace, names: Sequence[str]) -> int:
    """Compare the READMEs with those that were committed; 1, and a diff, if one is stale."""
    texts = _texts(arguments, workspace, names)
    files = _committed(Path(arguments.readmes), names)
    states = [_state(file, text) for file, text in zip(files, texts.values(), strict=True)]
    rows = list(zip(files, texts.items(), states, strict=True))
    if ROWS.show([_row(*row) for row in rows], arguments.output):
        _show({file: text for file, (_, text), state in rows if state != "same"}, len(names))
    return int(set(states) != {"same"} and bool(states))


def _texts(arguments: argparse.Namespace, workspace: Workspace, names: Sequence[str]) -> dict[str, bytes]:
    arguments.version = getattr(arguments, "version", None) or _VERSION
    packing = Packing(fanout.settings(arguments, workspace.root_dir, arguments.version, workspace.libraries))
    with progress.of(names) as done:
        texts = executor.run(packing.readme, names, jobs=fanout.jobs(arguments, names), done=done)
    return dict(zip(names, texts, strict=True))


def _row(file: Path, readme: tuple[str, bytes], state: str) -> tuple[str, Path, str, str]:
    name, text = readme
    return name, file, state, text.decode()


def _committed(path: Path, names: Sequence[str]) -> list[Path]:
    if path.is_dir():
        return [path / f"{name}.md" for name in names]
    if len(names) != 1:
        raise UsageError(f"packyard lint: --readmes {path} is no directory: name one package")
    if not path.exists():
        hint = f"packyard build {names[0]} --readmes - >{quote(str(path))} writes it"
        raise InputError(Problem("there is nothing to check", file=str(path), hint=hint))
    return [path]


def _state(file: Path, text: bytes) -> str:
    return "missing" if not file.exists() else "same" if regular.read(file) == text else "stale"


def _show(stale: Mapping[Path, bytes], number: int) -> None:
    """Print what differs as one diff, from the committed texts to those that belong there."""
    old = {file: regular.read(file) if file.exists() else None for file in stale}
    unified.diffs(Path(), {str(file): (old[file], text) for file, text in stale.items()})
    if stale:
        count = f"{len(stale)} of {output.counted(number, 'text')}"
        output.note(f"stale: {count}; packyard build --readmes DIR brings them up to date")


def _write(out_dir: Path, texts: Mapping[str, bytes]) -> list[Path]:
    """Write all files or none."""
    regular.make_folder(out_dir)
    tree, files = Tree(out_dir), {f"{name}.md": text for name, text in texts.items()}
    with tree.locked(below=False):
        for path in filter(tree.has_file, files):
            tree.read(path)
        tree.write(files)
    return [out_dir / path for path in files]
