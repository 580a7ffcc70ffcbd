"""What a user set and enabled in an untarred package, and the same done to the files of another version.

    values = read_values(definitions(bundle), definitions(directory))    IMAGE_TAG is set to 1.8 in multi-node/nfs
    with_values(theirs, values)                                          theirs, as if `packyard set` had run there

Values are set by the engine of `set`, options are enabled by that of `enable`: both leave the very bytes that they left
in the user's files. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from posixpath import basename, dirname

from packyard.errors import InputError, Problem
from packyard.kubernetes import kustomization
from packyard.options import folder
from packyard.options.enabled import EnabledOptions
from packyard.options.folder import Folder
from packyard.setters.definition import Definitions, Setter
from packyard.setters.krmfile import NAME as KRMFILE
from packyard.setters.packages import PackageFiles, read_krmfile
from packyard.setters.plan import Assignment, plan
from packyard.upgrade.difference import Files
from packyard.yaml.node import Item

#: A setter by its directory and its name.
Key = tuple[str, str]
_RESOURCES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class OptionLines:
    """The options of a use case that the user enabled, each with its line, and those that the user disabled."""

    file: str
    enabled: Mapping[str, Item]
    disabled: tuple[str, ...]


def definitions(files: Files) -> dict[str, Definitions]:
    """Return what each Krmfile of a package defines, by its directory."""
    return {
        dirname(path): read_krmfile(PackageFiles(data, {}, _prefix(dirname(path)))).definitions
        for path, data in sorted(files.items())
        if basename(path) == KRMFILE
    }


def read_values(before: Mapping[str, Definitions], after: Mapping[str, Definitions]) -> dict[Key, Setter]:
    """Return the setters that both have and that have another value, or are set, since ``before``."""
    return {
        (where, name): setter
        for where in before.keys() & after.keys()
        for name, setter in after[where].setters.items()
        if name in before[where].setters and _state(setter) != _state(before[where].setters[name])
    }


def with_values(files: Files, values: Mapping[Key, Setter]) -> tuple[Files, dict[Key, Problem]]:
    """Set values in a package that has the directories; also return those that it refuses, each with the reason."""
    changed = dict(files)
    refused: dict[Key, Problem] = {}
    for where, group in groupby(sorted(values), key=lambda key: key[0]):
        package, faults = _set(_package(files, where), {name: values[where, name] for _, name in group})
        refused.update({(where, name): problem for name, problem in faults.items()})
        changed.update({_prefix(where) + path: data for path, data in package.files.items()})
    return changed, refused


def renamed(
    values: Mapping[Key, Setter], moved: Mapping[str, str], theirs: Mapping[str, Definitions]
) -> dict[Key, Key]:
    """Return the new names of setters that another version does not have: where ``moved`` says a name alone."""
    new = {
        (where, name): (where, moved[name])
        for where, name in values
        if name not in theirs[where].setters and moved.get(name) in theirs[where].setters
    }
    return {key: other for key, other in new.items() if other not in values}


def read_options(before: Files, after: Files, root_dir: Path) -> list[OptionLines]:
    """Return which options of the package were enabled and disabled since ``before``, in use cases that both have."""
    found = []
    for path in sorted(before.keys() & after.keys()):
        was = _use_case(before, path, root_dir) if before[path] != after[path] else None
        now = _use_case(after, path, root_dir) if was else None
        if was and now:
            known = _names(before, path)  # an option that the user wrote is an edit by hand
            names = [name for name in _without(now.options, was.options) if name in known]
            enabled = {name: now.options[name] for name in names}
            found.append(OptionLines(path, enabled, tuple(_without(was.options, now.options))))
    return found


def with_options(files: Files, lines: Iterable[OptionLines], root_dir: Path) -> Files:
    """Enable and disable options in a package that has them."""
    changed = dict(files)
    for each in lines:
        if use_case := _use_case(changed, each.file, root_dir):
            names = [name for name in each.enabled if name not in use_case.options]
            changed[each.file] = use_case.with_options(names)
        if use_case and (use_case := _use_case(changed, each.file, root_dir)):
            changed[each.file] = use_case.without(each.disabled)
    return changed


def without_gone(files: Files, lines: Iterable[OptionLines]) -> tuple[list[OptionLines], list[tuple[str, Item]]]:
    """Return the options that were switched without those that a package has no more, and these, with their lines."""
    left, gone = [], []
    for each in lines:
        known = _names(files, each.file) if each.file in files else each.enabled.keys()
        gone += [(name, item) for name, item in each.enabled.items() if name not in known]
        enabled = {name: item for name, item in each.enabled.items() if name in known}
        left.append(OptionLines(each.file, enabled, each.disabled))
    return left, gone


def _state(setter: Setter) -> tuple[object, ...]:
    return setter.value, setter.values, setter.is_set, setter.set_by


def _without(names: Collection[str], others: Collection[str]) -> list[str]:
    return [name for name in names if name not in others]


def _prefix(where: str) -> str:
    return f"{where}/" if where else ""


def _package(files: Files, where: str) -> PackageFiles:
    """Return the package of a directory: its Krmfile, and the resource files below that no other package has."""
    prefix = _prefix(where)
    below = [path.removeprefix(prefix) for path in sorted(files) if path.startswith(prefix)]
    others = tuple(_prefix(dirname(path)) for path in below if basename(path) == KRMFILE and path != KRMFILE)
    resources = (path for path in below if path.endswith(_RESOURCES) and not path.startswith(others))
    return PackageFiles(files[prefix + KRMFILE], {path: files[prefix + path] for path in resources}, prefix)


def _set(package: PackageFiles, wanted: Mapping[str, Setter]) -> tuple[PackageFiles, dict[str, Problem]]:
    """Set all values of each user at once, or one by one where one of them is refused."""
    refused: dict[str, Problem] = {}
    for by, group in groupby(
        sorted(wanted, key=lambda name: wanted[name].set_by), key=lambda name: wanted[name].set_by
    ):
        names = list(group)
        try:
            package = _given(package, {name: wanted[name] for name in names}, by)
        except InputError:
            for name in names:
                try:
                    package = _given(package, {name: wanted[name]}, by)
                except InputError as error:
                    refused[name] = error.problems[0]
    return package, refused


def _given(package: PackageFiles, wanted: Mapping[str, Setter], by: str) -> PackageFiles:
    values = {name: _texts(setter) for name, setter in wanted.items()}
    return package.with_files(plan(package, Assignment(values, set_by=by)).files)


def _texts(setter: Setter) -> list[str]:
    """Return the value of a setter as `set` is given it."""
    if setter.is_list:
        return list(setter.values or ())
    return [setter.value] if setter.value else []


def _options_above(files: Files, path: str) -> str | None:
    """Return the folder of the options that a use case sees, by the path of its kustomization."""
    where = dirname(path)
    while where:
        where = dirname(where)
        options = _prefix(where) + folder.NAME
        if any(each.startswith(f"{options}/") for each in files) and not path.startswith(f"{options}/"):
            return options
    return None


def _names(files: Files, path: str) -> set[str]:
    """Return the names of the options that a use case can enable."""
    options = _options_above(files, path)
    folders = (dirname(each) for each in files if basename(each) in kustomization.NAMES)
    return {basename(each) for each in folders if dirname(each) == options}


def _use_case(files: Files, path: str, root_dir: Path) -> EnabledOptions | None:
    """Read which options a use case has enabled, by the path of its kustomization; None for any other file."""
    options = _options_above(files, path) if basename(path) in kustomization.NAMES and path in files else None
    if options is None:
        return None
    found = Folder(root_dir / dirname(path), str(root_dir / options), str(root_dir))
    return EnabledOptions(files[path], basename(path), path, found)
