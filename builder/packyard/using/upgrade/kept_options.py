"""The options that a user enabled in an untarred package, and the same done to the files of another version.

The engine is that of `enable`, which leaves the very bytes that it left in the user's files. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path, PurePosixPath
from posixpath import basename, dirname
from typing import NamedTuple

from packyard.core.kubernetes import kustomization
from packyard.core.yaml.node import Item
from packyard.using.options import folder
from packyard.using.options.options import Options
from packyard.using.upgrade.difference import Files


class Switch(NamedTuple):
    """An option that the user enabled in a use case, with its line in the ``file``, or disabled (None)."""

    file: str
    name: str
    line: Item | None


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
    for file, group in groupby(switches, key=lambda switch: switch.file):
        if use_case := _use_case(changed, file, root_dir):
            lines = {switch.name: switch.line for switch in group}
            enabled = [name for name, line in lines.items() if line and name not in use_case.enabled]
            changed[file] = use_case.switched(enabled, [name for name, line in lines.items() if not line])
    return changed


def lacks(files: Files, switch: Switch) -> bool:
    """Say whether a package has an option no more that the user enabled."""
    return switch.line is not None and switch.file in files and switch.name not in _names(files, switch.file)


def _options_above(files: Files, path: str) -> str | None:
    """Return the folder of the options that a use case sees, by the path of its kustomization."""
    for above in PurePosixPath(dirname(path)).parents:
        options = str(above / folder.NAME)
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
    return Options.of_file(root_dir / dirname(path), str(root_dir / options), str(root_dir), files[path], path)
