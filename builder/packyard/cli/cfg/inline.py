"""The commands for setters of version 1, which `cfg` turns to where no Krmfile has what is asked for."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from packyard.cli import output, state
from packyard.cli.cfg import tablewriter
from packyard.core.errors import InputError
from packyard.core.files.tree import Tree
from packyard.using.setters import inline
from packyard.using.setters.packages import find_packages, read_krmfile, read_package, walk_key
from packyard.using.setters.resourcefiles import read, rewrite

if TYPE_CHECKING:
    from packyard.writing.authoring.annotate import Selection
    from packyard.writing.authoring.create import NewSetter


def is_alone(folder: str, name: str = "") -> bool:
    """Say whether a file below has such a setter, and no Krmfile defines one of this name, or any without a name."""
    if not Path(folder).is_dir() or not any(inline.MARK in data for data in _read(folder).values()):
        return False
    defined = [_defined(folder, package) for package in _packages(folder)]
    return not any(name in setters if name else setters for setters in defined)


def set_value(folder: str, name: str, value: str, *, set_by: str, description: str) -> int:
    """Set a setter in every file below."""
    setting = inline.InlineChange(name, value, set_by=set_by, description=description)
    keep = state.keep(Path(folder), f"cfg set {name} {value}")
    rewrite(Path(folder), [""], setting, keep=keep, below_too=True)
    output.line(f"set {setting.count} fields")
    return 0


def print_table(folder: str, name: str) -> int:
    """Print a table of the setters, or of one; an empty one is an error."""
    state.tell_pending(Tree(Path(folder)))
    contents = sorted(_read(folder).items(), key=lambda item: walk_key(item[0]))
    files = [((Path(folder) / path).as_posix(), data) for path, data in contents]
    cells = [
        (row.name, f"'{row.description}'", row.value, row.type, str(row.count), row.set_by)
        for row in inline.list_setters(files)
        if name in ("", row.name)
    ]
    output.page("\n".join(tablewriter.lines(("NAME", "DESCRIPTION", "VALUE", "TYPE", "COUNT", "SETBY"), cells)))
    return 0 if cells else 1


def create_setter(folder: str, new: NewSetter, selection: Selection, *, partial: bool) -> int:
    """Create a setter in every file below; print nothing."""
    from packyard.writing.authoring.create_inline import creation

    keep = state.keep(Path(folder), f"cfg create-setter {new.name}")
    rewrite(Path(folder), [""], creation(new, selection, partial=partial), keep=keep, below_too=True)
    return 0


def _read(folder: str) -> dict[str, bytes]:
    return read(Tree(Path(folder)), "", below_too=True)


def _packages(folder: str) -> list[str]:
    try:
        return find_packages(Tree(Path(folder)), recursive=True)
    except InputError:
        return []


def _defined(folder: str, package: str) -> Collection[str]:
    try:
        return read_krmfile(read_package(Tree(Path(folder)), package)).definitions.setters
    except InputError:  # such as an empty Krmfile
        return ()
