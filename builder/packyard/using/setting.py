"""Setting what a use case has, the setters of its options included; a values file enables options along.

This is the library's way in::

    for change in set_values(Path("multi-node"), {"NFS_SERVER": ["10.0.0.5"]}, recursive=True).changes:
        print(change.package, change.plan.counts)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.files.steps import StepLog
from packyard.using.options import folder
from packyard.using.setters.change import Beside, PackageChange, change_setters
from packyard.using.setters.plan import Plan

if TYPE_CHECKING:
    from packyard.using.options.switch import Switched


class Change(NamedTuple):
    """What was done to one package, or would be: its path below the directory, and the same as it is shown to people.

    ``enabled`` are the options that its ``kustomization`` got; ``shared`` are the names that are set in an option for
    all use cases, each with the options that have it.
    """

    package: str
    place: str
    plan: Plan
    kustomization: str
    enabled: Sequence[str]
    shared: Mapping[str, Sequence[str]]


class Outcome(NamedTuple):
    """What was set where; the files below ``root_dir``, with their bytes before and after; and what else to tell.

    ``kept`` are the names that were not set, as they were set before or are not here; ``misfits`` say of options why
    they were not enabled, and ``unsure`` why it is not known whether one fits.
    """

    changes: Sequence[Change]
    root_dir: Path
    files: Mapping[str, tuple[bytes | None, bytes | None]]
    kept: Sequence[str]
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
) -> Outcome:
    """Set and unset values and enable options in a use case, or with ``recursive`` in all below, as `change_setters`.

    With ``keep`` what is set stays, and names and options that fit nowhere are passed over.
    """
    names = [*values, *unset]
    planned, misfits = _enabled(directory, options, recursive=recursive) if options else ({}, [])
    refuse([] if keep else misfits)
    enabled = {path: each for path, each in planned.items() if each.changed}
    try:
        beside = _beside(directory, names, options, recursive=recursive)
        changes = change_setters(
            directory,
            values,
            unset=unset,
            recursive=recursive,
            set_by=set_by,
            dry_run=dry_run,
            log=log,
            beside=beside,
            shipped=_shipped,
            replaced=partial(_replaced, enabled),
            yields=keep,
            command=command,
        )
    except InputError as error:
        from packyard.using.options.option_setters import elsewhere

        raise error.mapped(partial(elsewhere, directory)) from error
    return Outcome(
        changes=[_change(each, beside, enabled) for each in changes],
        root_dir=beside.root_dir if beside else directory,
        files=dict(_files(changes)),
        kept=sorted({*names}.difference(*(each.plan.counts for each in changes))),
        misfits=[str(each) for each in misfits],
        unsure=[each.unsure for each in planned.values() if each.unsure],
    )


def _enabled(directory: Path, options: Sequence[str], *, recursive: bool) -> tuple[dict[str, Switched], list[Problem]]:
    """Plan to enable options, by the real paths of use cases; return also why some fit nowhere."""
    from packyard.using.kustomize.builtin import Trial
    from packyard.using.options import switch, usecases

    use_cases = [Path(path) for path in usecases.below(directory)] if recursive else [directory]
    return switch.plan(use_cases, options, Trial)


def _beside(directory: Path, names: Sequence[str], options: Sequence[str], *, recursive: bool) -> Beside | None:
    """Find the options that setting these names reaches; some are going to be enabled."""
    if not (recursive or options) and not folder.has_components(directory):
        return None
    from packyard.using.options.option_setters import reach  # most use cases have no option enabled

    return reach(directory, names, recursive=recursive, options=options)


def _shipped(directory: Path) -> Mapping[str, str | Sequence[str] | None]:
    """Return the values that the package of a directory was shipped with."""
    from packyard.core.bundle import shipped  # most sets take nothing back

    return shipped.values(directory)


def _replaced(enabled: Mapping[str, Switched], package: Path) -> dict[str, tuple[bytes, bytes]]:
    """Return the kustomization of a package in which options are enabled, with its bytes before and after."""
    switched = enabled.get(os.path.realpath(package)) if enabled else None
    return {switched.file: (switched.before, switched.after)} if switched else {}


def _change(change: PackageChange, beside: Beside | None, enabled: Mapping[str, Switched]) -> Change:
    place = os.path.normpath(change.before.where or ".")
    switched = enabled.get(os.path.realpath(place)) if enabled else None
    return Change(
        package=os.path.relpath(change.package or ".", beside.directory or ".") if beside else change.package or ".",
        place=place,
        plan=change.plan,
        kustomization=os.path.normpath(f"{place}/{switched.file}") if switched else "",
        enabled=switched.changed if switched else (),
        shared=beside.packages.get(change.package, {}) if beside else {},
    )


def _files(changes: Sequence[PackageChange]) -> Iterator[tuple[str, tuple[bytes | None, bytes | None]]]:
    """Yield every file with its bytes before and after; two packages may reach one, and the first saw it as it was."""
    before: dict[str, bytes | None] = {}
    for change in changes:
        for path, data in change.plan.files.items():
            whole = f"{change.package}/{path}" if change.package else path
            yield whole, (before.setdefault(whole, change.before.files[path]), data)
