"""The options that a user enabled in an untarred package, and the same done to the files of another version.

The engine is that of `enable`, which leaves the very bytes that it left in the user's files. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from posixpath import basename, dirname

from packyard.core.kubernetes import kustomization
from packyard.core.yaml.node import Item
from packyard.using.options import folder
from packyard.using.options.options import Options
from packyard.using.upgrade.difference import Files


@dataclass(frozen=True, slots=True)
class OptionLines:
    """The options of a use case that the user enabled, each with its line, and those that the user disabled."""

    file: str
    enabled: Mapping[str, Item]
    disabled: tuple[str, ...]


def read_options(before: Files, after: Files, root_dir: Path) -> list[OptionLines]:
    """Return which options of the package were enabled and disabled since ``before``, in use cases that both have."""
    option_lines = []
    for path in sorted(before.keys() & after.keys()):
        was = _use_case(before, path, root_dir) if before[path] != after[path] else None
        now = _use_case(after, path, root_dir) if was else None
        if was and now:
            shipped = _names(before, path)  # an option that the user wrote is an edit by hand
            enabled = {name: item for name, item in now.enabled.items() if name not in was.enabled and name in shipped}
            option_lines.append(
                OptionLines(path, enabled, tuple(name for name in was.enabled if name not in now.enabled))
            )
    return option_lines


def with_options(files: Files, lines: Iterable[OptionLines], root_dir: Path) -> Files:
    """Enable and disable options in a package that has them."""
    changed = dict(files)
    for switched in lines:
        if use_case := _use_case(changed, switched.file, root_dir):
            names = [name for name in switched.enabled if name not in use_case.enabled]
            changed[switched.file] = use_case.switched(names, switched.disabled)
    return changed


def without_gone(files: Files, lines: Iterable[OptionLines]) -> tuple[list[OptionLines], list[tuple[str, Item]]]:
    """Return the options that were switched without those that a package has no more, and these, with their lines."""
    remaining, gone = [], []
    for switched in lines:
        present = _names(files, switched.file) if switched.file in files else switched.enabled.keys()
        gone += [(name, item) for name, item in switched.enabled.items() if name not in present]
        enabled = {name: item for name, item in switched.enabled.items() if name in present}
        remaining.append(OptionLines(switched.file, enabled, switched.disabled))
    return remaining, gone


def _options_above(files: Files, path: str) -> str | None:
    """Return the folder of the options that a use case sees, by the path of its kustomization."""
    where = dirname(path)
    while where:
        where = dirname(where)
        options = f"{where}/{folder.NAME}".lstrip("/")
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
