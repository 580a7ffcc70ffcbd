"""`cfg init`: an empty Krmfile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packyard.cli import state
from packyard.cli.flags import Declared
from packyard.core.errors import ConflictError, UnavailableError, UsageError
from packyard.core.files.tree import Tree
from packyard.using.setters.krmfile import EMPTY, NAME

FLAGS = Declared()


def init(words: Sequence[str]) -> int:
    """Make a directory a package; print nothing."""
    arguments = FLAGS.parse(words).arguments
    if len(arguments) > 1:
        raise UsageError(f"accepts between 0 and 1 arg(s), received {len(arguments)}")
    folder = Path(*arguments)
    tree = Tree(folder)
    if not folder.exists():
        raise UnavailableError(f"open {folder / NAME}: no such file or directory")
    if not folder.is_dir() or tree.has(NAME) or (folder / NAME).is_symlink():
        raise UsageError("directory already initialized with a Krmfile")
    with tree.locked(state.log("cfg init"), below=False):
        try:
            tree.write({NAME: EMPTY}, mode=0o600)  # the mode that kustomize gives it
        except ConflictError as error:
            raise UsageError("directory already initialized with a Krmfile") from error
    return 0
