"""Changing setters of packages on disk: all packages of one command are planned first, then written as one.

This is the library's way in::

    for change in change_setters(Path("multi-node"), {"NFS_SERVER": ["10.0.0.5"]}, recursive=True):
        print(change.package, change.plan.counts)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from packyard.dataclass import dataclass, replace
from packyard.errors import InputError, Problem, refuse, suggest
from packyard.files.tree import Keep, Tree
from packyard.setters.definition import Definitions
from packyard.setters.krmfile import Krmfile
from packyard.setters.packagefiles import PackageFiles, read_krmfile
from packyard.setters.packages import find_packages, read_package
from packyard.setters.plan import NOTHING_SHIPPED, Copies, Plan, Shipped, plan, plan_unset, without_default


@dataclass(frozen=True, slots=True)
class PackageChange:
    """What was done to one package, or would be: its path below the directory, its files as they were, and the plan."""

    package: str
    before: PackageFiles
    plan: Plan

    def bytes_before(self, path: str) -> bytes:
        """Return a file of the package as it was."""
        return self.before.files[path]


@dataclass(frozen=True, slots=True)
class Beside:
    """Packages that a change of a directory reaches beside it: the options that a use case has enabled.

    ``root_dir`` holds the directory and them, ``directory`` is the path from there; ``packages`` are the paths of the
    others, each with the names of the setters that are reached there.
    """

    root_dir: Path
    directory: str
    packages: Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True)
class Request:
    """What a command asks for: values to set, names to unset, and what is recorded with the values."""

    values: Mapping[str, Sequence[str]]
    unset: Sequence[str] = ()
    set_by: str = ""
    description: str = ""

    def among(self, names: Collection[str]) -> Request:
        """Return what is asked of these setters."""
        return replace(
            self,
            values={name: texts for name, texts in self.values.items() if name in names},
            unset=[name for name in self.unset if name in names],
        )


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
    beside: Beside | None = None,
    shipped: Callable[[Path], Shipped] | None = None,
    left: list[Problem] | None = None,
) -> list[PackageChange]:
    """Set and unset values in a package, or with ``recursive`` in every package below that has the setter.

    Everything is checked before anything is written, rules between setters included; a name that no package has is
    refused. With ``dry_run`` nothing is written. ``keep`` is told of every change before it is made
    (`history.History.record`). Packages ``beside`` the directory are changed along; paths of packages begin at
    `Beside.root_dir` then. ``shipped`` says with which values a directory was shipped, for those that are unset; what
    has no value to go back to is told in ``left``, and keeps none of the others.
    """

    request = Request(values, unset, set_by=set_by, description=description)
    copies = Copies()
    told: set[str] = set()  # names that have no value to go back to

    def plan_package(package: PackageFiles, path: str) -> Plan | None:
        names = beside.packages.get(path) if beside else None
        asked = request if names is None else request.among(names)
        known = shipped(tree.root_dir / path) if shipped and asked.unset else NOTHING_SHIPPED
        if left is not None and asked.unset:
            problems = without_default(package, asked.unset, known)
            left.extend(problems.values())
            told.update(problems)
            asked = replace(asked, unset=[name for name in asked.unset if name not in problems])
        only_known = recursive or beside is not None
        return plan_values(package, asked, only_known=only_known, rules=True, copies=copies, shipped=known)

    def where(path: str) -> str:
        prefix = Tree(directory).prefix
        if beside is None or path in beside.packages:
            return f"{tree.prefix}{path}/" if path else tree.prefix
        below = path.removeprefix(beside.directory).lstrip("/")
        return f"{prefix}{below}/" if below else prefix

    tree = Tree(beside.root_dir if beside else directory)
    wanted = [*values, *unset]
    with nullcontext() if dry_run else tree.locked():
        packages = find_packages(Tree(directory), recursive=recursive, kpt=True)
        if beside:
            packages = [*(_join(beside.directory, package) for package in packages), *beside.packages]
        changes, problems = _plan_all(tree, packages, plan_package, where)
        done = {name for change in changes for name in change.plan.counts}
        if not problems:
            problems = [_nowhere(tree, packages, name) for name in wanted if name not in done | told]
        _write(tree, changes, problems, dry_run=dry_run, keep=keep)
    return changes


def plan_values(
    package: PackageFiles,
    request: Request,
    *,
    only_known: bool = False,
    rules: bool = False,
    copies: Copies | None = None,
    shipped: Shipped = NOTHING_SHIPPED,
) -> Plan | None:
    """Plan to set and unset values in one package, in whichever spelling it has them.

    With ``only_known`` names that it does not have are left out, and None is returned where it has none of them. With
    ``rules`` the values have to keep those of the Krmfile's rules that name one of them. ``copies`` is one for all
    packages that get these values in a run, ``shipped`` are the values that the package was shipped with.
    """
    krmfile = copies.read_krmfile(package) if copies else read_krmfile(package)
    tagged = _tagged_names(package)
    if only_known:
        request = request.among({*krmfile.definitions.setters, *tagged})
    if not request.values and not request.unset:
        return None
    if tagged:
        planned = _in_both_spellings(package, krmfile, tagged, request, shipped)
    else:
        planned = _as_defined(package, krmfile, request, shipped, copies)
    if rules:
        _check_rules(krmfile, planned)
    return planned


def _check_rules(krmfile: Krmfile, planned: Plan) -> None:
    """Refuse a plan after which a rule that names one of its setters is broken."""
    section = krmfile.root.get("rules")
    if section is None or not any(name in section.lexeme for name in planned.counts):
        return
    from packyard.setters.rules import rule  # most sets are under no rule

    setters = {**krmfile.definitions.setters, **planned.definitions.setters}
    refuse(rule.find_broken(krmfile.root, setters, planned.counts))


def _tagged_names(package: PackageFiles) -> set[str]:
    """Return the names of setters in kpt's spelling."""
    if package.kptfile is None:
        return set()
    from packyard.setters.kpt.package import KptPackage

    return KptPackage(package).names()


