"""Setting what a use case has, the setters of its options included; a values file enables options along.

Everything is checked before anything is written, rules between setters included. This is the library's way in::

    for change in set_values(Path("multi-node"), {"NFS_SERVER": ["10.0.0.5"]}, recursive=True).changes:
        print(change.package, change.plan.counts)
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from posixpath import join
from typing import TYPE_CHECKING, NamedTuple

from packyard.core.errors import ConflictError, InputError, Problem, absent, refuse
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.using.options import folder
from packyard.using.options.folder import OPTIONS
from packyard.using.setters.change import check_rules, read_changed, read_kpt, unbound
from packyard.using.setters.definition import Setter
from packyard.using.setters.packages import PackageFiles, find_packages, read_krmfile
from packyard.using.setters.plan import Assignment, Plan, Shipped, is_as_shipped, no_default, placed, plan, unknown

if TYPE_CHECKING:
    from packyard.using.options.option_setters import Beside
    from packyard.using.options.switch import Switched

_NOT_SHIPPED: Shipped = {}


class PackageSetters:
    """All setters of a package, each file parsed once for their names and for planning."""

    def __init__(self, package: PackageFiles) -> None:
        self._package = package
        self.krmfile = read_krmfile(package)
        self._kpt = read_kpt(package)
        self.names = self._kpt.names() if self._kpt else {*self.krmfile.definitions.setters}

    def plan(self, assignment: Assignment, shipped: Shipped = _NOT_SHIPPED) -> Plan:
        """Plan to give setters values, and to take others back, as `plan` does."""
        package = self._package
        if self._kpt is None:
            return plan(package, assignment, shipped=shipped, krmfile=self.krmfile)
        missing = [name for name in assignment.names if name not in self.names]
        refuse(unknown(name, self.names, package, self.krmfile.definitions, assignment.command) for name in missing)
        refuse(no_default(Setter(name, file=package.where + package.name)) for name in assignment.unset)
        return self._kpt.set(assignment.values, as_kustomize=assignment.as_kustomize)


class Place(NamedTuple):
    """A package that is reached, by its path below the tree's root; ``where`` stands before paths in messages.

    ``package`` is the path below the directory. Of a package of options ``names`` are the setters that are reached
    there, each with the options that have it.
    """

    path: str
    where: str
    package: str
    names: Mapping[str, Sequence[str]] | None = None


class Change(NamedTuple):
    """What was done to one package, or would be: its path below the directory, and the same as it is shown to people.

    ``before`` are its files as they were. ``enabled`` are the options that its ``kustomization`` got; ``shared`` are
    the names that are set in an option for all use cases, each with the options that have it.
    """

    package: str
    place: str
    before: PackageFiles
    plan: Plan
    kustomization: str
    enabled: Sequence[str]
    shared: Mapping[str, Sequence[str]]


class Outcome(NamedTuple):
    """What was set where; the files below ``root_dir``, with their bytes before and after; and what else to tell.

    ``kept`` are the names that were not set, as they were set before, and ``absent`` those that are not here;
    ``misfits`` say of options why they were not enabled, and ``unsure`` why it is not known whether one fits.
    """

    changes: Sequence[Change]
    root_dir: Path
    files: Mapping[str, tuple[bytes | None, bytes | None]]
    kept: Sequence[str]
    absent: Sequence[str]
    misfits: Sequence[str]
    unsure: Sequence[str]


def set_values(
    directory: Path,
    values: Mapping[str, Sequence[str]],
    *,
    unset: Sequence[str] = (),
    options: Sequence[str] = (),
    recursive: bool = False,
    keep: bool = False,
    set_by: str = "",
    dry_run: bool = False,
    log: StepLog | None = None,
    command: str = "",
    opened: Tree | None = None,
) -> Outcome:
    """Set and unset values and enable options in a use case, or with ``recursive`` in all below that have them.

    Refused are a name that no package has, one that no field has, and what is to be unset and has no value to go back
    to. With ``keep`` what is set stays, and names and options that fit nowhere are passed over. With ``dry_run``
    nothing is written; a change goes into ``log`` under what was set. ``command`` is that of `Assignment`, ``opened`` a
    tree of the directory of which something was read.
    """
    top = opened or Tree(directory)
    assignment = Assignment(values, unset, set_by, command=command)
    enabled, misfits = _enabled(top, options, recursive=recursive) if options else ({}, [])
    refuse([] if keep else misfits)
    beside = _beside(top, assignment.names, options, recursive=recursive)
    tree = beside.tree if beside else top
    known = set[str]()
    changes: list[Change] = []
    problems: list[Problem] = []
    files: dict[str, tuple[bytes | None, bytes | None]] = {}
    after: dict[str, bytes] = {}
    with nullcontext() if dry_run else tree.locked(log):
        for place in _places(top, beside, recursive=recursive):
            real = tree.root_dir / place.path
            switched = enabled.get(os.path.realpath(real)) if enabled else None
            try:
                before = read_changed(tree, place.path, after, place.where)
                edited = _edited(before, switched)
                setters = PackageSetters(before.with_files(edited))
                names = setters.names if place.names is None else setters.names & place.names.keys()
                known |= names
                shipped = _shipped(real) if unset or keep else {}
                if keep:
                    defined = setters.krmfile.definitions.setters
                    names = {name for name in names & defined.keys() if is_as_shipped(defined[name], shipped)}
                here = assignment.among(names) if recursive or beside or keep else assignment
                planned = setters.plan(here, shipped) if here.names else Plan()
                check_rules(setters.krmfile, planned)
            except InputError as error:
                problems += error.problems
                continue
            planned = planned._replace(files={**edited, **planned.files})
            for name, data in planned.files.items():
                whole = join(place.path, name)
                files[whole] = (files[whole][0] if whole in files else before.files[name], data)
                after[whole] = data
            if here.names or edited:
                shown, new = os.path.normpath(place.where or "."), switched.changed if switched else ()
                kustomization = os.path.normpath(f"{shown}/{switched.file}") if switched and new else ""
                changes.append(Change(place.package, shown, before, planned, kustomization, new, place.names or {}))
        _refuse(top, problems)
        reached = {name for change in changes for name in change.plan.counts}
        left = sorted({*assignment.names}.difference(reached))
        where = f"is in no package below {tree.root_dir}"
        missing = (absent(f"parameter {name!r} {where}", name, known) for name in ([] if keep else left))
        _refuse(top, (placed(problem, values.get(problem.missing, ())) for problem in missing))
        refuse(_without_fields(changes))
        if not dry_run:
            switched_on = dict.fromkeys(name for change in changes for name in change.enabled)
            title = _title(assignment.among(reached), switched_on)
            tree.write(after, log=log and log._replace(title=title))
    unsure = [switched.unsure for switched in enabled.values() if switched.unsure]
    kept, lacking = ([name for name in left if (name in known) == is_known] for is_known in (True, False))
    return Outcome(changes, tree.root_dir, files, kept, lacking, [str(misfit) for misfit in misfits], unsure)


def _title(assignment: Assignment, options: Iterable[str]) -> str:
    """Return what `undo` calls a change: what was set, taken back and enabled."""
    words = [f"{name}={','.join(texts)}" for name, texts in assignment.values.items()]
    words += [f"--unset {name}" for name in assignment.unset]
    return ", ".join([*words, *(f"options: {name}" for name in options)])


def _refuse(here: Tree, problems: Iterable[Problem]) -> None:
    """Refuse what is wrong, each once, and say of a name that is missing where it is."""
    if distinct := dict.fromkeys(problems):
        from packyard.using.options.option_setters import elsewhere

        raise InputError(*(elsewhere(here, problem) for problem in distinct))


def _enabled(here: Tree, options: Sequence[str], *, recursive: bool) -> tuple[dict[str, "Switched"], list[Problem]]:
    """Plan to enable options, by the real paths of use cases; return also why some fit nowhere."""
    from packyard.using.options import switch, usecases

    use_cases = map(here.at, usecases.below(here.root_dir)) if recursive else [here]
    return switch.plan([*use_cases], options)


def _beside(here: Tree, names: Sequence[str], options: Sequence[str], *, recursive: bool) -> "Beside | None":
    """Find the options that setting these names reaches; some are going to be enabled."""
    if not (recursive or options) and not folder.has_options(here):
        return None
    from packyard.using.options.option_setters import reach  # most use cases have no option enabled

    return reach(here, names, recursive=recursive, options=options)


def _places(here: Tree, beside: "Beside | None", *, recursive: bool) -> Iterator[Place]:
    """Yield the packages of a directory, and those beside it."""
    base = beside.directory if beside else ""
    for path in find_packages(here, recursive=recursive, kpt=True):
        yield Place(join(base, path).rstrip("/"), here.prefix + join(path, ""), path or ".")
    if beside:
        where = beside.tree.prefix + join(OPTIONS, "")
        yield Place(OPTIONS, where, os.path.relpath(OPTIONS, base or "."), beside.names)


def _shipped(directory: Path) -> Shipped:
    from packyard.core.bundle import delivery  # most sets take nothing back

    return delivery.values(directory)


def _edited(package: PackageFiles, switched: "Switched | None") -> dict[str, bytes]:
    """Return the kustomization in which options are enabled; refuse one that was changed since it was read."""
    if switched is None or not switched.changed:
        return {}
    file = package.where + switched.file
    if switched.file not in package.files:
        message = "is not among the files that parameters reach"
        raise InputError(Problem(message, file=file, hint="name it kustomization.yaml"))
    if package.files[switched.file] != switched.before:
        raise ConflictError(Problem("was changed meanwhile", file=file, hint="run again"))
    return {switched.file: switched.after}


def _without_fields(changes: Sequence[Change]) -> Iterator[Problem]:
    """Yield what is wrong with setters that no package has a field for: a set would change nothing."""
    used = {name for change in changes for name, count in change.plan.counts.items() if count}
    for change in changes:
        for name in change.plan.counts.keys() - used:
            yield unbound(change.before, change.plan.definitions.setters[name])
