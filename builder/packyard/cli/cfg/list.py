"""`cfg list-setters`: a table of setters for each package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packyard.cli import output, state
from packyard.cli.cfg import blocks
from packyard.cli.flags import Flags
from packyard.core.files.tree import Tree
from packyard.using.setters.definition import Definitions
from packyard.using.setters.listing import ListedSetter, list_setters
from packyard.using.setters.packages import find_packages, read_krmfile, read_package

_COLUMNS = ("NAME", "VALUE", "SET BY", "COUNT", "REQUIRED", "IS SET", "DESCRIPTION")


def list_package_setters(parsed: Flags) -> int:
    """usage: packyard cfg list-setters DIR [NAME] [flags]

    List the setters of a package and of those below it; 1 if one has none.

      --include-subst           also list substitutions
      --version {v2}            the version of all setters here
      -R, --recurse-subpackages=false  only those of the package itself
    """
    folder, *names = blocks.arguments(parsed, 1, 2)
    tree = Tree(Path(folder))
    state.tell_pending(tree.root_dir)
    for number, package in enumerate(find_packages(tree, recursive=parsed.switches["recurse-subpackages"], kpt=True)):
        files = read_package(tree, package)
        definitions = read_krmfile(files).definitions
        rows = [row for row in list_setters(files, definitions) if not names or row.setter.name == names[0]]
        if not rows:
            blocks.refuse_version_1(folder, "".join(names))
        output.page(f"{chr(10) * bool(number)}{blocks.header(folder, package)}")
        output.table(_COLUMNS, [_cells(row) for row in rows])
        if not rows:
            output.note("no setter to list")
            return 1
        if parsed.switches["include-subst"]:
            output.table(("SUBSTITUTION", "REFERENCES", "PATTERN"), _substitutions(definitions))
    return 0


def _cells(row: ListedSetter) -> Sequence[str]:
    setter = row.setter
    is_required, is_set = ("Yes" if flag else "No" for flag in (setter.required, setter.is_set))
    return setter.name, setter.shown, setter.set_by, str(row.field_count), is_required, is_set, setter.description


def _substitutions(definitions: Definitions) -> list[tuple[str, str, str]]:
    return [
        (item.name, ", ".join(reference.name for _, reference in item.markers if reference), item.pattern)
        for _, item in sorted(definitions.substitutions.items())
    ]
