"""Enabling and disabling options of a use case: tried in memory before a byte is written.

An option is refused that is not there, that changes nothing here, that does not apply to files which were edited by
hand, or that excludes one which is enabled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from packyard.core.bundle import address
from packyard.core.errors import BeyondError, ConflictError, InputError, Problem, refuse, suggest
from packyard.core.files import filenames
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.using.options import folder as folders
from packyard.using.options.enabled import EnabledOptions
from packyard.using.options.folder import NAME, Folder

#: Builds what the components of a use case's kustomization change, given its text, and returns how many objects each
#: reaches, by the real path of the component; raises `InputError` where one does not apply.
Trial = Callable[[str], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Switched:
    """What was done to a use case, or would be: its kustomization before and after, and the options that it changed.

    ``unsure`` says why it is not known whether they apply, where only kustomize can build the use case.
    """

    file: str
    before: bytes
    after: bytes
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    unsure: str = ""


@dataclass(frozen=True, slots=True)
class OptionState:
    """One option as a use case sees it; ``reason`` says why it does not fit."""

    name: str
    description: str
    is_enabled: bool
    fits: bool
    reason: str = ""


def enable(
    directory: Path, names: Sequence[str], trial: Trial, *, dry_run: bool = False, log: StepLog | None = None
) -> Switched:
    """Add options to a use case, all or none; one that is enabled stays as it is."""
    return _switch(directory, [""], lambda here: _enabled(here, names, trial), dry_run, log)[""]


def enable_below(
    directory: Path,
    use_cases: Sequence[str],
    names: Sequence[str],
    trial: Callable[[Path], Trial],
    *,
    dry_run: bool = False,
    log: StepLog | None = None,
) -> tuple[dict[str, Switched], dict[str, Problem]]:
    """Add options to all use cases below a directory that they fit, in one change; return also why others do not.

    Raises `InputError` where they fit none. ``use_cases`` are paths below the directory.
    """
    misfits: dict[str, Problem] = {}

    def switched(here: Path) -> Switched | None:
        try:
            return _enabled(here, names, trial(here))
        except (InputError, ConflictError) as error:
            misfits[os.path.relpath(here, directory)] = error.problems[0]
            return None

    switches = _switch(directory, use_cases, switched, dry_run, log)
    refuse([] if switches else misfits.values())
    return switches, misfits


def plan_options(
    use_cases: Sequence[Path], names: Sequence[str], trial: Callable[[Path], Trial]
) -> tuple[dict[str, Switched], list[Problem]]:
    """Plan to enable those of some options that fit, one after the other, in each use case.

    Return what that changes, by the real paths of use cases, and why options fit none of them.
    """
    planned: dict[str, Switched] = {}
    misfits: dict[str, Problem] = {}
    fitting: set[str] = set()
    for use_case in use_cases:
        here: list[str] = []
        for name in names:
            try:
                planned[os.path.realpath(use_case)] = enable(use_case, [*here, name], trial(use_case), dry_run=True)
            except (InputError, ConflictError) as error:
                misfits[name] = error.problems[0]
            else:
                here.append(name)
        fitting.update(here)
    return planned, [problem for name, problem in misfits.items() if name not in fitting]


def disable(directory: Path, names: Sequence[str]) -> Switched:
    """Remove options from a use case; one that is not enabled is left alone."""
    return disable_below(directory, [""], names)[""]


def disable_below(
    directory: Path,
    use_cases: Sequence[str],
    names: Sequence[str],
    *,
    dry_run: bool = False,
    log: StepLog | None = None,
) -> dict[str, Switched]:
    """Remove options from use cases below a directory, in one change."""
    return _switch(directory, use_cases, lambda here: _disabled(here, names), dry_run, log)


def _switch(
    directory: Path,
    use_cases: Sequence[str],
    switch: Callable[[Path], Switched | None],
    dry_run: bool,
    log: StepLog | None,
) -> dict[str, Switched]:
    """Plan for each use case and write all of them, or none."""
    tree = Tree(directory)
    with nullcontext() if dry_run else tree.locked(log, below=list(use_cases) != [""]):
        planned = {path: switched for path in use_cases if (switched := switch(directory / path)) is not None}
        changed = {
            os.path.normpath(f"{path or '.'}/{each.file}"): each for path, each in planned.items() if each.changed
        }
        files = {file: each.after for file, each in changed.items() if tree.read(file) == each.before}
        refuse(Problem("was changed meanwhile", file=tree.prefix + file) for file in changed.keys() - files.keys())
        if files and not dry_run:
            tree.write(files)
    return planned


def _enabled(directory: Path, names: Sequence[str], trial: Trial) -> Switched:
    folder = _find(directory)
    before = EnabledOptions.read(Tree(directory), folder)
    refuse(problem for name in names if (problem := _unknown(folder, name)))
    distinct = list(dict.fromkeys(names))
    new = [name for name in distinct if name not in before.options]
    unsure = ""
    try:
        if new:
            _try(directory, before, new, trial)
    except BeyondError as error:
        unsure = str(error.problems[0])
    old = tuple(name for name in distinct if name in before.options)
    return Switched(before.name, before.data, before.with_options(new), tuple(new), old, unsure)


def _disabled(directory: Path, names: Sequence[str]) -> Switched:
    folder = _find(directory)
    before = EnabledOptions.read(Tree(directory), folder)
    refuse(problem for name in names if name not in before.options and (problem := _unknown(folder, name)))
    distinct = list(dict.fromkeys(names))
    gone = tuple(name for name in distinct if name in before.options)
    absent = tuple(name for name in distinct if name not in before.options)
    return Switched(before.name, before.data, before.without(gone), gone, absent)


def states(directory: Path, trial: Trial) -> list[OptionState]:
    """Return every option of a use case's package: whether it is enabled, and whether it fits."""
    folder = folders.find(directory)
    if folder is None:
        return []
    here = EnabledOptions.read(Tree(directory), folder)
    states = []
    for name in folder.names():
        fits, reason = True, ""
        try:
            if name in here.options:
                _check(directory, here, trial)
            else:
                _try(directory, here, [name], trial)
        except BeyondError as error:
            reason = f"not known: {error.problems[0].message}"
        except (InputError, ConflictError) as error:
            fits, reason = False, error.problems[0].message
        states.append(OptionState(name, folders.description(folder.data(name)), name in here.options, fits, reason))
    return states


