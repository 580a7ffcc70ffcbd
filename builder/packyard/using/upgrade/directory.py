"""An untarred package on disk, moved to another version: read, merged, and written all or nothing."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.core.bundle import manifest
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem, refuse
from packyard.core.files.paths import RECEIPT
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.using.upgrade.difference import Files
from packyard.using.upgrade.merge import Merged, Versions, merge

_AWAY = "move it away, then upgrade again"
_DECIDE = "--conflicts ours keeps yours, theirs takes the new version's, markers writes both into the files"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What was done to a package, or would be: its files as they were, and what was merged."""

    ours: Files
    merged: Merged

    @property
    def changes(self) -> Mapping[str, str]:
        """The files that differ now, each ``added``, ``changed`` or ``removed``."""
        return {
            path: "removed" if data is None else "changed" if path in self.ours else "added"
            for path, data in self.merged.files.items()
        }


def upgrade(
    folder: Path,
    base: Bundle,
    theirs: Bundle,
    decision: str = "",
    *,
    dry_run: bool = False,
    log: StepLog | None = None,
    receipt: bytes | None = None,
) -> Upgrade:
    """Move a package, which came from ``base``, to the version of another bundle.

    Raises `ConflictError` with every conflict, and changes nothing, unless a ``decision`` is given (`merge.merge`), or
    nothing is to be written (``dry_run``). Files that no bundle has stay as they are. The change goes into ``log``.
    ``receipt`` says where the new version is from, in a file beside those of the bundle.
    """
    tree = Tree(folder)
    with nullcontext() if dry_run else tree.locked(log):
        _check_same(tree, base, theirs)
        old, new = base.files, theirs.files
        _check_folders(tree, new)
        ours = dict(_read(tree, {*old, *new}))
        versions = Versions(base=old, ours=ours, theirs=new, root_dir=Path(tree.root), new=theirs.version)
        with _as_files_of(tree, versions):
            merged = merge(versions, decision)
        placed = tuple(conflict._replace(file=tree.prefix + conflict.file) for conflict in merged.conflicts)
        if placed and not (decision or dry_run):
            raise undecided(placed)
        if not dry_run:
            executable = [member.path for member in theirs.members if member.executable]
            tree.write({**merged.files, **_receipt(tree, receipt)}, executable=executable)
    return Upgrade(ours, replace(merged, conflicts=placed))


def undecided(conflicts: Sequence[Problem]) -> ConflictError:
    """Return the error that lists conflicts which nobody has decided."""
    number = f"{len(conflicts)} conflict{'s' * (len(conflicts) > 1)}; nothing was changed"
    return ConflictError(*conflicts, Problem(number, hint=_DECIDE))


def _receipt(tree: Tree, new: bytes | None) -> dict[str, bytes]:
    """Return the receipt to write, after the present one was read; a link is refused, as it names another file."""
    if new is None:
        return {}
    if os.path.islink(tree.prefix + RECEIPT):  # noqa: PTH114  # a text
        raise InputError(Problem("must not be a link", file=tree.prefix + RECEIPT, hint="remove it"))
    dict(_read(tree, {RECEIPT}))
    return {RECEIPT: new}


def _check_same(tree: Tree, base: Bundle, theirs: Bundle) -> None:
    """Refuse bundles of other packages."""
    names = {base.name, theirs.name}
    if tree.has_file(manifest.FILE):
        try:
            names.add(Manifest.parse(tree.read(manifest.FILE)).name)
        except IntegrityError as error:
            raise error.mapped(lambda problem: problem._replace(file=tree.prefix + problem.file, hint=_AWAY)) from error
    if len(names) > 1:
        raise InputError(Problem(f"these are different packages: {', '.join(sorted(names))}", file=str(tree.root_dir)))


def _read(tree: Tree, names: set[str]) -> Iterator[tuple[str, bytes]]:
    for path in sorted(names):
        try:
            if tree.has_file(path):
                yield path, tree.read(path)
            elif tree.has(path):
                raise InputError(Problem("must be a file: the package has one of this name", file=tree.prefix + path))
        except InputError as error:
            raise error.hinted(_AWAY) from error


def _check_folders(tree: Tree, files: Collection[str]) -> None:
    """Refuse files that stand where the new version has folders."""
    folders = {path[:at] for path in files for at, sign in enumerate(path) if sign == "/"}
    message = "must be a folder: the package has files in it"
    refuse(Problem(message, file=tree.prefix + path, hint=_AWAY) for path in sorted(folders) if tree.has_file(path))


@contextmanager
def _as_files_of(tree: Tree, versions: Versions) -> Iterator[None]:
    """Name what is wrong with a file that is as neither version has it by its place here."""
    try:
        yield
    except InputError as error:
        sides = versions.base, versions.theirs
        problems = (
            problem._replace(file=tree.prefix + problem.file)
            if all(versions.ours.get(problem.file) != side.get(problem.file) for side in sides)
            else problem
            for problem in error.problems
        )
        raise InputError(*problems) from error