def _in_both_spellings(
    package: PackageFiles, krmfile: Krmfile, tagged: set[str], request: Request, shipped: Shipped
) -> Plan:
    """Plan for a package with a Kptfile: what definitions say first, then what the pipeline and comments say."""
    from packyard.setters.kpt.package import KptPackage

    defined = krmfile.definitions.setters
    where = package.where + package.name
    known = {*defined, *tagged}
    refuse(
        Problem(f'setter "{name}" is not found', file=where, hint=suggest(name, known), missing=name)
        for name in (*request.values, *request.unset)
        if name not in known
    )
    refuse(
        Problem(
            f"setter {name!r} has no default to go back to", file=where, hint=f"set it: packyard set DIR {name}=VALUE"
        )
        for name in request.unset
        if name not in defined
    )
    ours, theirs = request.among(defined), request.among(tagged).values
    first = _as_defined(package, krmfile, ours, shipped) if ours.values or ours.unset else Plan()
    return _joined(first, KptPackage(package.with_files(first.files)).plan(theirs)) if theirs else first


def _as_defined(
    package: PackageFiles, krmfile: Krmfile, request: Request, shipped: Shipped, copies: Copies | None = None
) -> Plan:
    """Plan what is set and what is unset; one after the other, as their fields may be the same."""
    by, description = request.set_by, request.description
    if not request.unset:
        return plan(package, request.values, set_by=by, description=description, krmfile=krmfile, copies=copies)
    first = plan_unset(package, request.unset, shipped)
    if not request.values:
        return first
    rest = package.with_files(first.files)
    return _joined(first, plan(rest, request.values, set_by=by, description=description))


def _joined(first: Plan, second: Plan) -> Plan:
    """Join two plans, the second of which was made for what the first leaves."""
    counts = {name: first.counts.get(name, 0) + second.counts.get(name, 0) for name in (*first.counts, *second.counts)}
    setters = {**first.definitions.setters, **second.definitions.setters}
    substitutions = {**first.definitions.substitutions, **second.definitions.substitutions}
    files = {**first.files, **second.files}
    return Plan((*first.changes, *second.changes), files, counts, Definitions(setters, substitutions))


def apply(
    directory: Path,
    plan_package: Callable[[PackageFiles], Plan | None],
    *,
    recursive: bool,
    dry_run: bool,
    wanted: Sequence[str] = (),
    keep: Keep | None = None,
    kpt: bool = False,
) -> list[PackageChange]:
    """Plan every package, gather what is wrong with all of them, and write all or nothing.

    With ``kpt`` directories with a Kptfile are packages too.
    """
    tree = Tree(directory)
    with nullcontext() if dry_run else tree.locked():
        packages = find_packages(tree, recursive=recursive, kpt=kpt)
        changes, problems = _plan_all(tree, packages, lambda files, _: plan_package(files))
        found = {name for change in changes for name in change.plan.counts}
        if not problems:
            problems = [_nowhere(tree, packages, name) for name in wanted if name not in found]
        _write(tree, changes, problems, dry_run=dry_run, keep=keep)
    return changes


def _write(
    tree: Tree, changes: Sequence[PackageChange], problems: Sequence[Problem], *, dry_run: bool, keep: Keep | None
) -> None:
    """Write what was planned, or refuse all of it."""
    refuse({str(problem): problem for problem in problems}.values())  # what is wrong everywhere is said once
    if not dry_run:
        files = {_join(item.package, path): data for item in changes for path, data in item.plan.files.items()}
        tree.write(files, keep)


def _plan_all(
    tree: Tree,
    packages: Sequence[str],
    plan_package: Callable[[PackageFiles, str], Plan | None],
    where: Callable[[str], str] | None = None,
) -> tuple[list[PackageChange], list[Problem]]:
    changes: list[PackageChange] = []
    problems: list[Problem] = []
    written: dict[str, bytes] = {}
    shared = False  # whether two packages may reach the same file
    for package in packages:
        try:
            before = read_package(tree, package)
            if where:
                before = replace(before, where=where(package))
            shared = shared or before.kptfile is not None
            if shared and written:
                before = before.with_files(
                    {path: written.get(_join(package, path), data) for path, data in before.files.items()}
                )
            planned = plan_package(before, package)
        except InputError as error:
            problems += error.problems
        else:
            if planned is not None:
                changes.append(PackageChange(package, before, planned))
                written.update((_join(package, path), data) for path, data in planned.files.items())
    return changes, problems


def _nowhere(tree: Tree, packages: Sequence[str], name: str) -> Problem:
    files = [read_package(tree, package) for package in packages]
    known = {
        known for package in files for known in (*read_krmfile(package).definitions.setters, *_tagged_names(package))
    }
    message = f'setter "{name}" is in none of {len(packages)} packages below {tree.root_dir}'
    return Problem(message, hint=suggest(name, known), missing=name)


def _join(package: str, path: str) -> str:
    return f"{package}/{path}" if package else path
