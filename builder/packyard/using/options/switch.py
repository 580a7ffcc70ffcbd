"""Enabling and disabling options of a use case: tried in memory before a byte is written.

An option is refused that is not there, that changes nothing here, that does not apply to files which were edited by
hand, or that excludes one which is enabled.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packyard.core.bundle import address
from packyard.core.errors import BeyondError, ConflictError, InputError, Problem, refuse, suggest
from packyard.core.files import filenames
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.using.options import options
from packyard.using.options.folder import OPTIONS, description
from packyard.using.options.options import Options

#: Builds what the components of a use case's kustomization change, given its bytes, and returns how many objects each
#: reaches, by the real path of the component; raises `InputError` where one does not apply.
Trial = Callable[[bytes], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Switched:
    """What was done to a use case, or would be: its kustomization before and after, and the options that it changed.

    ``unsure`` says why it is not known whether they apply, where only kustomize can build the use case.
    """

    file: str
    before: bytes
    after: bytes
    changed: Sequence[str]
    unchanged: Sequence[str]
    unsure: str = ""


@dataclass(frozen=True, slots=True)
class OptionState:
    """One option as a use case sees it; ``reason`` says why it does not fit."""

    name: str
    description: str
    is_enabled: bool
    fits: bool
    reason: str = ""


def switch(
    directory: Path,
    names: Sequence[str],
    trial: Callable[[Path], Trial],
    *,
    off: bool = False,
    log: StepLog | None = None,
) -> Switched:
    """Enable options in a use case, or with ``off`` disable them: all or none, in one change.

    What is so already stays as it is.
    """
    tree = Tree(directory)
    with tree.locked(log, below=False):
        switched = _disabled(directory, names) if off else enabled(directory, names, trial(directory))
        if switched.changed:
            if tree.read(switched.file) != switched.before:
                raise InputError(Problem("was changed meanwhile", file=tree.prefix + switched.file))
            tree.write({switched.file: switched.after})
    return switched


def plan(
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
        tried = trial(use_case)
        for name in names:
            try:
                planned[os.path.realpath(use_case)] = enabled(use_case, [*here, name], tried)
            except (InputError, ConflictError) as error:
                misfits[name] = error.problems[0]
            else:
                here.append(name)
        fitting.update(here)
    return planned, [problem for name, problem in misfits.items() if name not in fitting]


def enabled(directory: Path, names: Sequence[str], trial: Trial) -> Switched:
    """Plan to enable options in a use case."""
    here, new, old = _find(directory, names)
    unsure = ""
    try:
        if new:
            _try(directory, here, new, trial)
    except BeyondError as error:
        unsure = str(error.problems[0])
    return Switched(here.file, here.data, here.switched(new), new, old, unsure)


def _disabled(directory: Path, names: Sequence[str]) -> Switched:
    here, absent, present = _find(directory, names)
    return Switched(here.file, here.data, here.switched((), present), present, absent)


def states(directory: Path, trial: Trial) -> list[OptionState]:
    """Return every option of a use case's package: whether it is enabled, and whether it fits."""
    here = options.find(directory)
    if here is None:
        return []
    states = []
    for name in here.names():
        fits, reason = True, ""
        try:
            if name in here.enabled:
                _check(directory, here, trial)
            else:
                _try(directory, here, [name], trial)
        except BeyondError as error:
            reason = f"not known: {error.problems[0].message}"
        except (InputError, ConflictError) as error:
            fits, reason = False, error.problems[0].message
        states.append(OptionState(name, description(here.option_data(name)), name in here.enabled, fits, reason))
    return states


def descriptions(directory: Path, names: Sequence[str]) -> dict[str, str]:
    """Return what some options of a use case's package do."""
    here = options.find(directory)
    return {name: description(here.option_data(name)) for name in names} if here else {}


def _find(directory: Path, names: Sequence[str]) -> tuple[Options, Sequence[str], Sequence[str]]:
    """Return the options of a use case, and which of some are off and which are on; refuse what is no option."""
    here = options.find(directory)
    if here is None:
        raise InputError(Problem(f"there is no folder {OPTIONS}/ above it, in its package", file=str(directory)))
    distinct = dict.fromkeys(names)
    off = [name for name in distinct if name not in here.enabled]
    refuse(problem for name in off if (problem := _unknown(here, name)))
    return here, off, [name for name in distinct if name in here.enabled]


def _unknown(here: Options, name: str) -> Problem | None:
    """Return what is wrong with the name of an option, or None where there is such an option."""
    names = here.names()
    if name in names:
        return None
    if "/" in name or name in (".", "..") or filenames.reserved(name):
        message = f"{name!r} is not the name of an option: give that of a folder in {here.shown}"
        return Problem(message, hint=suggest(name.rpartition("/")[2], names))
    if os.path.islink(f"{here.real}/{name}"):
        return Problem(f"option {name!r} must be a folder, not a link", file=os.path.join(here.shown, name))
    hint = suggest(name, names) or f"there are {', '.join(names)}"
    return Problem(f"there is no option {name!r}", hint=hint)


def _check(directory: Path, here: Options, trial: Trial) -> None:
    """Refuse a use case whose enabled options do not apply, before another is added to them."""
    try:
        trial(here.switched(()))
    except BeyondError:
        raise
    except InputError as error:
        hint = "fix it, or disable the option that does not fit"
        first = Problem(f"{directory} does not build as it is; nothing was added", hint=hint)
        raise InputError(first, *error.problems) from error


def _try(directory: Path, here: Options, names: Sequence[str], trial: Trial) -> None:
    """Refuse options that do not apply, do nothing, or exclude one that is enabled."""
    try:
        effects = trial(here.switched(names))
    except BeyondError:
        raise
    except InputError as error:
        _check(directory, here, trial)
        for place, name in enumerate(names):
            _explain(directory, here, name, names[:place], trial)
        raise error from None
    idle = [name for name in names if not effects.get(f"{here.real}/{name}")]
    refuse(
        Problem(f"option {name!r} changes nothing in {directory}", file=here.option_file(name), hint="it is for others")
        for name in idle
    )


def _explain(directory: Path, here: Options, name: str, before: Sequence[str], trial: Trial) -> None:
    """Refuse an option that does not apply alone, or beside one of the others."""
    try:
        trial(here.switched([name], here.enabled))
    except InputError as error:
        misfit = f"option {name!r} does not fit {directory}: "
        raise InputError(*(problem._replace(message=misfit + problem.message) for problem in error.problems)) from error
    for option in (*here.enabled, *before):
        try:
            trial(here.switched([option, name], here.enabled))
        except InputError as error:
            state = "is enabled" if option in here.enabled else "you name too"
            message = f"option {name!r} cannot be used together with {option!r}, which {state}"
            hint = (
                f"disable that first: packyard enable --off {address.typed(directory)} {option}"
                if option in here.enabled
                else "leave one out"
            )
            raise ConflictError(error.problems[0]._replace(message=message, hint=hint)) from error
