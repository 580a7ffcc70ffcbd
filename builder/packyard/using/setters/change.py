"""Changing the packages of a directory: find them, read and plan each, check the rules, then write all or nothing.

This is the library's way in::

    for change in change_setters(Path("multi-node"), {"NFS_SERVER": ["10.0.0.5"]}, recursive=True):
        print(change.package, change.plan.counts)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from packyard.core.errors import ConflictError, InputError, Problem, refuse, suggest
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.core.work.memo import Memo
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.packages import PackageFiles, find_packages, read_krmfile, read_package
from packyard.using.setters.plan import Assignment, Plan, Shipped, no_default, placed, plan, unknown

if TYPE_CHECKING:
    from packyard.using.setters.kpt.kptpackage import KptPackage

_NOT_SHIPPED: Shipped = {}


class PackageChange(NamedTuple):
    """What was done to one package, or would be: its path below the directory, its files as they were, and the plan."""

    package: str
    before: PackageFiles
    plan: Plan


class Beside(NamedTuple):
    """Packages that a change of a directory reaches beside it: the options that a use case has enabled.

    ``root_dir`` holds the directory and them, ``directory`` is the path from there; ``packages`` are the paths of the
    others, each with the setters that are reached there, and the options that have them.
    """

    root_dir: Path
    directory: str
    packages: Mapping[str, Mapping[str, Sequence[str]]]


class _Found(NamedTuple):
    """A package to be changed, by its path below the tree's root; ``where`` stands before paths in messages.

    If ``names`` is not None, only these setters are changed there.
    """

    path: str
    where: str
    names: Collection[str] | None = None


class PackageSetters:
    """All setters of a package, each file parsed once for their names and for planning."""

    def __init__(self, package: PackageFiles, memo: Memo | None = None) -> None:
        self._package = package
        self._memo = Memo() if memo is None else memo
        self.krmfile = read_krmfile(package, self._memo)
        self._kpt = None if package.is_of_kustomize else _read_kpt(package)
        self.names = self._kpt.names() if self._kpt else {*self.krmfile.definitions.setters}

    def plan(self, assignment: Assignment, shipped: Shipped = _NOT_SHIPPED) -> Plan:
        """Plan to give setters values, and to take others back, as `plan` does."""
        package = self._package
        if self._kpt is None:
            return plan(package, assignment, shipped=shipped, memo=self._memo)
        definitions = self.krmfile.definitions
        refuse(
            unknown(name, self.names, package, definitions, assignment.command)
            for name in assignment.names
            if name not in self.names
        )
        refuse(no_default(Setter(name, file=package.where + package.name)) for name in assignment.unset)
        return self._kpt.set(assignment.values, as_kustomize=assignment.as_kustomize)


def _read_kpt(package: PackageFiles) -> KptPackage:
    from packyard.using.setters.kpt.kptpackage import KptPackage  # most packages have no Kptfile

    return KptPackage(package)


def change_setters(
    directory: Path,
    values: Mapping[str, Sequence[str]],
    *,
    unset: Sequence[str] = (),
    recursive: bool = False,
    set_by: str = "",
    dry_run: bool = False,
    log: StepLog | None = None,
    beside: Beside | None = None,
    shipped: Callable[[Path], Shipped] = lambda _: {},
    replaced: Callable[[Path], Mapping[str, tuple[bytes, bytes]]] = lambda _: {},
    yields: bool = False,
    command: str = "",
) -> list[PackageChange]:
    """Set and unset values in a package, or with ``recursive`` in every package below that has the setter.

    Everything is checked before anything is written, rules between setters included. Refused are a name that no package
    has, one that no field has, and what is to be unset and has no value to go back to. With ``dry_run`` nothing is
    written; a change goes into ``log``. Packages ``beside`` the directory are changed along; paths of packages begin at
    `Beside.root_dir` then. ``shipped`` says with which values a directory was shipped, for those that are
    unset, and ``replaced`` which files of it are written besides: their bytes before and after. What is set already
    ``yields`` to nobody: it stays, and names that no package has are passed over.
    ``command`` is that of `Assignment`.
    """
    assignment = Assignment(values, unset, set_by, command=command)
    memo, names = Memo(), set[str]()
    tree = Tree(beside.root_dir if beside else directory)

    def plan_one(package: PackageFiles, place: _Found) -> Plan | None:
        after = _replaced(package, replaced(tree.root_dir / place.path))
        setters = PackageSetters(package.with_files(after), memo)
        names.update(setters.names)
        here = assignment
        if recursive or beside or yields:
            here = assignment.among(setters.names if place.names is None else setters.names & set(place.names))
        values = shipped(tree.root_dir / place.path) if unset or yields else {}
        if yields:
            defined = setters.krmfile.definitions.setters
            here = here.among([name for name, setter in defined.items() if _is_as_shipped(setter, values)])
        if not here.names:
            return Plan(files=after) if after else None
        planned = setters.plan(here, values)
        check_rules(setters.krmfile, planned)
        return planned._replace(files={**after, **planned.files})

    with nullcontext() if dry_run else tree.locked(log):
        places = _find(tree, directory, beside, recursive=recursive, kpt=True)
        changes = _plan_each(tree, places, plan_one)
        reached = {name for change in changes for name in change.plan.counts}
        where = f"is in no package below {tree.root_dir}"
        refuse(
            placed(Problem(f"setter {name!r} {where}", hint=suggest(name, names), missing=name), values.get(name, ()))
            for name in assignment.names
            if name not in reached and not yields
        )
        refuse(_without_fields(changes))
        if not dry_run:
            _write(tree, changes)
    return changes


def _replaced(package: PackageFiles, files: Mapping[str, tuple[bytes, bytes]]) -> dict[str, bytes]:
    """Return files with other bytes; refuse one that is not as it was when these were made."""
    for name, (before, _) in files.items():
        if name not in package.files:
            message = "is not among the files that setters reach"
            raise InputError(Problem(message, file=package.where + name, hint="name it kustomization.yaml"))
        if package.files[name] != before:
            raise ConflictError(Problem("was changed meanwhile", file=package.where + name, hint="run again"))
    return {name: after for name, (_, after) in files.items()}


def _is_as_shipped(setter: Setter, shipped: Shipped) -> bool:
    """Say whether nobody has set or edited a setter."""
    if setter.is_set or setter.name not in shipped:
        return not setter.is_set
    default = shipped[setter.name] or ()
    return setter.with_value([default] if isinstance(default, str) else default).texts == setter.texts


def change_packages(
    directory: Path,
    plan_package: Callable[[str, PackageFiles], Plan | None],
    *,
    recursive: bool,
    dry_run: bool = False,
    log: StepLog | None = None,
    beside: Beside | None = None,
    kpt: bool = False,
) -> list[PackageChange]:
    """Change a package as a function plans it, or with ``recursive`` all packages below, and those ``beside`` it.

    The function is given the path below the directory, too, or below `Beside.root_dir`; it returns None for a package
    that stays as it is. With ``kpt`` directories with a Kptfile are packages too.
    """
    tree = Tree(beside.root_dir if beside else directory)
    with nullcontext() if dry_run else tree.locked(log):
        places = _find(tree, directory, beside, recursive=recursive, kpt=kpt)
        changes = _plan_each(tree, places, lambda package, place: plan_package(place.path, package))
        if not dry_run:
            _write(tree, changes)
    return changes


def _find(tree: Tree, directory: Path, beside: Beside | None, *, recursive: bool, kpt: bool) -> list[_Found]:
    """Find the packages of a directory, which is the tree's root if there are none beside it, and those beside it."""
    own = Tree(directory) if beside else tree
    paths = find_packages(own, recursive=recursive, kpt=kpt)
    base = beside.directory if beside else ""
    places = [_Found(_join(base, path).rstrip("/"), own.prefix + _join(path, "")) for path in paths]
    if beside:
        places += [_Found(path, tree.prefix + _join(path, ""), names) for path, names in beside.packages.items()]
    return places


