"""Writing a site's values into unpacked packages, under what their users said.

Options that fit are enabled, and setters that nobody set get the site's values, in one change. Such a value is
recorded with `setBy: site`; the next time it follows the site's file. A value that somebody set, or that differs from
the shipped one, stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packyard.core.errors import ConflictError, InputError, Problem, refuse
from packyard.core.files import paths
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import kustomization
from packyard.using.options import folder as folders
from packyard.using.options.option_setters import beside, read_options
from packyard.using.options.site import Site
from packyard.using.options.switch import Switched, Trial, enable
from packyard.using.setters.change import Beside, PackageChange, PackageSetters, change_packages, check_rules
from packyard.using.setters.definition import Setter
from packyard.using.setters.packages import PackageFiles, find_packages
from packyard.using.setters.plan import Assignment, Plan, Shipped
from packyard.using.setters.refusal import refusal

#: Who set a value that a site's file gave.
SITE = "site"


@dataclass(frozen=True, slots=True)
class Layered:
    """What was done, or would be.

    By the path of a package: the options that are enabled now, and the setters that stay as they are although the site
    has another value. ``left_out`` says of each other option of the site why no use case takes it. ``known`` are the
    names of all setters and options that were met.
    """

    changes: Sequence[PackageChange]
    beside: Beside | None
    enabled: Mapping[str, Switched]
    stayed: Mapping[str, Sequence[Setter]]
    left_out: Mapping[str, str]
    known: Collection[str]


@dataclass(slots=True)
class _Options:
    """What became of options: use cases that are changed, by real paths, and setters that count, by their packages'.

    ``above`` are the packages of options that stand above the directory, by their paths below `options/`.
    """

    switched: dict[str, Switched] = field(default_factory=dict)
    reached: dict[str, set[str]] = field(default_factory=dict)
    above: dict[str, set[str]] = field(default_factory=dict)
    fitting: set[str] = field(default_factory=set)
    misfits: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)


def layer(
    directory: Path,
    site: Site,
    trial: Callable[[Path], Trial],
    *,
    recursive: bool = False,
    shipped: Callable[[Path], Shipped] = lambda _: {},
    dry_run: bool = False,
    log: StepLog | None = None,
) -> Layered:
    """Write a site's values into a package, or with ``recursive`` into all packages below: all of it or nothing.

    ``trial`` tries options in a use case, ``shipped`` says with which values a directory was shipped.
    """
    options = _enable(directory, site, trial, recursive=recursive)
    folder = folders.find(directory) if options.above else None
    above = beside(directory, folder, options.above) if folder else None
    root_dir = above.root_dir if above else directory
    enabled: dict[str, Switched] = {}
    stayed: dict[str, Sequence[Setter]] = {}

    def plan_one(path: str, package: PackageFiles) -> Plan | None:
        here = root_dir / path
        real = os.path.realpath(here)
        after = {}
        if switched := options.switched.get(real):
            _check_same(switched, package)
            enabled[path], after = switched, {switched.file: switched.after}
        setters = PackageSetters(package.with_files(after))
        defined = dict(setters.krmfile.definitions.setters)
        if _is_of_options(here):
            defined = {name: defined[name] for name in defined.keys() & options.reached.get(real, set())}
        options.known.update(defined)
        values, stayed[path] = _choose(site, defined, shipped(here))
        planned = setters.plan(Assignment(values, set_by=SITE)) if values else Plan()
        check_rules(setters.krmfile, planned)
        return planned._replace(files={**after, **planned.files}) if values or after or stayed[path] else None

    changes = change_packages(
        directory,
        plan_one,
        recursive=recursive,
        dry_run=dry_run,
        log=log,
        beside=above,
        kpt=True,
    )
    left_out = {name: reason for name, reason in options.misfits.items() if name not in options.fitting}
    return Layered(changes, above, enabled, stayed, left_out, options.known)


def _enable(directory: Path, site: Site, trial: Callable[[Path], Trial], *, recursive: bool) -> _Options:
    """Try which options of the site each use case takes; nothing is written."""
    result = _Options()
    for path in find_packages(Tree(directory), recursive=recursive, kpt=True):
        here = directory / path
        options = folders.find(here)
        if options is None or _is_of_options(here) or not kustomization.there(here):
            continue
        names = [name for name in site.options if name in options.names()]
        switched, misfits = _try(here, names, trial(here))
        if switched and switched.changed:
            result.switched[os.path.realpath(here)] = switched
        result.fitting |= set(names) - misfits.keys()
        result.misfits |= misfits
        is_above = not paths.is_inside(options.real, os.path.realpath(directory))
        for option in read_options(here):
            result.known |= {option.name, *option.setters}
            if option.is_enabled or (switched and option.name in switched.changed):
                result.reached.setdefault(f"{options.real}/{option.below}".rstrip("/"), set()).update(option.setters)
                if is_above:
                    result.above.setdefault(option.below, set()).update(option.setters)
    return result


def _check_same(switched: Switched, package: PackageFiles) -> None:
    """Refuse a kustomization that is not the one for which options were tried."""
    file = package.where + switched.file
    if switched.file not in package.files:
        raise InputError(
            Problem("is not among the files that setters reach", file=file, hint="name it kustomization.yaml")
        )
    if package.files[switched.file] != switched.before:
        raise ConflictError(Problem("was changed meanwhile", file=file, hint="run again"))


def _is_of_options(directory: Path) -> bool:
    """Say whether a directory is that of a package's options, or one of them."""
    options = folders.find(directory)
    return options is not None and paths.is_inside(os.path.realpath(directory), options.real)


def _try(use_case: Path, names: Sequence[str], trial: Trial) -> tuple[Switched | None, dict[str, str]]:
    """Return what enabling those of some options that fit changes, and why the others do not."""
    fitting: list[str] = []
    misfits: dict[str, str] = {}
    switched = None
    for name in names:
        try:
            switched = enable(use_case, [*fitting, name], trial, dry_run=True)
        except (InputError, ConflictError) as error:
            misfits[name] = str(error.problems[0])
        else:
            fitting.append(name)
    return switched, misfits


def _choose(
    site: Site, setters: Mapping[str, Setter], shipped: Shipped
) -> tuple[dict[str, Sequence[str]], list[Setter]]:
    """Return the site's values of setters that are free to take them, and the setters that keep others.

    Raises `InputError`, with the places in the site's file, for what definitions do not admit.
    """
    values: dict[str, Sequence[str]] = {}
    stayed: list[Setter] = []
    problems: list[Problem] = []
    for name, item in site.values.items():
        if name not in setters:
            continue
        setter = setters[name]
        texts = [] if item.texts == [""] else item.texts
        if not _is_free(setter, shipped):
            if setter.with_value(texts).texts != setter.texts:
                stayed.append(setter)
        elif fault := refusal(setter, texts):
            problems.append(item.problem(fault))
        else:
            values[name] = texts
    refuse(problems)
    return values, stayed


def _is_free(setter: Setter, shipped: Shipped) -> bool:
    """Say whether a setter has the value that it was shipped with, or one of a site."""
    if setter.is_set:
        return setter.set_by == SITE
    if setter.name not in shipped:
        return True
    default = shipped[setter.name] or ()
    return setter.with_value([default] if isinstance(default, str) else default).texts == setter.texts
