"""What a user set in an untarred package, and the same done to the files of another version.

    values = read_values(definitions(bundle), definitions(directory))    IMAGE_TAG is set to 1.8 in multi-node/nfs
    with_values(theirs, values)                                          theirs, as if `packyard set` had run there

Values are set by the engine of `set`, which leaves the very bytes that it left in the user's files. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import basename, dirname, join

from packyard.core.errors import InputError, Problem
from packyard.using.setters.definition import Definitions, Setter
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.using.setters.plan import Assignment, plan
from packyard.using.upgrade.difference import Files

#: A setter by its directory and its name.
Key = tuple[str, str]
_RESOURCES = (".yaml", ".yml")
_SAME: Mapping[Key, Key] = {}


def definitions(files: Files) -> dict[str, Definitions]:
    """Return what each Krmfile of a package defines, by its directory."""
    return {
        dirname(path): read_krmfile(PackageFiles(data, {}, join(dirname(path), ""))).definitions
        for path, data in sorted(files.items())
        if basename(path) == KRMFILE
    }


def read_values(
    before: Mapping[str, Definitions], after: Mapping[str, Definitions], target: Mapping[str, Definitions]
) -> dict[Key, Setter]:
    """Return the setters that have another value, or are set, since ``before``, in directories that all three have."""
    return {
        (where, name): setter
        for where in sorted(before.keys() & after.keys() & target.keys())
        for name, setter in after[where].setters.items()
        if name in before[where].setters and _state(setter) != _state(before[where].setters[name])
    }


def with_values(
    files: Files, values: Mapping[Key, Setter], names: Mapping[Key, Key] = _SAME
) -> tuple[Files, dict[Key, Problem]]:
    """Set values in a package that has the directories, and where it has other ``names`` by these.

    Also return those that it refuses, each with the reason.
    """
    changed = dict(files)
    refused: dict[Key, Problem] = {}
    for key, setter in sorted(values.items()):
        where, name = names.get(key, key)
        assignment = Assignment({name: setter.texts}, set_by=setter.set_by, as_kustomize=True)
        try:
            planned = plan(_package(changed, where), assignment)
        except InputError as error:
            refused[key] = error.problems[0]
        else:
            changed.update({join(where, path): data for path, data in planned.files.items()})
    return changed, refused


def renamed(
    values: Mapping[Key, Setter], moved: Mapping[str, str], target: Mapping[str, Definitions]
) -> dict[Key, Key]:
    """Return the names of setters in another version: a new one where ``moved`` says that and nothing else."""
    names = {}
    for where, name in values:
        setters, new = target[where].setters, (where, moved.get(name, name))
        is_moved = name not in setters and new[1] in setters and new not in values
        names[where, name] = new if is_moved else (where, name)
    return names


def _state(setter: Setter) -> tuple[object, ...]:
    return setter.value, setter.values, setter.is_set, setter.set_by


def _package(files: Files, where: str) -> PackageFiles:
    """Return the package of a directory: its Krmfile, and the resource files below that no other package has."""
    prefix = join(where, "")
    below = [path.removeprefix(prefix) for path in sorted(files) if path.startswith(prefix)]
    others = tuple(join(dirname(path), "") for path in below if basename(path) == KRMFILE and path != KRMFILE)
    resources = (path for path in below if path.endswith(_RESOURCES) and not path.startswith(others))
    return PackageFiles(files[prefix + KRMFILE], {path: files[prefix + path] for path in resources}, prefix)
