"""Changing setters of packages on disk: all packages of one command are planned first, then written as one.

This is the library's way in::

    for change in change_setters(Path("multi-node"), {"NFS_SERVER": ["10.0.0.5"]}, recursive=True):
        print(change.package, change.plan.counts)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from packyard.errors import InputError, Problem, suggest
from packyard.setters.directory import find_packages, read_package
from packyard.setters.krmfile import NAME
from packyard.setters.plan import PackageFiles, Plan, plan, plan_unset, read_krmfile
from packyard.text import journal
from packyard.text.tree import Tree
from packyard.text.value import Value

#: Told of a change before it is made: the bytes of every file before and after.
Keep = Callable[[Mapping[Path, bytes], Mapping[Path, bytes]], None]


class PackageChange(Value):
    """What was done to one package, or would be: its path below the directory, its files as they were, and the plan."""

    __slots__ = ("before", "package", "plan")

    def __init__(self, package: str, before: PackageFiles, plan: Plan) -> None:
        self.package = package
        self.before = before
        self.plan = plan

    def bytes_before(self, path: str) -> bytes:
        """Return a file of the package as it was."""
        return self.before.krmfile if path == NAME else self.before.resources[path]


def change_setters(
    directory: Path,
    values: Mapping[str, Sequence[str]],
    *,
    unset: Sequence[str] = (),
    recursive: bool = False,
    set_by: str = "",
    description: str = "",
    dry_run: bool = False,
    keep: Keep | None = None,
) -> list[PackageChange]:
    """Set and unset values in a package, or with ``recursive`` in every package below that has the setter.

    Everything is checked before anything is written; a name that no package has is refused. With ``dry_run`` nothing is
    written. ``keep`` is told of every change before it is made (`history.History.record`).
    """

    def plan_package(package: PackageFiles) -> Plan | None:
        krmfile = read_krmfile(package)
        known = krmfile.definitions.setters
        here = {name: texts for name, texts in values.items() if name in known or not recursive}
        back = [name for name in unset if name in known or not recursive]
        if not here and not back:
            return None
        if not back:
            return plan(package, here, set_by=set_by, description=description, krmfile=krmfile)
        return _both(package, here, back, set_by, description)

    return apply(directory, plan_package, recursive=recursive, dry_run=dry_run, wanted=[*values, *unset], keep=keep)


def _both(
    package: PackageFiles, values: Mapping[str, Sequence[str]], unset: Sequence[str], set_by: str, description: str
) -> Plan:
    """Plan what is set and what is unset; one after the other, as their fields may be the same."""
    first = plan_unset(package, unset)
    if not values:
        return first
    files = {**package.resources, **{path: data for path, data in first.files.items() if path != "Krmfile"}}
    between = PackageFiles(first.files.get("Krmfile", package.krmfile), files, package.where)
    second = plan(between, values, set_by=set_by, description=description)
    counts = {**first.counts, **second.counts}
    return Plan((*first.changes, *second.changes), {**first.files, **second.files}, counts, second.definitions)


def apply(
    directory: Path,
    plan_package: Callable[[PackageFiles], Plan | None],
    *,
    recursive: bool,
    dry_run: bool,
    wanted: Sequence[str] = (),
    keep: Keep | None = None,
) -> list[PackageChange]:
    """Plan every package, gather what is wrong with all of them, and write all or nothing."""
    tree = Tree(directory)
    packages = find_packages(tree, recursive=recursive)
    with journal.locked(directory, [directory / package for package in packages]):
        changes, problems = _plan_all(tree, packages, plan_package)
        found = {name for change in changes for name in change.plan.counts}
        if not problems:
            problems = [_nowhere(tree, packages, name) for name in wanted if name not in found]
        if problems:
            raise InputError(*problems)
        if not dry_run:
            files = {_join(item.package, path): data for item in changes for path, data in item.plan.files.items()}
            if keep and files:
                before = {
                    _join(item.package, path): item.bytes_before(path) for item in changes for path in item.plan.files
                }
                keep(_below(directory, before), _below(directory, files))
            tree.write(files)
    return changes


def _below(directory: Path, files: Mapping[str, bytes]) -> dict[Path, bytes]:
    return {directory / path: data for path, data in files.items()}


def _plan_all(
    tree: Tree, packages: Sequence[str], plan_package: Callable[[PackageFiles], Plan | None]
) -> tuple[list[PackageChange], list[Problem]]:
    changes: list[PackageChange] = []
    problems: list[Problem] = []
    for package in packages:
        try:
            before = read_package(tree, package)
            planned = plan_package(before)
        except InputError as error:
            problems += error.problems
        else:
            if planned is not None:
                changes.append(PackageChange(package, before, planned))
    return changes, problems


def _nowhere(tree: Tree, packages: Sequence[str], name: str) -> Problem:
    known = {known for package in packages for known in read_krmfile(read_package(tree, package)).definitions.setters}
    message = f'setter "{name}" is in none of {len(packages)} packages below {tree.root_dir}'
    return Problem(message, hint=suggest(name, known))


def _join(package: str, path: str) -> str:
    return f"{package}/{path}" if package else path
