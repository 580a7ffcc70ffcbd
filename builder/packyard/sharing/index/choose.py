"""Choosing one published bundle among the versions of a name, and saying why it is that one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from packyard.core.bundle import reference
from packyard.core.bundle.reference import LATEST, Reference
from packyard.core.errors import InputError, Problem
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index.package import Package, why_gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A published bundle, and why it was chosen."""

    entry: IndexEntry
    why: str


def choose(package: Package, wanted: Reference) -> Choice:
    """Choose what is asked for, or raise `InputError`, naming what there is.

    Without a version, and as ``latest``, it is the highest that is not a pre-release, or the highest if all are. One
    that is yanked is chosen only if its version is asked for.
    """
    if wanted.version is not None:
        return Choice(entry=package.get(wanted.version), why="the version that was asked for")
    yanked = list[IndexEntry]()
    for entry in package.newest(wanted.admits):
        if not entry.yanked:
            return Choice(entry=entry, why=_why(wanted, package, entry, yanked))
        yanked.append(entry)
    raise InputError(_nothing(package, wanted, yanked))


def _nothing(package: Package, wanted: Reference, yanked: Sequence[IndexEntry]) -> Problem:
    if yanked:
        last = max(yanked, key=lambda entry: reference.order(entry.version))
        problem = f"every version of {wanted} is yanked: {last.version}: {last.yanked}"
        return Problem(problem, hint=f"to get one all the same, ask for it: {last}")
    if not package.entries:
        return Problem(f"every version of {package.name} was removed; the last: {why_gone(package.removed[-1])}")
    return Problem(f"no version of {package.name} is in {wanted.choice}", hint=f"it has {package.last_versions()}")


def _why(wanted: Reference, package: Package, entry: IndexEntry, yanked: Sequence[IndexEntry]) -> str:
    is_range = wanted.choice not in ("", LATEST)
    count = sum(map(wanted.admits, package.versions))
    why = f"the highest of {count} in {wanted.choice}" if is_range else "the latest version"
    if yanked:
        why += f"; {yanked[0].version} is yanked: {yanked[0].yanked}"
    elif not is_range and any(reference.order(each) > reference.order(entry.version) for each in package.versions):
        why += " that is not a pre-release"
    return why
