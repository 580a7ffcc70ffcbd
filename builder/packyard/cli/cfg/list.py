"""`cfg list-setters`: the tables of kustomize."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packyard.cli import output, state
from packyard.cli.cfg import blocks, tablewriter
from packyard.cli.flags import Declared
from packyard.core.errors import InputError, UsageError
from packyard.core.files.tree import Tree
from packyard.core.work.memo import Memo
from packyard.using.setters.definition import Definitions
from packyard.using.setters.listing import ListedSetter, list_setters
from packyard.using.setters.packages import find_packages, read_krmfile, read_package

FLAGS = Declared({"recurse-subpackages": True, "include-subst": False, "markdown": False}, ("version",))


def list_package_setters(words: Sequence[str]) -> int:
    """Print a table of setters for each package, until one has none to show: that ends with 1."""
    parsed = FLAGS.parse(words)
    if not 1 <= len(parsed.arguments) <= 2:
        raise UsageError(f"accepts between 1 and 2 arg(s), received {len(parsed.arguments)}")
    folder, *names = parsed.arguments
    blocks.check_folder(folder, absolute=False)
    tree, memo = Tree(Path(folder)), Memo()
    try:
        packages = find_packages(tree, recursive=parsed.switches["recurse-subpackages"], kpt=True)
        state.tell_pending(tree)
    except InputError:
        blocks.refuse_version_1(folder, "".join(names))
        raise
    shown = False
    for number, package in enumerate(packages):
        files = read_package(tree, package)
        definitions = read_krmfile(files, memo).definitions
        rows = [row for row in list_setters(files, definitions, memo) if not names or row.setter.name == names[0]]
        if not rows and not number:
            blocks.refuse_version_1(folder, "".join(names))
        if not rows and not files.is_of_kustomize and len(packages) > 1:
            continue
        if shown:
            output.line()
        shown = True
        output.line(blocks.header(folder, package))
        output.page("\n".join(_setter_table(rows, markdown=parsed.switches["markdown"])))
        if not rows:
            return 1
        if parsed.switches["include-subst"] and definitions.substitutions:
            output.page("\n".join(_substitution_table(definitions, markdown=parsed.switches["markdown"])))
    return 0 if shown else 1


def _setter_table(rows: Sequence[ListedSetter], *, markdown: bool) -> list[str]:
    headers = ("NAME", "VALUE", "SET BY", "DESCRIPTION", "COUNT", "REQUIRED", "IS SET")
    cells = [
        (
            item.name,
            item.shown,
            item.set_by,
            item.description,
            str(row.field_count),
            _yes(item.required),
            _yes(item.is_set),
        )
        for row in rows
        for item in (row.setter,)
    ]
    return tablewriter.lines(headers, cells, markdown=markdown)


def _substitution_table(definitions: Definitions, *, markdown: bool) -> list[str]:
    cells = [
        (item.name, item.pattern, "[" + ",".join(reference.name for _, reference in item.markers if reference) + "]")
        for _, item in sorted(definitions.substitutions.items())
    ]
    return tablewriter.lines(("SUBSTITUTION", "PATTERN", "REFERENCES"), cells, ruled=True, markdown=markdown)


def _yes(value: bool) -> str:
    return "Yes" if value else "No"
