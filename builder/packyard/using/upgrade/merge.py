"""An untarred package moved to another version: three-way, and nothing that its user did is lost.

    base      the bundle that the package came from, as it was packed
    ours      the package, with what its user set, enabled and edited
    theirs    the bundle of the version to move to

What was set and enabled is done to base and theirs too. Then base and ours differ by what was edited by hand alone, and
the files are merged by lines. What both sides changed is a conflict, which somebody has to decide: without a decision
the result is not to be used. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from posixpath import basename, dirname, splitext

from packyard.core.bundle import manifest
from packyard.core.bundle.manifest import Manifest
from packyard.core.errors import InputError, Problem, on_one_line, shown
from packyard.core.kubernetes import kustomization
from packyard.using.setters.definition import Definitions, Setter
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.upgrade import kept_options, kept_values, onefile
from packyard.using.upgrade.difference import Files, replacement
from packyard.using.upgrade.kept_values import Key

_MOST_NAMES = 3  # of files in a hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Files of the three by their paths, the real directory of ours, and what messages call theirs."""

    base: Files
    ours: Files
    theirs: Files
    root_dir: Path
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """Files that get other bytes than they have, None for one that goes, and what conflicts.

    ``values`` were kept, each with its setter in the new version. ``options`` were kept, by use case; ``edited`` are
    files that keep edits by hand. ``to_set`` are setters that need a value now and did not before.
    """

    files: Mapping[str, bytes | None]
    conflicts: tuple[Problem, ...]
    values: Mapping[Key, Key]
    options: tuple[Key, ...]
    edited: tuple[str, ...]
    to_set: tuple[Key, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Carried:
    """Base and theirs with what was set and enabled, and the conflicts where theirs does not take it.

    ``ours`` is what the package defines.
    """

    base: Files
    theirs: Files
    ours: Mapping[str, Definitions]
    values: Mapping[Key, Key]
    options: tuple[Key, ...]
    conflicts: tuple[Problem, ...]


def merge(versions: Versions, decision: str = "") -> Merged:
    """Merge; conflicts are decided for ``ours``, ``theirs``, by ``markers`` that have both, or not.

    Raises `InputError` for a file of ours that has to be read and cannot.
    """
    carried = _carry(versions, decision)
    removed = dict(_removed(versions))
    conflicts = [*carried.conflicts, *removed.values()]
    result: dict[str, bytes | None] = {}
    for path in sorted({*carried.base, *carried.theirs} - {manifest.FILE}):
        sides = carried.base.get(path), versions.ours.get(path), carried.theirs.get(path)
        if any(path.startswith(f"{folder}/") for folder in removed):
            result[path] = carried.theirs.get(path) if decision == "theirs" else versions.ours.get(path)
            continue
        result[path], clashes = onefile.merge(path, *sides, decision, versions.new)
        hint = _other_name(path, versions) if clashes and path not in versions.theirs else ""
        conflicts += [clash._replace(hint=hint) for clash in clashes]
    result[manifest.FILE] = versions.theirs[manifest.FILE]
    return Merged(
        files={path: data for path, data in result.items() if data != versions.ours.get(path)},
        conflicts=tuple(conflicts),
        values=carried.values,
        options=tuple(key for key in carried.options if decision != "theirs" or key[0] not in removed),
        edited=tuple(path for path, data in result.items() if data not in (None, carried.theirs.get(path))),
        to_set=tuple(_to_set(carried.ours, result)),
    )


def _carry(versions: Versions, decision: str) -> _Carried:
    """Do what was set and enabled in ours to base and theirs; what theirs refuses is decided with the text.

    If that is for theirs, base gets it nevertheless: then nobody but theirs changed it.
    """
    before, after, target = map(kept_values.definitions, (versions.base, versions.ours, versions.theirs))
    moved = Manifest.parse(versions.theirs[manifest.FILE]).moved
    values = kept_values.read_values(before, after, target)
    _, by_hand = kept_values.with_values(versions.base, values)
    values = {key: setter for key, setter in values.items() if key not in by_hand}
    names = kept_values.renamed(values, moved, target)
    theirs, refused = kept_values.with_values(versions.theirs, {names[key]: setter for key, setter in values.items()})
    lost = {key: refused[names[key]] for key in values if names[key] in refused}
    carried = {key: setter for key, setter in values.items() if key not in lost or decision == "theirs"}
    base, _ = kept_values.with_values(versions.base, carried)
    conflicts = [_not_taken(values[key], problem, moved, versions.new) for key, problem in lost.items()]

    lines = kept_options.read_options(versions.base, versions.ours, versions.root_dir)
    offered, gone = kept_options.without_gone(versions.theirs, lines)
    for name, item in gone:
        message = f"option {name!r} is enabled, and {versions.new} does not have it"
        conflicts.append(item.value.problem(message))
    return _Carried(
        base=kept_options.with_options(base, lines if decision == "theirs" else offered, versions.root_dir),
        theirs=kept_options.with_options(theirs, offered, versions.root_dir),
        ours=after,
        values={key: names[key] for key in values if key not in lost},
        options=tuple((dirname(option_lines.file), name) for option_lines in offered for name in option_lines.enabled),
        conflicts=tuple(conflicts),
    )


def _other_name(path: str, versions: Versions) -> str:
    """Name the files that theirs may have in the place of one: new ones of the same kind beside it."""
    names = [
        name
        for name in sorted(versions.theirs.keys() - versions.base.keys())
        if (dirname(name), splitext(name)[1]) == (dirname(path), splitext(path)[1])
    ]
    return f"new beside it in {versions.new}: {', '.join(names[:_MOST_NAMES])}" if names else ""


def _not_taken(setter: Setter, problem: Problem, moved: Mapping[str, str], new: str) -> Problem:
    """Describe a value that another version has no setter for, or refuses."""
    message = f"{setter.name} is set to {shown(setter.shown)}, and {new}"
    if problem.missing:
        went = moved.get(setter.name)
        return setter.problem(f"{message} has no such setter" + (f": {on_one_line(went)}" if went else ""))
    return setter.problem(f"{message} does not admit that: {problem.message}")


def _removed(versions: Versions) -> Iterator[tuple[str, Problem]]:
    """Yield the use cases and options that theirs has no more, and in which ours changed something."""
    parts = (KRMFILE, *kustomization.NAMES)
    moved = Manifest.parse(versions.theirs[manifest.FILE]).moved
    folders = {dirname(path) for path in versions.base if basename(path) in parts} - {""}
    for folder in sorted(folders):
        below = [path for path in versions.base if path.startswith(f"{folder}/")]
        changed = [path for path in below if versions.ours.get(path) != versions.base[path]]
        if changed and not any(path.startswith(f"{folder}/") for path in versions.theirs):
            names = ", ".join(path.removeprefix(f"{folder}/") for path in changed)
            message = f"is removed by {versions.new}, and changed here: {names}"
            yield folder, Problem(message, file=folder, hint=replacement(folder, moved))


def _to_set(before: Mapping[str, Definitions], result: Mapping[str, bytes | None]) -> Iterator[Key]:
    """Yield the setters that need a value in the result, and not before, in use cases that there were before."""
    for path, data in result.items():
        where = dirname(path)
        if basename(path) == KRMFILE and data is not None and where in before:
            with suppress(InputError):  # it has markers
                for name, setter in kept_values.definitions({path: data})[where].setters.items():
                    former = before[where].setters.get(name)
                    if setter.must_be_set and not (former and former.must_be_set):
                        yield where, name
