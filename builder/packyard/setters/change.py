"""Changing setters of packages on disk: all packages of one command are planned first, then written as one.

This is the library's way in::

    for change in change_setters(Path("multi-node"), {"NFS_SERVER": ["10.0.0.5"]}, recursive=True):
        print(change.package, change.plan.counts)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from packyard.errors import InputError, Problem, refuse, suggest
from packyard.files.tree import Keep, Tree
from packyard.setters.definition import Definitions
from packyard.setters.directory import find_packages, read_package
from packyard.setters.krmfile import Krmfile
from packyard.setters.packagefiles import PackageFiles, read_krmfile
from packyard.setters.plan import Copies, Plan, plan, plan_unset
from packyard.text.value import Value


class PackageChange(Value):
    """What was done to one package, or would be: its path below the directory, its files as they were, and the plan."""

    __slots__ = ("before", "package", "plan")

    def __init__(self, package: str, before: PackageFiles, plan: Plan) -> None:
        self.package = package
        self.before = before
        self.plan = plan

    def bytes_before(self, path: str) -> bytes:
        """Return a file of the package as it was."""
        return self.before.files[path]


class Request(Value):
    """What a command asks for: values to set, names to unset, and what is recorded with the values."""

    __slots__ = ("description", "set_by", "unset", "values")

    def __init__(
        self,
        values: Mapping[str, Sequence[str]],
        unset: Sequence[str] = (),
        *,
        set_by: str = "",
        description: str = "",
    ) -> None:
        self.values = values
        self.unset = unset
        self.set_by = set_by
        self.description = description

    def among(self, names: Collection[str]) -> Request:
        """Return what is asked of these setters."""
        return self.replaced(
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
) -> list[PackageChange]:
    """Set and unset values in a package, or with ``recursive`` in every package below that has the setter.

    Everything is checked before anything is written, rules between setters included; a name that no package has is
    refused. With ``dry_run`` nothing is written. ``keep`` is told of every change before it is made
    (`history.History.record`).
    """

    request = Request(values, unset, set_by=set_by, description=description)
    copies = Copies()

    def plan_package(package: PackageFiles) -> Plan | None:
        return plan_values(package, request, only_known=recursive, rules=True, copies=copies)

    wanted = [*values, *unset]
    return apply(directory, plan_package, recursive=recursive, dry_run=dry_run, wanted=wanted, keep=keep, kpt=True)


def plan_values(
    package: PackageFiles,
    request: Request,
    *,
    only_known: bool = False,
    rules: bool = False,
    copies: Copies | None = None,
) -> Plan | None:
    """Plan to set and unset values in one package, in whichever spelling it has them.

    With ``only_known`` names that it does not have are left out, and None is returned where it has none of them. With
    ``rules`` the values have to keep those of the Krmfile's rules that name one of them. ``copies`` is one for all
    packages that get these values in a run.
    """
    krmfile = copies.read_krmfile(package) if copies else read_krmfile(package)
    tagged = _tagged_names(package)
    if only_known:
        request = request.among({*krmfile.definitions.setters, *tagged})
    if not request.values and not request.unset:
        return None
    if tagged:
        planned = _in_both_spellings(package, krmfile, tagged, request)
    else:
        planned = _as_defined(package, krmfile, request, copies)
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


def _in_both_spellings(package: PackageFiles, krmfile: Krmfile, tagged: set[str], request: Request) -> Plan:
    """Plan for a package with a Kptfile: what definitions say first, then what the pipeline and comments say."""
    from packyard.setters.kpt.package import KptPackage

    defined = krmfile.definitions.setters
    where = package.where + package.name
    known = {*defined, *tagged}
    refuse(
        Problem(f'setter "{name}" is not found', file=where, hint=suggest(name, known))
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
    first = _as_defined(package, krmfile, ours) if ours.values or ours.unset else Plan()
    return _joined(first, KptPackage(package.with_files(first.files)).plan(theirs)) if theirs else first


def _as_defined(package: PackageFiles, krmfile: Krmfile, request: Request, copies: Copies | None = None) -> Plan:
    """Plan what is set and what is unset; one after the other, as their fields may be the same."""
    by, description = request.set_by, request.description
    if not request.unset:
        return plan(package, request.values, set_by=by, description=description, krmfile=krmfile, copies=copies)
    first = plan_unset(package, request.unset)
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
        changes, problems = _plan_all(tree, packages, plan_package)
        found = {name for change in changes for name in change.plan.counts}
        if not problems:
            problems = [_nowhere(tree, packages, name) for name in wanted if name not in found]
        refuse({str(problem): problem for problem in problems}.values())  # what is wrong everywhere is said once
        if not dry_run:
            files = {_join(item.package, path): data for item in changes for path, data in item.plan.files.items()}
            tree.write(files, keep)
    return changes


def _plan_all(
    tree: Tree, packages: Sequence[str], plan_package: Callable[[PackageFiles], Plan | None]
) -> tuple[list[PackageChange], list[Problem]]:
    changes: list[PackageChange] = []
    problems: list[Problem] = []
    written: dict[str, bytes] = {}
    shared = False  # whether two packages may reach the same file
    for package in packages:
        try:
            before = read_package(tree, package)
            shared = shared or before.kptfile is not None
            if shared and written:
                before = before.with_files(
                    {path: written.get(_join(package, path), data) for path, data in before.files.items()}
                )
            planned = plan_package(before)
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
    return Problem(message, hint=suggest(name, known))


def _join(package: str, path: str) -> str:
    return f"{package}/{path}" if package else path
