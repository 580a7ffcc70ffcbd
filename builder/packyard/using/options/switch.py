"""Enabling and disabling options of a use case: tried in memory before a byte is written.

An option is refused that is not there, that changes nothing here, that does not apply to files which were edited by
hand, or that excludes one which is enabled.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from packyard.core.bundle import address
from packyard.core.errors import BeyondError, ConflictError, InputError, Problem, refuse, suggest
from packyard.core.files import filenames
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.using.kustomize.builtin import bound, reached
from packyard.using.kustomize.dialect import PackageSources
from packyard.using.options import options
from packyard.using.options.folder import OPTIONS, description, has_options
from packyard.using.options.options import Options
from packyard.using.setters.packages import own_krmfile


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


def switch(use_case: Tree, names: Sequence[str], *, off: bool = False, log: StepLog | None = None) -> Switched:
    """Enable options in a use case, or with ``off`` disable them: all or none, in one change.

    What is so already stays as it is.
    """
    with use_case.locked(log, below=False):
        try:
            switched = _disabled(use_case, names) if off else enabled(use_case, names, PackageSources(use_case))
        except InputError as error:
            raise error.hinted(f"packyard enable {address.typed(use_case.root_dir)} lists those that fit") from error
        if switched.changed:
            use_case.write({switched.file: switched.after})
    return switched


def plan(use_cases: Sequence[Tree], names: Sequence[str]) -> tuple[dict[str, Switched], list[Problem]]:
    """Plan to enable those of some options that fit, one after the other, in each use case.

    Return what that changes, by the real paths of use cases, and why options fit none of them.
    """
    planned: dict[str, Switched] = {}
    misfits: dict[str, Problem] = {}
    fitting: set[str] = set()
    for use_case in use_cases:
        here: list[str] = []
        sources = PackageSources(use_case)
        for name in names:
            try:
                planned[os.path.realpath(use_case.root_dir)] = enabled(use_case, [*here, name], sources)
            except (InputError, ConflictError) as error:
                misfits[name] = error.problems[0]
            else:
                here.append(name)
        fitting.update(here)
    return planned, [problem for name, problem in misfits.items() if name not in fitting]


def enabled(use_case: Tree, names: Sequence[str], sources: PackageSources) -> Switched:
    """Plan to enable options in a use case."""
    here, new, old = _find(use_case, names)
    unsure = ""
    try:
        if new:
            _try(here, new, sources)
    except BeyondError as error:
        unsure = str(error.problems[0])
    return Switched(here.file, here.data, here.switched(new), new, old, unsure)


def _disabled(use_case: Tree, names: Sequence[str]) -> Switched:
    here, absent, present = _find(use_case, names)
    after, sources = here.switched((), present), PackageSources(use_case)
    if (error := _fault(sources, after)) and not _fault(sources, here.data):
        message = f"without {', '.join(present)} this option does not fit: {error.problems[0].message}"
        hint = f"disable it first: packyard enable --off {address.typed(use_case.root_dir)} OPTION"
        raise ConflictError(error.problems[0]._replace(message=message, hint=hint)) from error
    return Switched(here.file, here.data, after, present, absent)


def states(use_case: Tree) -> list[OptionState]:
    """Return every option of a use case's package: whether it is enabled, and whether it fits."""
    here = options.find(use_case)
    if here is None:
        return []
    sources = PackageSources(use_case)
    states = []
    for name in here.names():
        fits, reason = True, ""
        try:
            if name in here.enabled:
                _check(here, sources)
            else:
                _try(here, [name], sources)
        except BeyondError as error:
            reason = f"not known: {error.problems[0].message}"
        except (InputError, ConflictError) as error:
            fits, reason = False, error.problems[0].message
        text = description(here.folder.read(here.option_file(name)))
        states.append(OptionState(name, text, name in here.enabled, fits, reason))
    return states


def find_misfits(use_case: Tree) -> Sequence[Problem]:
    """Find enabled options that do not apply to a use case, or not together; none where only kustomize can say."""
    try:
        here = options.find(use_case) if has_options(use_case) else None
        if here and here.enabled:
            reached(PackageSources(use_case), here.data)
    except InputError as error:
        return () if isinstance(error, BeyondError) else error.problems
    return ()


