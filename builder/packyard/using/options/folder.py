"""Which folders are use cases, which of them may have options enabled, and what an option says of itself."""

import os
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from packyard.core.files import paths, regular
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import kustomization

OPTIONS, PROGRAMS = paths.OPTIONS, paths.PROGRAMS
#: What the kustomization of an option or a program has.
COMPONENT = re.compile(rb"(?m)^kind: *[\"']?Component\b")
_WITH = "# packyard: with "


def use_cases(top: str | os.PathLike[str]) -> Iterator[str]:
    """Yield every folder with a kustomization, from the top on, but no option or program, and no hidden folder."""
    for below, folders, files in Tree(Path(top)).walk():
        folders[:] = (name for name in folders if name != OPTIONS and not name.startswith("."))
        folder = os.path.join(top, below) if below else os.fspath(top)
        names = kustomization.names(files.__contains__)
        if names and not _is_program(folder, names[0]):
            yield folder


def has_options(use_case: Tree) -> bool:
    """Say whether a use case's kustomization may have options enabled, by a search before a parse."""
    files = kustomization.names(use_case.has_file)
    return bool(files) and f"{OPTIONS}/".encode() in use_case.read(files[0])


def needed(data: bytes) -> list[str]:
    """Return the files of a use case that an option says to need in its kustomization."""
    files = [it.removeprefix(_WITH) for it in data.decode("utf-8", "replace").splitlines() if it.startswith(_WITH)]
    return [file for file in files if "/" not in file]


def description(data: bytes) -> str:
    """Return the first sentence of the comment that an option's kustomization begins with."""
    lines = takewhile(lambda line: line.startswith("#"), data.decode("utf-8", "replace").splitlines())
    return kustomization.first_sentence(" ".join(line.removeprefix("#").strip() for line in lines))


def _is_program(folder: str, name: str) -> bool:
    """Say whether a folder of ``programs`` holds a Component, which nobody builds by itself."""
    file = Path(folder, name)
    above = os.path.basename(os.path.dirname(os.path.abspath(folder)))
    return above == PROGRAMS and regular.is_file(file) and bool(COMPONENT.search(regular.read(file)))
