"""Changing resource files of directories that need not be packages: planned as a whole, then written as one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from packyard.core.errors import InputError, Problem, every
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.using.setters.krmfile import NAME
from packyard.using.setters.packages import read_resources, walk_key

#: Returns the new bytes of a file, which may be the old ones; gets the file's name for messages as well.
Rewrite = Callable[[bytes, str], bytes]


def find_folders(directory: Path, *, recursive: bool) -> list[str]:
    """Return the directory itself (an empty text), and with ``recursive`` then every package below it."""
    if not recursive or directory.is_file():
        return [""]
    below = [folder for folder, folders, files in Tree(directory).walk() if folder and NAME in (*files, *folders)]
    return ["", *sorted(below, key=lambda folder: walk_key(f"{folder}/{NAME}"))]


def read(tree: Tree, folder: str) -> dict[str, bytes]:
    """Read the resource files of a folder, by their paths below the tree's root."""
    if not tree.root_dir.is_dir():
        raise InputError(Problem("is not a directory", file=str(tree.root_dir)))
    prefix = f"{folder}/" if folder else ""
    return {prefix + path: data for path, data in read_resources(tree, folder, below_too=False).items()}


def rewrite(directory: Path, folders: list[str], change: Rewrite, *, log: StepLog | None = None) -> None:
    """Change every resource file of the folders, or the one file that ``directory`` is, or none of them."""
    root_dir, only = (root_of(directory), directory.name if directory.is_file() else "")
    tree = Tree(root_dir)
    if not root_dir.is_dir():
        raise InputError(Problem("no such file or directory", file=str(directory)))
    with tree.locked(log, below=not only):
        before: dict[str, bytes] = {only: tree.read(only)} if only else {}
        for folder in [] if only else folders:
            before |= read(tree, folder)
        changed = every(lambda path: change(before[path], (root_dir / path).as_posix()), before)
        after = {path: data for path, data in zip(before, changed, strict=True) if data != before[path]}
        tree.write(after)


def root_of(directory: Path) -> Path:
    """Return the folder below which `rewrite` writes: that of the file where ``directory`` is one."""
    return directory.parent if directory.is_file() else directory
