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
    that is yanked is chosen only if its version or its digest is asked for.
    """
    if wanted.version is not None:
        return _exact(package, wanted.version)
    if wanted.digest:
        return _by_digest(package, wanted)
    if not package.entries:
        raise InputError(
            Problem(f"every version of {package.name} was removed; the last: {why_gone(package.removed[-1])}")
        )
    fitting = [entry for entry in package.entries if wanted.admits(entry.version)]
    offered = [entry for entry in fitting if not entry.yanked]
    if not offered:
        raise InputError(_nothing(package, wanted, fitting))
    entry = max(offered, key=lambda each: reference.newest(each.version))
    return Choice(entry=entry, why=_why(wanted, entry, fitting))


def _exact(package: Package, version: str) -> Choice:
    entry = package.get(version)
    why = "the version that was asked for"
    return Choice(entry=entry, why=why if version == entry.version else f"{why}, {version}, in its published spelling")


def _by_digest(package: Package, wanted: Reference) -> Choice:
    for entry in package.entries:
        if wanted.digest in (entry.digest, entry.tar):
            return Choice(entry=entry, why=f"its {'file' if wanted.digest == entry.digest else 'tar'} has that digest")
    gone = (why_gone(each) for each in package.removed if wanted.digest in (each.digest, each.tar))
    problem = next(gone, f"no version of {package.name} has the digest {wanted.digest}")
    raise InputError(Problem(problem, hint=f"it has {package.last_versions()}"))


def _nothing(package: Package, wanted: Reference, fitting: Sequence[IndexEntry]) -> Problem:
    if not fitting:
        problem = f"no version of {package.name} is in {wanted.choice}"
        return Problem(problem, hint=f"it has {package.last_versions()}")
    last = fitting[-1]
    problem = f"every version of {wanted} is yanked: {last.version}: {last.yanked}"
    return Problem(problem, hint=f"to get one all the same, ask for it: {last}")


def _why(wanted: Reference, entry: IndexEntry, fitting: Sequence[IndexEntry]) -> str:
    is_range = wanted.choice not in ("", LATEST)
    why = f"the highest of {len(fitting)} in {wanted.choice}" if is_range else "the latest version"
    higher = [each for each in fitting if reference.newest(each.version) > reference.newest(entry.version)]
    if higher:
        why += f"; {higher[-1].version} is yanked: {higher[-1].yanked}"
    elif not is_range and any(reference.order(each.version) > reference.order(entry.version) for each in fitting):
        why += " that is not a pre-release"
    return why
