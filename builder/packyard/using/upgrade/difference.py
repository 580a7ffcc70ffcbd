"""What differs between two packages, as their users meet it: use cases, options, setters, objects, fields, files.

    before = {"…/multi-node/nfs/Krmfile": b"…", …}      after = {…}
    compare(before, after)      Change(where="…/multi-node/nfs", what="setter", name="WORKERS", path="default",
                                       change="changed", before="2", after="4")

A package is its files by their paths, so that a bundle, an untarred directory and a composed package are compared
alike. So are two libraries, which have a ``packyard.yaml``: there, a name is one setter in all Krmfiles. Files that are
the same are not read. What cannot be read as YAML is compared as a file, with the reason in ``note``.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import PurePosixPath
from posixpath import basename, dirname, relpath

from packyard.core.bundle import manifest
from packyard.core.bundle.manifest import Manifest
from packyard.core.errors import InputError, IntegrityError, PackyardError
from packyard.core.files.paths import WORKSPACE
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import source_of
from packyard.using.options.folder import COMPONENT
from packyard.using.setters.definition import Setter, full_type
from packyard.using.setters.krmfile import KRMFILE, Krmfile
from packyard.using.setters.rules import rule
from packyard.using.upgrade import field_changes, object_pairs
from packyard.using.upgrade.change import PARTS, Change
from packyard.using.upgrade.object_pairs import Document

Files = Mapping[str, bytes]
#: What is stated of a definition that matters to those who use it, by its directory, its kind and its name.
Stated = dict[tuple[str, str, str], Mapping[str, object]]

_IS_SET = "isSet"
_YAML = (".yaml", ".yml", "/Kustomization")


def compare_all(before: Mapping[str, Files], after: Mapping[str, Files]) -> Iterator[tuple[str, Change]]:
    """Compare packages by their names, and yield what differs, each with the name of its package."""
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            yield name, Change(where="", what="package", change=kind_of(old, new))
        else:
            yield from ((name, change) for change in compare(old, new))


def compare(before: Files, after: Files) -> tuple[Change, ...]:
    """Return what differs between two packages, or two libraries, sorted by directories."""
    is_library = WORKSPACE in after
    old, new = (
        {dirname(path): path for path in files if basename(path) in kustomization.NAMES} for files in (before, after)
    )
    whole = old.keys() ^ new.keys()
    changes = [
        Change(where=folder, what=PARTS[bool(COMPONENT.search(files[parts[folder]]))][is_library], change=change)
        for files, parts, change in ((before, old, "removed"), (after, new, "added"))
        for folder in whole & parts.keys()
    ]
    folders = old.keys() | new.keys() | {dirname(path) for path in (*before, *after) if basename(path) == KRMFILE}
    placed = [(_holder(path, folders), path) for path in {*before, *after} if before.get(path) != after.get(path)]
    stays = [(folder, path) for folder, path in sorted(placed) if folder not in whole]
    stating = [path for _, path in (placed if is_library else stays) if basename(path) in (KRMFILE, manifest.FILE)]
    stated = _statements(before, after, stating, is_library)
    changes += (change for change in stated if change.where not in whole)
    for folder, group in groupby(stays, key=lambda pair: pair[0]):
        paths = [path for _, path in group if basename(path) != KRMFILE and path != manifest.FILE]
        changes += _contents(before, after, folder, paths)
    return tuple(sorted(_explained(changes, after), key=lambda change: change.where))


def _holder(path: str, folders: Collection[str]) -> str:
    """Return the nearest of some directories around a file; an empty text is the package."""
    return next((folder for folder in map(str, PurePosixPath(path).parents) if folder in folders), "")


def _statements(before: Files, after: Files, paths: Sequence[str], is_library: bool) -> Iterator[Change]:
    """Compare what Krmfiles define, in a library wherever it is; and what use cases need of a cluster."""
    old, new = Stated(), Stated()
    for path in paths:
        if path == manifest.FILE and not (path in before and path in after):
            continue
        try:
            sides = [_stated(files[path], path, is_library) if path in files else {} for files in (before, after)]
        except PackyardError as error:
            yield _file(before, after, dirname(path), path, str(error.problems[0]))
            continue
        old |= sides[0]
        new |= sides[1]
    for where, what, name in sorted({*old, *new}):
        was, now = old.get((where, what, name)), new.get((where, what, name))
        change = Change(where=where, what=what, name=name, change=kind_of(was, now))
        if was is None or now is None:
            yield replace(change, before=(was or {}).get("default"), after=(now or {}).get("default"))
            continue
        is_set = was.get(_IS_SET) or now.get(_IS_SET)  # then it is no default that differs
        for key in sorted({*was, *now} - {_IS_SET}):
            if was.get(key) != now.get(key):
                path = "value" if key == "default" and is_set else key
                yield replace(change, path=path, before=was.get(key), after=now.get(key))


def _stated(data: bytes, path: str, is_library: bool) -> Stated:
    """Return what a Krmfile or packyard.json states; a setter's ``default`` is None where a value has to be set."""
    if path == manifest.FILE:
        use_cases = Manifest.parse(data).use_cases.items()
        return {(where, "requirement", name): {} for where, use_case in use_cases for name in use_case.requires}
    krmfile, where = Krmfile(source_of(data, path)), "" if is_library else dirname(path)
    stated: Stated = {(where, "setter", name): _setter(item) for name, item in krmfile.definitions.setters.items()}
    for name, item in krmfile.definitions.substitutions.items():
        values = {marker: reference.name if reference else None for marker, reference in item.markers}
        stated[where, "substitution", name] = {"pattern": item.pattern, "values": values}
    return stated | {(where, "rule", row.text): {"message": row.message} for row in rule.read(krmfile.root)}


