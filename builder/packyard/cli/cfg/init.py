"""`cfg init`: an empty Krmfile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packyard.cli import state
from packyard.cli.cfg import blocks
from packyard.cli.flags import Declared
from packyard.core.errors import ConflictError, UsageError
from packyard.core.files.tree import Tree
from packyard.using.setters.krmfile import EMPTY, NAME

FLAGS = Declared()


def init(words: Sequence[str]) -> int:
    """usage: packyard cfg init [DIR]

    Make a directory a package: write its Krmfile.
    """
    folder = str(Path(*blocks.arguments(FLAGS.parse(words), 0, 1)))
    blocks.check_folder(folder)
    tree = Tree(Path(folder))
    with tree.locked(state.log("cfg init"), below=False):
        try:
            tree.write({NAME: EMPTY}, mode=0o600)  # the mode that kustomize gives it
        except ConflictError as error:
            raise UsageError("directory already initialized with a Krmfile") from error
    return 0