def replaced(use_case: Tree, names: Iterable[str], enabling: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield those of some setters that set nothing, and the option, enabled or to be, that replaces all their fields.

    None where only kustomize can say, or what is enabled does not apply.
    """
    here, krmfile = options.find(use_case), own_krmfile(use_case)
    if here is None or krmfile is None:
        return
    enabled, definitions = [*here.enabled, *enabling], krmfile.definitions
    sources = PackageSources(use_case)
    by_option: dict[str, set[str]] = {}
    with suppress(InputError):  # which render says
        for chosen in ([], *([name] for name in enabled)):
            by_option["".join(chosen)] = bound(sources, here.switched(chosen, here.enabled))
    for name in filter(definitions.setters.__contains__, names):
        fields = {item.name for item in definitions.substitutions.values() if name in definitions.setters_of(item)}
        replacing = (option for option, known in by_option.items() if known.isdisjoint({name, *fields}))
        if option := next(replacing, ""):
            yield name, option


def _find(use_case: Tree, names: Sequence[str]) -> tuple[Options, Sequence[str], Sequence[str]]:
    """Return the options of a use case, and which of some are off and which are on; refuse what is no option."""
    here = options.find(use_case)
    if here is None:
        raise InputError(Problem(f"there is no folder {OPTIONS}/ above it in its package", file=str(use_case.root_dir)))
    distinct = dict.fromkeys(names)
    off = [name for name in distinct if name not in here.enabled]
    refuse(problem for name in off if (problem := _unknown(here, name)))
    return here, off, [name for name in distinct if name in here.enabled]


def _unknown(here: Options, name: str) -> Problem | None:
    """Return what is wrong with the name of an option, or None where there is such an option."""
    names, folder = here.names(), here.folder.root_dir
    if name in names:
        return None
    if "/" in name or name in (".", "..") or filenames.reserved(name):
        message = f"{name!r} is not the name of an option: give that of a folder in {folder}"
        return Problem(message, hint=suggest(name.rpartition("/")[2], names))
    if os.path.islink(folder / name):
        return Problem(f"option {name!r} must be a folder, not a link", file=str(folder / name))
    hint = suggest(name, names) or f"there are {', '.join(names)}"
    return Problem(f"there is no option {name!r}", hint=hint)


def _check(here: Options, sources: PackageSources) -> None:
    """Refuse a use case whose enabled options do not apply, before another is added to them."""
    try:
        reached(sources, here.data)
    except BeyondError:
        raise
    except InputError as error:
        hint = "fix it, or disable the option that does not fit"
        first = Problem(f"{here.tree.root_dir} does not build as it is; nothing was added", hint=hint)
        raise InputError(first, *error.problems) from error


def _try(here: Options, names: Sequence[str], sources: PackageSources) -> None:
    """Refuse options that do not apply, do nothing, or exclude one that is enabled."""
    try:
        effects = reached(sources, here.switched(names))
    except BeyondError:
        raise
    except InputError as error:
        _check(here, sources)
        for place, name in enumerate(names):
            _explain(here, name, names[:place], sources)
        raise error from None
    idle = [name for name in names if not effects.get(f"{here.real}/{name}")]
    refuse(Problem(f"option {name!r} changes nothing here", file=str(here.tree.root_dir)) for name in idle)


def _explain(here: Options, name: str, before: Sequence[str], sources: PackageSources) -> None:
    """Refuse an option that does not apply alone, or beside one of the others."""
    if error := _fault(sources, here.switched([name], here.enabled)):
        misfit = f"option {name!r} does not fit here: "
        raise InputError(*(problem._replace(message=misfit + problem.message) for problem in error.problems)) from error
    for option in (*here.enabled, *before):
        if error := _fault(sources, here.switched([option, name], here.enabled)):
            state, hint = "you name too", "leave one out"
            if option in here.enabled:
                off = f"packyard enable --off {address.typed(here.tree.root_dir)} {option}"
                state, hint = "is enabled", f"disable that first: {off}"
            message = f"option {name!r} cannot be used together with {option!r}, which {state}"
            raise ConflictError(error.problems[0]._replace(message=message, hint=hint)) from error


def _fault(sources: PackageSources, data: bytes) -> InputError | None:
    """Return why a use case with this kustomization does not build; None where it does, or only kustomize can say."""
    try:
        reached(sources, data)
    except InputError as error:
        return None if isinstance(error, BeyondError) else error
    return None
