"""kustomize's own `cfg` commands, which kustomize v5 removed, with their arguments, messages and exit codes.

  packyard cfg set DIR NAME VALUE [VALUE...] [-R] [--values V] [--set-by S] [--description S]
  packyard cfg list-setters DIR [NAME] [-R=false] [--include-subst] [--markdown]

Scripts that call `kustomize cfg` of version 3.8.7 run unchanged, but for differences that prevent harm: what one
package of a tree refuses is written in none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from packyard.cli import flags, tablewriter
from packyard.errors import InputError, PackyardError, UsageError
from packyard.setters.change import PackageChange, apply
from packyard.setters.definition import Definitions
from packyard.setters.directory import find_packages, read_package
from packyard.setters.listing import Row, list_setters
from packyard.setters.plan import PackageFiles, Plan, plan, read_krmfile
from packyard.text import journal
from packyard.text.tree import Tree


def main(words: Sequence[str]) -> int:
    """Run one of the commands; kustomize prints help, and exits with 0, for any that it does not know."""
    commands = {"set": _set, "list-setters": _list_setters}
    if not words or words[0] not in commands or "--help" in words or "-h" in words:
        print(__doc__)
        return 0
    try:
        return commands[words[0]](words[1:])
    except UsageError as error:
        print(f"Error: {error}\n{__doc__}", file=sys.stderr)
        return 1
    except PackyardError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1


def _set(words: Sequence[str]) -> int:
    parsed = flags.parse(
        words, switches={"recurse-subpackages": False}, values=("values", "set-by", "description", "version")
    )
    if len(parsed.arguments) < 2:
        raise UsageError(f"requires at least 2 arg(s), only received {len(parsed.arguments)}")
    folder, name, *values = parsed.arguments
    if values and "values" in parsed.values:
        raise UsageError("value should set either from flag or arg")
    values = values or parsed.values.get("values", [])
    if not values:
        raise UsageError("value must be provided either from flag or arg")
    recursive = parsed.switches["recurse-subpackages"]

    def plan_package(package: PackageFiles) -> Plan | None:
        krmfile = read_krmfile(package)
        if name not in krmfile.definitions.setters:
            return None
        by, description = parsed.text("set-by"), parsed.text("description")
        return plan(package, {name: values}, set_by=by, description=description, krmfile=krmfile)

    tree = Tree(Path(folder))
    packages = find_packages(tree, recursive=recursive)
    if not recursive:
        print(_header(folder, ""))
    done = apply(Path(folder), plan_package, recursive=recursive, dry_run=False)
    changes = {change.package: change for change in done}
    if not recursive:
        if "" not in changes:
            raise InputError(f'setter "{name}" is not found')
        print(_result(changes[""], name, values[0]))
        return 0
    blocks = [
        f"{_header(folder, package)}\n"
        + (_result(changes[package], name, values[0]) if package in changes else f'setter "{name}" is not found')
        for package in packages
    ]
    print("\n\n".join(blocks))
    return 0


def _result(change: PackageChange, name: str, value: str) -> str:
    return f'set {change.plan.counts[name]} field(s) of setter "{name}" to value {_quoted(value)}'


def _header(folder: str, package: str) -> str:
    path = (Path(folder) / package).as_posix()
    return path + "/"


def _quoted(text: str) -> str:
    """Quote as Go's ``%q`` does, where it differs from JSON."""
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted.replace("\\u0007", "\\a").replace("\\u000b", "\\v")


def _list_setters(words: Sequence[str]) -> int:
    switches = {"recurse-subpackages": True, "include-subst": False, "markdown": False}
    parsed = flags.parse(words, switches=switches, values=())
    if not 1 <= len(parsed.arguments) <= 2:
        raise UsageError(f"accepts between 1 and 2 arg(s), received {len(parsed.arguments)}")
    folder, *names = parsed.arguments
    tree = Tree(Path(folder))
    packages = find_packages(tree, recursive=parsed.switches["recurse-subpackages"])
    journal.finish(tree.root_dir, [tree.root_dir / package for package in packages])
    for number, package in enumerate(packages):
        files = read_package(tree, package)
        rows = [row for row in list_setters(files) if not names or row.name == names[0]]
        print(_header(folder, package))
        print("\n".join(_setter_table(rows, markdown=parsed.switches["markdown"])))
        if not rows:
            return 1
        definitions = read_krmfile(files).definitions
        if parsed.switches["include-subst"] and definitions.substitutions:
            print("\n".join(_substitution_table(definitions)))
        if number < len(packages) - 1:
            print()
    return 0


def _setter_table(rows: Sequence[Row], *, markdown: bool) -> list[str]:
    headers = ("NAME", "VALUE", "SET BY", "DESCRIPTION", "COUNT", "REQUIRED", "IS SET")
    cells = [
        (row.name, row.value, row.set_by, row.description, str(row.count), _yes(row.required), _yes(row.is_set))
        for row in rows
    ]
    if not markdown:
        return tablewriter.lines(headers, cells)
    body = [f"| {' | '.join(row)} |" for row in (headers, *cells)]
    return [body[0], "|" + "|".join("---" for _ in headers) + "|", *body[1:]]


def _substitution_table(definitions: Definitions) -> list[str]:
    cells = [
        (item.name, item.pattern, "[" + ",".join(reference.name for _, reference in item.markers if reference) + "]")
        for _, item in sorted(definitions.substitutions.items())
    ]
    return tablewriter.lines(("SUBSTITUTION", "PATTERN", "REFERENCES"), cells, ruled=True)


def _yes(value: bool) -> str:
    return "Yes" if value else "No"
