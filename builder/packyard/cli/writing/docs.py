"""Write the READMEs of packages from their fragments, as `build` does, or check texts that were committed.

packyard docs NAME                       print the README of a package
packyard docs --out docs/packages        write docs/packages/NAME.md for each package
packyard docs --check docs/packages      1, and a diff, if one of these files is stale
packyard docs NAME --check README.md     the same for one file

The version in them is that of --version; without, the word VERSION stands in its place.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from packyard.cli import fanout, output, workspaces
from packyard.cli.rows import Rows
from packyard.core.errors import InputError, Problem, UnavailableError, UsageError
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.core.work import executor
from packyard.writing.build.packing import Packing

ROWS = Rows("package", "name, file, state, text")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    workspaces.add_names(parser)
    parser.add_argument("--out", metavar="DIR", help="write DIR/NAME.md")
    parser.add_argument("--check", metavar="FILE|DIR", help="compare with the file, or with DIR/NAME.md; write nothing")
    parser.add_argument("--version", default="VERSION", help="the version of the packages (default: %(default)s)")
    workspaces.add_argument(parser)
    fanout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Render READMEs; 1 if one that is checked is stale."""
    if arguments.out and arguments.check:
        raise UsageError("packyard docs: --out writes files, --check compares them: give one of them")
    workspace = workspaces.find(arguments)
    names = workspaces.names(arguments, workspace)
    packing = Packing(fanout.settings(arguments, workspace))
    with output.progress(names) as done:
        texts = executor.run(packing.readme, names, on=fanout.engine(arguments, names), done=done)
    files: Sequence[Path | None] = [None] * len(names)
    states = ["rendered"] * len(names)
    if arguments.check:
        files = _committed(Path(arguments.check), names)
        states = [_state(file, text) for file, text in zip(files, texts, strict=True)]
    elif arguments.out:
        workspace.check_target(Path(arguments.out))
        files, states = _write(Path(arguments.out), dict(zip(names, texts, strict=True))), ["written"] * len(names)
    made = list(zip(names, files, states, texts, strict=True))
    is_text = ROWS.show([(*row, text.decode()) for *row, text in made], arguments.output)
    if is_text and arguments.check:
        _show({file: text for _, file, state, text in made if file and state != "same"}, len(names))
    elif is_text and arguments.out:
        for file in files:
            output.line(str(file))
    elif is_text:
        output.data(b"\n".join(texts))
    return int(not {"stale", "missing"}.isdisjoint(states))


def _committed(path: Path, names: Sequence[str]) -> list[Path]:
    if path.is_dir():
        return [path / f"{name}.md" for name in names]
    if len(names) != 1:
        raise UsageError(f"packyard docs: --check {path} is no directory: name one package")
    if not path.exists():
        hint = f"packyard docs {names[0]} >{path} writes it"
        raise InputError(Problem("there is nothing to check", file=str(path), hint=hint))
    return [path]


def _state(file: Path, text: bytes) -> str:
    return "missing" if not file.exists() else "same" if regular.read(file) == text else "stale"


def _show(stale: Mapping[Path, bytes], number: int) -> None:
    """Print what differs as one diff, from the committed texts to those that belong there."""
    old = {file: regular.read(file) if file.exists() else None for file in stale}
    output.diffs(Path(), {str(file): (old[file], text) for file, text in stale.items()})
    if stale:
        said = f"{len(stale)} of {output.counted(number, 'text')}"
        output.note(f"stale: {said}; packyard docs --out DIR brings them up to date")


def _write(out_dir: Path, texts: Mapping[str, bytes]) -> list[Path]:
    """Write all files or none."""
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(f"{out_dir}: {error.strerror}") from error
    tree, files = Tree(out_dir), {f"{name}.md": text for name, text in texts.items()}
    with tree.locked(below=False):
        for path in filter(tree.has_file, files):
            tree.read(path)
        tree.write(files)
    return [out_dir / path for path in files]