def _plan_each(
    tree: Tree, places: Iterable[_Found], plan_one: Callable[[PackageFiles, _Found], Plan | None]
) -> list[PackageChange]:
    """Read and plan each package; a package of kpt reaches into those below it, which see what it changes there."""
    changes: list[PackageChange] = []
    problems: list[Problem] = []
    changed: dict[str, bytes] = {}
    overlap = False
    for place in places:
        try:
            before = read_package(tree, place.path, place.where)
            overlap = overlap or not before.is_of_kustomize
            if overlap and changed:
                files = {path: changed.get(_join(place.path, path), data) for path, data in before.files.items()}
                before = before.with_files(files)
            planned = plan_one(before, place)
        except InputError as error:
            problems += error.problems
        else:
            if planned is not None:
                changes.append(PackageChange(place.path, before, planned))
                changed.update((_join(place.path, path), data) for path, data in planned.files.items())
    refuse({str(problem): problem for problem in problems}.values())  # what is wrong everywhere is said once
    return changes


def _without_fields(changes: Sequence[PackageChange]) -> Iterator[Problem]:
    """Yield what is wrong with setters that no package has a field for: a set would change nothing."""
    used = {name for change in changes for name, count in change.plan.counts.items() if count}
    for change in changes:
        for name in change.plan.counts.keys() - used:
            yield unbound(change.before, change.plan.definitions.setters[name])


def unbound(package: PackageFiles, setter: Setter) -> Problem:
    """Return why a setter has no field in a package."""
    name = setter.name
    mark = f'# {{"$openapi":"{name}"}}' if package.is_of_kustomize else f"# kpt-set: ${{{name}}}"
    message = f"{name} would set no field: no comment in the files names it"
    return setter.problem(message, f"put {mark} behind the field that it sets")


def check_rules(krmfile: Krmfile, planned: Plan) -> None:
    """Refuse a plan after which a rule that names one of its setters is broken."""
    section = krmfile.root.get("rules")
    if section is None or not any(name in section.lexeme for name in planned.counts):
        return
    from packyard.using.setters.rules import rule  # most sets are under no rule

    setters = {**krmfile.definitions.setters, **planned.definitions.setters}
    refuse(rule.find_broken(krmfile.root, setters, planned.counts))


def _write(tree: Tree, changes: Iterable[PackageChange]) -> None:
    tree.write({_join(each.package, path): data for each in changes for path, data in each.plan.files.items()})


def _join(package: str, path: str) -> str:
    return f"{package}/{path}" if package else path
