"""The directories that a build reads: those that kustomizations name, below or beside the one that is built."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from packyard.core.errors import InputError, Problem
from packyard.core.files import regular
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import parse_text
from packyard.core.yaml.node import Source
from packyard.using.kustomize.supported import MAX_FILES, Budget, find
from packyard.using.options.folder import PROGRAMS


def folders(directory: Path, budget: Budget) -> Iterator[Path]:
    """Yield a directory, and the local ones that its kustomization names, for example an enabled component.

    Each once, whoever names it; that kustomizations build on each other in a circle is for the build to refuse.
    """
    ahead, seen = [directory], {os.path.realpath(directory)}
    while ahead:
        folder = ahead.pop()
        yield folder
        inner = []
        for path in _named(find(folder), budget, kustomization.LISTED):
            real = os.path.realpath(path)
            if path.parent.name == PROGRAMS and not regular.is_folder(path):
                hint = f"copy the folder {PROGRAMS} of its package to that place, or take the whole package"
                raise InputError(
                    Problem(
                        f"has its programs in {os.path.normpath(path)}, which is not there",
                        file=str(directory),
                        hint=hint,
                    )
                )
            if real not in seen and regular.is_folder(path):
                seen.add(real)
                short = Path(os.path.normpath(path))
                inner.append(short if os.path.realpath(short) == real else Path(real))
        ahead += reversed(inner)


def check(directory: Path) -> None:
    """Refuse a directory of which a program would read more kustomizations than our own build reads files.

    Programs read a directory anew each time that it is named, which counts in the budget: of thirty that each name the
    next one twice, a billion times. What they refuse themselves, a circle or a directory without a kustomization, is
    left to them.
    """
    budget = Budget(directory, "name each directory once")
    ahead: list[tuple[str, tuple[str, ...]]] = [(os.path.realpath(directory), ())]
    while ahead:
        folder, above = ahead.pop()
        chain = (*above, folder)
        ahead += ((inner, chain) for inner in islice(_folders(Path(folder), budget), MAX_FILES) if inner not in chain)


def _folders(folder: Path, budget: Budget) -> Iterator[str]:
    """Yield the directories that a kustomization names, as often as it names them."""
    for name in kustomization.there(folder)[:1]:
        for path in _named(folder / name, budget, kustomization.BUILT):
            if regular.is_folder(path):
                yield os.path.realpath(path)


def _named(file: Path, budget: Budget, fields: Sequence[str]) -> Iterator[Path]:
    """Yield what a kustomization names below or beside it."""
    for document in parse_text(Source(str(file), budget.read(file)))[:1]:
        for text in kustomization.referred(document.root, fields):
            if text and not text.startswith("/") and "\0" not in text:
                yield file.parent / text
