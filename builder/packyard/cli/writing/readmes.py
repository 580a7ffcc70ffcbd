"""`build --readmes`: READMEs of packages, written where they are committed.

The flag names the folder, since a workspace commits them where its readers look. The version in them is the word
VERSION, unless one is given, so that a release changes no committed text.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from packyard.cli import fanout, output, progress
from packyard.cli.rows import Rows
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.core.work import executor
from packyard.writing.build.draft import compose_draft
from packyard.writing.source.workspace import Workspace

ROWS = Rows("package", "name, file, text", "--readmes")
_VERSION = "VERSION"


def write(arguments: argparse.Namespace, workspace: Workspace, names: Sequence[str]) -> int:
    """Write DIR/NAME.md for each package, or print them where DIR is ``-``."""
    texts = _texts(arguments, workspace, names)
    if arguments.readmes == "-":
        if ROWS.show([(name, None, text.decode()) for name, text in texts.items()], arguments.output):
            output.data(b"\n".join(texts.values()))
        return 0
    out_dir = Path(arguments.readmes)
    workspace.check_target(out_dir)
    files = _write(out_dir, texts)
    rows = [(name, file, text.decode()) for file, (name, text) in zip(files, texts.items(), strict=True)]
    if ROWS.show(rows, arguments.output):
        for file in files:
            output.line(str(file))
    return 0


def _texts(arguments: argparse.Namespace, workspace: Workspace, names: Sequence[str]) -> dict[str, bytes]:
    version = arguments.version or _VERSION
    with progress.of(names) as done:
        texts = executor.run(partial(_readme, workspace, version), names, jobs=fanout.jobs(arguments, names), done=done)
    return dict(zip(names, texts, strict=True))


def _readme(workspace: Workspace, version: str, name: str) -> bytes:
    return compose_draft(workspace, version, name).readme


def _write(out_dir: Path, texts: Mapping[str, bytes]) -> list[Path]:
    """Write all files or none."""
    regular.make_folder(out_dir)
    tree, files = Tree(out_dir), {f"{name}.md": text for name, text in texts.items()}
    with tree.locked(below=False):
        for path in filter(tree.has_file, files):
            tree.read(path)
        tree.write(files)
    return [out_dir / path for path in files]
