"""An untarred package moved to another version: three-way, and nothing that its user did is lost.

    base      the bundle that the package came from, as it was packed
    ours      the package, with what its user set, enabled and edited
    theirs    the bundle of the version to move to

What was set and enabled is done to base and theirs too. Then base and ours differ by what was edited by hand alone, and
the files are merged by lines. What both sides changed is a conflict, which somebody has to decide: without a decision
the result is not to be used. Nothing is written.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import basename, dirname, splitext

from packyard.core.bundle import manifest
from packyard.core.bundle.manifest import Manifest
from packyard.core.errors import InputError, Problem, on_one_line, shown
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import parse_text, source_of, unmerged
from packyard.using.setters.comment import is_marked
from packyard.using.setters.definition import Setter
from packyard.using.setters.fields import Binding, find
from packyard.using.setters.krmfile import KRMFILE, Krmfile
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.using.upgrade import choices, onefile
from packyard.using.upgrade.choices import Key
from packyard.using.upgrade.difference import Files, kind_of, replacement

_CARRY = "what you set there is carried to another use case by packyard set USECASE NAME=VALUE"
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
    """Files that get other bytes than they have, with both, None for one that comes or goes; and what conflicts.

    ``values`` were kept, each with its setter in the new version. ``options`` were kept, by use case; ``edited`` are
    files that keep edits by hand. ``to_set`` are setters that need a value now and did not before. ``broken`` is what
    a decision leaves that binds nothing, and bound something on both sides, or was not there.
    """

    files: Mapping[str, tuple[bytes | None, bytes | None]] = field(default_factory=dict)
    conflicts: tuple[Problem, ...]
    values: Mapping[Key, Key]
    options: tuple[Key, ...]
    edited: tuple[str, ...] = ()
    to_set: tuple[Key, ...] = ()
    broken: tuple[Problem, ...] = ()

    @property
    def changes(self) -> dict[str, str]:
        """The files, each ``added``, ``changed`` or ``removed``."""
        return {path: kind_of(*both) for path, both in self.files.items()}


def merge(versions: Versions, decision: str = "") -> Merged:
    """Merge; conflicts are decided for ``ours``, ``theirs``, by ``markers`` that have both, or not.

    Raises `InputError` for a file of ours that has to be read and cannot.
    """
    moved = Manifest.parse(versions.theirs[manifest.FILE]).moved
    base, theirs, carried, gone = _carry(versions, decision, moved)
    removed = dict(_removed(versions, moved))
    conflicts = [*carried.conflicts, *removed.values()]
    result: dict[str, bytes | None] = {}
    for path in sorted({*base, *theirs} - {manifest.FILE}):
        ours = versions.ours.get(path)
        if any(path.startswith(f"{folder}/") for folder in removed):
            result[path] = theirs.get(path) if decision == "theirs" else ours
            continue
        if decision == "ours" and ours and path in theirs and (names := _named(path, ours, gone)):
            result[path] = ours
            message = f"the whole file stays yours: it names {', '.join(names)}, which {versions.new} does not have"
            conflicts.append(Problem(message, file=path, line=1))
            continue
        result[path], clashes = onefile.merge(path, base.get(path), ours, theirs.get(path), decision, versions.new)
        hint = _other_name(path, versions) if clashes and path not in versions.theirs else ""
        conflicts += [clash._replace(hint=hint) for clash in clashes]
    result[manifest.FILE] = versions.theirs[manifest.FILE]
    if broken := _broken({path: data for path, data in result.items() if data is not None}):
        sides = {**_broken(versions.ours), **_broken(versions.theirs)}
        broken = {key: problem for key, problem in broken.items() if key not in sides}
    return replace(
        carried,
        files={path: (old, new) for path, new in result.items() if (old := versions.ours.get(path)) != new},
        conflicts=(*conflicts, *(() if decision else broken.values())),
        broken=tuple(broken.values()) if decision else (),
        edited=tuple(path for path, data in result.items() if data not in (None, theirs.get(path))),
        to_set=tuple(_to_set(versions.ours, result)),
    )


def _carry(versions: Versions, decision: str, moved: Mapping[str, str]) -> tuple[Files, Files, Merged, list[str]]:
    """Do what was set and enabled in ours to base and theirs; return them, and what was kept and is not taken.

    Last come the names of setters that ours has set and theirs does not have.

    What theirs refuses is decided with the text. If that is for theirs, base gets it nevertheless: then nobody but
    theirs changed it.
    """
    before, after, target = map(choices.definitions, (versions.base, versions.ours, versions.theirs))
    values = choices.read_values(before, after)
    _, by_hand = choices.with_values(versions.base, values)
    values = {key: setter for key, setter in values.items() if key not in by_hand}
    names = choices.renamed(values, moved, target)
    theirs, lost = choices.with_values(versions.theirs, values, names)
    carried = {key: setter for key, setter in values.items() if key not in lost or decision == "theirs"}
    base, _ = choices.with_values(versions.base, carried)
    conflicts = [_not_taken(values[key], problem, moved, versions.new, decision) for key, problem in lost.items()]

    switches = list(choices.read_switches(versions.base, versions.ours, versions.root_dir))
    offered = [switch for switch in switches if not choices.lacks(versions.theirs, switch)]
    conflicts += [
        switch.line.value.problem(f"option {switch.name!r} is enabled, and {versions.new} does not have it here")
        for switch in switches
        if switch.line and switch not in offered
    ]
    base = choices.with_switches(base, switches if decision == "theirs" else offered, versions.root_dir)
    theirs = choices.with_switches(theirs, offered, versions.root_dir)
    merged = Merged(
        conflicts=tuple(conflicts),
        values={key: names[key] for key in values if key not in lost},
        options=tuple((dirname(switch.file), switch.name) for switch in offered if switch.line),
    )
    return base, theirs, merged, sorted({name for (_, name), problem in lost.items() if problem.missing})


def _other_name(path: str, versions: Versions) -> str:
    """Name the files that theirs may have in the place of one: new ones of the same kind beside it."""
    names = [
        name
        for name in sorted(versions.theirs.keys() - versions.base.keys())
        if (dirname(name), splitext(name)[1]) == (dirname(path), splitext(path)[1])
    ]
    return f"new beside it in {versions.new}: {', '.join(names[:_MOST_NAMES])}" if names else ""


def _not_taken(setter: Setter, problem: Problem, moved: Mapping[str, str], new: str, decision: str) -> Problem:
    """Describe a value that another version has no setter for, or refuses."""
    message = f"{setter.name} is set to {shown(setter.shown)}, and {new}"
    if problem.missing:
        went = moved.get(setter.name)
        return setter.problem(f"{message} has no such parameter" + (f": {on_one_line(went)}" if went else ""))
    stays = f"its definition stays yours too, without what {new} asks of it" if decision == "ours" else ""
    return setter.problem(f"{message} does not admit that: {problem.message}", stays)


def _removed(versions: Versions, moved: Mapping[str, str]) -> Iterator[tuple[str, Problem]]:
    """Yield the use cases and options that theirs has no more, and in which ours changed something."""
    parts = (KRMFILE, *kustomization.NAMES)
    folders = {dirname(path) for path in versions.base if basename(path) in parts} - {""}
    for folder in sorted(folders):
        below = [path for path in versions.base if path.startswith(f"{folder}/")]
        changed = [path for path in below if versions.ours.get(path) != versions.base[path]]
        if changed and not any(path.startswith(f"{folder}/") for path in versions.theirs):
            names = ", ".join(path.removeprefix(f"{folder}/") for path in changed)
            message = f"is removed by {versions.new}, and changed here: {names}"
            yield folder, Problem(message, file=folder, hint=replacement(folder, moved) or _CARRY)


def _to_set(before: Files, result: Mapping[str, bytes | None]) -> Iterator[Key]:
    """Yield the setters that need a value in the result, and not before, in use cases that there were before."""
    for path, data in result.items():
        if basename(path) == KRMFILE and data is not None and path in before:
            with suppress(InputError):  # it has markers
                former, present = (Krmfile(source_of(side, path)).definitions.setters for side in (before[path], data))
                for name, setter in present.items():
                    if setter.must_be_set and not (name in former and former[name].must_be_set):
                        yield dirname(path), name


def _broken(files: Files) -> Mapping[tuple[str, str], Problem]:
    """Return what is broken, or cannot be read, by its file and what it is; files that have markers are passed over."""
    faults: list[Problem] = []
    files = {path: data for path, data in files.items() if not unmerged("", data.decode("utf-8", "replace"))}
    for path in files:
        if basename(path) == KRMFILE:
            try:
                faults += _unbound(choices.package(files, dirname(path)))
            except InputError as error:
                faults += error.problems
    return {(problem.file, problem.message): problem for problem in faults}


def _unbound(package: PackageFiles) -> Iterator[Problem]:
    krmfile = read_krmfile(package)
    yield from krmfile.misnamed()
    for substitution in krmfile.definitions.substitutions.values():
        krmfile.definitions.expand(substitution)
    for path, data in package.resources.items():
        for bound in _bindings(data, package.where + path):
            if krmfile.definitions.resolve(bound.reference) is None:
                yield bound.node.problem(f"a comment names {bound.reference.name}, which nothing defines")


def _named(path: str, data: bytes, names: Sequence[str]) -> list[str]:
    """Return which of the setters the comments of a file name."""
    bound = _bindings(data, path) if names and path.endswith((".yaml", ".yml")) else ()
    return [name for name in names if any(name == field.reference.name for field in bound)]


def _bindings(data: bytes, name: str) -> list[Binding]:
    documents = parse_text(source_of(data, name)) if is_marked(data) else ()
    return [bound for document in documents for bound in find(document.root)]