def _find(directory: Path) -> Folder:
    """Return the options of a use case; a package without options is refused."""
    folder = folders.find(directory)
    if folder is None:
        raise InputError(Problem(f"there is no folder {NAME}/ above it, in its package", file=str(directory)))
    return folder


def _unknown(folder: Folder, name: str) -> Problem | None:
    """Return what is wrong with the name of an option, or None where there is such an option."""
    names = folder.names()
    if name in names:
        return None
    if "/" in name or name in (".", "..") or filenames.reserved(name):
        message = f"{name!r} is not the name of an option: give that of a folder in {folder.shown}"
        return Problem(message, hint=suggest(name.rpartition("/")[2], names))
    if os.path.islink(f"{folder.real}/{name}"):
        return Problem(f"option {name!r} must be a folder, not a link", file=os.path.join(folder.shown, name))
    hint = suggest(name, names) or f"there are {', '.join(names)}"
    return Problem(f"there is no option {name!r}", file=folder.shown, hint=hint)


def _check(directory: Path, here: EnabledOptions, trial: Trial) -> None:
    """Refuse a use case whose enabled options do not apply, before another is added to them."""
    try:
        trial(here.text_with([]))
    except BeyondError:
        raise
    except InputError as error:
        hint = "fix it, or disable the option that does not fit"
        first = Problem(f"{directory} does not build as it is; nothing was added", hint=hint)
        raise InputError(first, *error.problems) from error


def _try(directory: Path, here: EnabledOptions, names: Sequence[str], trial: Trial) -> None:
    """Refuse options that do not apply, do nothing, or exclude one that is enabled."""
    try:
        reached = trial(here.text_with(names))
    except BeyondError:
        raise
    except InputError as error:
        _check(directory, here, trial)
        for place, name in enumerate(names):
            _explain(directory, here, name, names[:place], trial)
        raise error from None
    idle = [name for name in names if not reached.get(f"{here.folder.real}/{name}")]
    refuse(
        Problem(f"option {name!r} changes nothing in {directory}", file=here.folder.file(name), hint="it is for others")
        for name in idle
    )


def _explain(directory: Path, here: EnabledOptions, name: str, before: Sequence[str], trial: Trial) -> None:
    """Refuse an option that does not apply alone, or beside one of the others."""
    try:
        trial(here.text_with([name], alone=True))
    except InputError as error:
        problems = [_at(each, f"option {name!r} does not fit {directory}: {each.message}") for each in error.problems]
        raise InputError(*problems) from error
    for other in (*here.options, *before):
        try:
            trial(here.text_with([other, name], alone=True))
        except InputError as error:
            state = "is enabled" if other in here.options else "you name too"
            message = f"option {name!r} cannot be used together with {other!r}, which {state}"
            hint = (
                f"disable that first: packyard enable --off {address.typed(directory)} {other}"
                if other in here.options
                else "leave one out"
            )
            raise ConflictError(_at(error.problems[0], message, hint)) from error


def _at(problem: Problem, message: str, hint: str = "") -> Problem:
    return Problem(message, file=problem.file, line=problem.line, column=problem.column, hint=hint or problem.hint)
