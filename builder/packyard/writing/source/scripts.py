"""Files that a package ships as they are. Scripts must have their run bit, which a checkout may have lost."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import basename

from packyard.core.errors import Problem
from packyard.core.files.filenames import reserved
from packyard.core.yaml.sources import Sources

DIRECTORY = "files"


def find(sources: Sources, package_dir: str) -> list[str]:
    """Return the files that a package ships as they are, sorted; not what editors and file managers leave there."""
    return [file for file in _shipped(sources, package_dir) if sources.is_file(file)]


def _shipped(sources: Sources, package_dir: str) -> list[str]:
    below = len(package_dir) + len(DIRECTORY) + 2
    return [
        path
        for path in sources.list(f"{package_dir}/{DIRECTORY}", "**/*")
        if not any(name[0] == "." or name[-1] == "~" for name in path[below:].split("/"))
    ]


def check(sources: Sources, package_dir: str) -> Iterator[Problem]:
    """Find what cannot be shipped, and scripts that cannot be run."""
    for path in sources.list(f"{package_dir}/{DIRECTORY}", "**/*"):
        if reason := reserved(name := basename(path)):
            yield Problem(f"the name {name!r} {reason}", file=sources.shown(path), hint="rename it, or remove it")
    for path in _shipped(sources, package_dir):
        file = sources.shown(path)
        if not sources.is_file(path):
            if sources.is_link(path) or not sources.is_folder(path):
                yield Problem("is neither a file nor a folder, or a link to a folder", file=file)
        elif sources.read(path).startswith(b"#!") and not sources.is_executable(path):
            yield Problem("a script without its run bit", file=file, line=1, hint=f"chmod +x {basename(path)}")