def _setter(setter: Setter) -> Mapping[str, object]:
    return {
        **json.loads(json.dumps(setter.schema, default=str), parse_constant=str),  # NaN is not JSON
        "type": full_type(setter.type) or None,
        "description": setter.description or None,
        "enumValues": dict(setter.enum_values) or None,
        "required": setter.required,
        "default": None if setter.must_be_set else setter.shown,
        _IS_SET: setter.is_set,
    }


def _contents(before: Files, after: Files, folder: str, paths: Sequence[str]) -> Iterator[Change]:
    """Compare the files of one directory: objects by their fields, all else as files."""
    old: list[Document] = []
    new: list[Document] = []
    for path in paths:
        if not path.endswith(_YAML):
            yield _file(before, after, folder, path)
            continue
        try:
            sides = [object_pairs.read(files[path], path) if path in files else [] for files in (before, after)]
            old += sides[0]
            new += sides[1]
        except InputError as error:
            yield _file(before, after, folder, path, str(error.problems[0]))
    for former, present in object_pairs.pair(old, new):
        if former and present:
            field = Change(where=folder, what="field", name=present.name, change="changed")
            setters = {**former.setters, **present.setters}
            yield from field_changes.compare(former.root, present.root, setters, field)
        elif single := present or former:
            yield Change(where=folder, what="object", name=single.name, change=kind_of(former, present))


def _file(before: Files, after: Files, where: str, path: str, note: str = "") -> Change:
    change = kind_of(before.get(path), after.get(path))
    return Change(where=where, what="file", name=relpath(path, where or "."), change=change, note=note)


def kind_of(before: object | None, after: object | None) -> str:
    """Say whether something was added, removed or changed; None is what is not there."""
    return "added" if before is None else "removed" if after is None else "changed"


def _explained(listed: Sequence[Change], after: Files) -> Iterator[Change]:
    """Say of what was removed what replaced it: as the package says, or of setters as their fields are bound now."""
    bound = [change for change in listed if change.change == "bound" and change.after]
    moved = {**{str(change.before): f"{change.after} sets its fields now" for change in bound}, **_moved(after)}
    for change in listed:
        is_gone = change.what in ("setter", "use case") and change.change == "removed"
        note = moved.get(change.name, "") if change.what == "setter" else replacement(change.where, moved)
        yield replace(change, note=note) if is_gone else change


def replacement(folder: str, moved: Mapping[str, str]) -> str:
    """Say which use case a package has in the place of one that it had once; an empty text where it says none."""
    return next((f"{new} replaces it" for old, new in moved.items() if f"/{old}/" in f"/{folder}/"), "")


def _moved(files: Files) -> Mapping[str, str]:
    """Return what a package, or a library, says of setters that it once had."""
    try:
        return Manifest.parse(files[manifest.FILE]).moved if manifest.FILE in files else {}
    except IntegrityError:
        return {}
