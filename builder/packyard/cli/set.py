"""Set values of a package's setters; only the bytes of the fields that they reach change.

packyard set DIR NAME VALUE         one setter (a list setter takes several values)
packyard set DIR NAME=VALUE ...     several, checked together and written together
packyard set DIR --unset NAME       back to the value that the package shipped
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from packyard.cli import output
from packyard.errors import UsageError
from packyard.setters.change import PackageChange, change_setters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("directory", metavar="DIR", help="a package, or with -R a folder of packages")
    parser.add_argument("words", metavar="NAME VALUE | NAME=VALUE", nargs="*")
    parser.add_argument("-R", "--recurse-subpackages", action="store_true", help="every package below DIR that has it")
    parser.add_argument("--unset", metavar="NAME", action="append", default=[], help="go back to the shipped value")
    parser.add_argument("--set-by", default="", help="who sets it, recorded in the Krmfile")
    parser.add_argument("--description", default="", help="a new description of the setter")
    parser.add_argument("--dry-run", action="store_true", help="print what would change as a diff, and write nothing")
    parser.add_argument("--output", choices=("text", "json"), default="text")


def run(arguments: argparse.Namespace) -> int:
    """Set, and say what was changed where."""
    values = _values(arguments.words)
    if not values and not arguments.unset:
        raise UsageError("packyard set: nothing to set: give NAME VALUE, NAME=VALUE or --unset NAME")
    changes = change_setters(
        Path(arguments.directory),
        values,
        unset=arguments.unset,
        recursive=arguments.recurse_subpackages,
        set_by=arguments.set_by,
        description=arguments.description,
        dry_run=arguments.dry_run,
    )
    if arguments.output == "json":
        output.json_result([_document(change) for change in changes])
    elif arguments.dry_run:
        for change in changes:
            sys.stdout.write(_diff(change))
    else:
        for change in changes:
            _tell(change)
    return 0


def _values(words: list[str]) -> dict[str, list[str]]:
    if not words:
        return {}
    if "=" not in words[0]:
        if len(words) < 2:
            raise UsageError(f"packyard set: a value for {words[0]} is missing (NAME VALUE, or NAME=VALUE)")
        return {words[0]: words[1:]}
    values: dict[str, list[str]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise UsageError(f"packyard set: {word!r} is no NAME=VALUE")
        values.setdefault(name, []).append(text)
    return values


def _document(change: PackageChange) -> dict[str, object]:
    fields = [
        {
            "file": item.file,
            "line": item.line,
            "column": item.column,
            "path": item.path,
            "setter": item.name,
            "old": item.old,
            "new": item.new,
        }
        for item in change.plan.changes
    ]
    return {"package": change.package or ".", "counts": dict(change.plan.counts), "fields": fields}


def _diff(change: PackageChange) -> str:
    before = {"Krmfile": change.before.krmfile, **change.before.resources}
    prefix = f"{change.package}/" if change.package else ""
    return "".join(output.diff(before[path], data, prefix + path) for path, data in sorted(change.plan.files.items()))


def _tell(change: PackageChange) -> None:
    for item in change.plan.changes:
        if item.old != item.new:
            place = f"{os.path.normpath(item.file)}:{item.line}"
            print(f"{place}: {item.path}: {_shown(item.old)} -> {_shown(item.new)}")
    for name, count in change.plan.counts.items():
        setter = change.plan.definitions.setters[name]
        value = ", ".join(setter.values) if setter.values else setter.value
        output.story(f"{change.before.where or './'}: {name} is {_shown(value)} in {count} field{'s' * (count != 1)}")


def _shown(text: str) -> str:
    return text if text and text.strip() == text and text.isprintable() else repr(text)
