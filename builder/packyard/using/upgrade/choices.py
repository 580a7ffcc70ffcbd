"""What a user set and enabled in an untarred package, and the same done to the files of another version.

    values = read_values(definitions(bundle), definitions(directory))    IMAGE_TAG is set to 1.8 in multi-node/nfs
    with_values(theirs, values)                                          theirs, as if `packyard set` had run there

The engines are those of `set` and `enable`, which leave the very bytes that they left in the user's files. Nothing is
written.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from posixpath import basename, dirname, join
from typing import NamedTuple

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import source_of
from packyard.core.yaml.node import Item
from packyard.using.options import folder
from packyard.using.options.options import Options
from packyard.using.setters.definition import Definitions, Setter
from packyard.using.setters.krmfile import KRMFILE, Krmfile
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, plan
from packyard.using.upgrade.difference import Files

#: A setter by its directory and its name.
Key = tuple[str, str]
_RESOURCES = (".yaml", ".yml")


class Switch(NamedTuple):
    """An option that the user enabled in a use case, with its line in the ``file``, or disabled (None)."""

    file: str
    name: str
    line: Item | None


def definitions(files: Files) -> dict[str, Definitions]:
    """Return what each Krmfile of a package defines, by its directory."""
    return {
        dirname(path): Krmfile(source_of(data, path)).definitions
        for path, data in sorted(files.items())
        if basename(path) == KRMFILE
    }


def read_values(before: Mapping[str, Definitions], after: Mapping[str, Definitions]) -> dict[Key, Setter]:
    """Return the setters that have another value, or are set, since ``before``, in directories that both have."""
    return {
        (where, name): setter
        for where in sorted(before.keys() & after.keys())
        for name, setter in after[where].setters.items()
        if name in before[where].setters and _state(setter) != _state(before[where].setters[name])
    }


def with_values(
    files: Files, values: Mapping[Key, Setter], names: Mapping[Key, Key] = {}
) -> tuple[Files, dict[Key, Problem]]:
    """Set values in a package that has the directories, and where it has other ``names`` by these.

    Also return those that it refuses, each with the reason.
    """
    changed = dict(files)
    refused: dict[Key, Problem] = {}
    for key, setter in sorted(values.items()):
        where, name = names.get(key, key)
        if join(where, KRMFILE) not in changed:
            refused[key] = Problem("its use case is gone")
            continue
        assignment = Assignment({name: setter.texts}, set_by=setter.set_by, as_kustomize=True)
        try:
            planned = plan(package(changed, where), assignment)
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
        setters, new = target[where].setters if where in target else (), (where, moved.get(name, name))
        is_moved = name not in setters and new[1] in setters and new not in values
        names[where, name] = new if is_moved else (where, name)
    return names


def read_switches(before: Files, after: Files, root_dir: Path) -> Iterator[Switch]:
    """Yield which options of the package were enabled and disabled since ``before``, in use cases that both have."""
    for path in sorted(before.keys() & after.keys()):
        was = _use_case(before, path, root_dir) if before[path] != after[path] else None
        now = _use_case(after, path, root_dir) if was else None
        if was and now:
            shipped = _names(before, path)  # an option that the user wrote is an edit by hand
            for name in {**was.enabled, **now.enabled}:
                if (name in was.enabled) != (name in now.enabled) and name in {*was.enabled, *shipped}:
                    yield Switch(path, name, now.enabled.get(name))


def with_switches(files: Files, switches: Iterable[Switch], root_dir: Path) -> Files:
    """Enable and disable options in a package that has them."""
    changed = dict(files)
    for file, name, line in switches:
        if use_case := _use_case(changed, file, root_dir):
            enabled = [name] if line and name not in use_case.enabled else []
            changed[file] = use_case.switched(enabled, [] if line else [name])
    return changed


def lacks(files: Files, switch: Switch) -> bool:
    """Say whether a package has an option, or its use case, no more that the user enabled."""
    return switch.line is not None and not (switch.file in files and switch.name in _names(files, switch.file))


def _state(setter: Setter) -> tuple[object, ...]:
    return setter.value, setter.values, setter.is_set, setter.set_by


def package(files: Files, where: str) -> PackageFiles:
    """Return the package of a directory: its Krmfile, and the resource files below that no other package has."""
    prefix = join(where, "")
    below = [path.removeprefix(prefix) for path in sorted(files) if path.startswith(prefix)]
    nested = tuple(join(dirname(path), "") for path in below if basename(path) == KRMFILE and path != KRMFILE)
    resources = (path for path in below if path.endswith(_RESOURCES) and not path.startswith(nested))
    return PackageFiles(files[prefix + KRMFILE], {path: files[prefix + path] for path in resources}, prefix)


def _options_above(files: Files, path: str) -> str | None:
    """Return the folder of the options that a use case sees, by the path of its kustomization."""
    for above in PurePosixPath(dirname(path)).parents:
        options = str(above / folder.OPTIONS)
        if any(file.startswith(f"{options}/") for file in files) and not path.startswith(f"{options}/"):
            return options
    return None


def _names(files: Files, path: str) -> set[str]:
    """Return the names of the options that a use case can enable."""
    options = _options_above(files, path)
    folders = (dirname(file) for file in files if basename(file) in kustomization.NAMES)
    return {basename(folder) for folder in folders if dirname(folder) == options}


def _use_case(files: Files, path: str, root_dir: Path) -> Options | None:
    """Read which options a use case has enabled, by the path of its kustomization; None for any other file."""
    options = _options_above(files, path) if basename(path) in kustomization.NAMES and path in files else None
    if options is None:
        return None
    return Options.of_file(root_dir / dirname(path), str(root_dir / options), files[path], path)
