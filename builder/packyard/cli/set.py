"""Set values of a package's setters; only the bytes of the fields that they reach change.

packyard set DIR NAME VALUE         one setter (a list setter takes several values)
packyard set DIR NAME=VALUE ...     several, checked together and written together
packyard set DIR --values FILE      those of a YAML file, NAME: VALUE a line
packyard set DIR --unset NAME       back to the value that the package shipped

-R, --recurse-subpackages   every package below DIR that has the setter
--dry-run                   print what would change as a diff, and write nothing
--set-by WHO                who sets it, recorded in the Krmfile
--description TEXT          a new description of the setter
--output text|json          json: every field with file, line, column, path, old and new
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from packyard.cli import flags, output, state
from packyard.cli.flags import Flags
from packyard.errors import UnavailableError, UsageError, on_one_line
from packyard.setters.change import PackageChange, change_setters

_SWITCHES = {"recurse-subpackages": False, "dry-run": False, "help": False}
_TAKE_VALUES = ("values", "unset", "set-by", "description", "output")


def main(words: Sequence[str]) -> int:
    """Set, and say what was changed where."""
    if "-h" in words:
        words = ["--help"]
    try:
        parsed = flags.parse(words, switches=_SWITCHES, values=_TAKE_VALUES, numbers=True)
    except UsageError as error:
        raise UsageError(f"packyard set: {error}\n\n{__doc__}") from error
    if parsed.switches["help"]:
        print(__doc__)
        return 0
    if not parsed.arguments:
        raise UsageError(f"packyard set: DIR is missing\n\n{__doc__}")
    return _run(Path(parsed.arguments[0]), parsed.arguments[1:], parsed)


def _run(directory: Path, words: list[str], parsed: Flags) -> int:
    values = {
        name: texts for file in parsed.values.get("values", []) for name, texts in _read_values(Path(file)).items()
    }
    values.update(_values(words))
    unset = parsed.values.get("unset", [])
    shape = parsed.text("output") or "text"
    if not values and not unset:
        raise UsageError(f"packyard set: nothing to set\n\n{__doc__}")
    if shape not in ("text", "json"):
        raise UsageError(f"packyard set: --output is text or json, not {shape!r}")
    dry_run = parsed.switches["dry-run"]
    changes = change_setters(
        directory,
        values,
        unset=unset,
        recursive=parsed.switches["recurse-subpackages"],
        set_by=parsed.text("set-by"),
        description=parsed.text("description"),
        dry_run=dry_run,
        keep=state.keep(directory, _title(values, unset)),
    )
    if shape == "json":
        output.json_result([_document(change) for change in changes])
    elif dry_run:
        for change in changes:
            sys.stdout.write(_diff(change))
    else:
        for change in changes:
            _tell(change)
    return 0


def _title(values: Mapping[str, Sequence[str]], unset: Sequence[str]) -> str:
    return ", ".join(
        [*(f"{name}={','.join(texts)}" for name, texts in values.items()), *(f"--unset {name}" for name in unset)]
    )


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


def _read_values(file: Path) -> dict[str, list[str]]:
    from packyard.setters import valuesfile

    try:
        data = file.read_bytes()
    except OSError as error:
        raise UnavailableError(f"{file}: {error.strerror}") from error
    return {name: given.texts for name, given in valuesfile.parse(data, str(file)).given.items()}


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
    prefix = f"{change.package}/" if change.package else ""
    return "".join(
        output.diff(change.bytes_before(path), data, prefix + path) for path, data in sorted(change.plan.files.items())
    )


def _tell(change: PackageChange) -> None:
    for item in change.plan.changes:
        if item.old != item.new:
            place = f"{on_one_line(os.path.normpath(item.file))}:{item.line}"
            print(f"{place}: {item.path}: {_shown(item.old)} -> {_shown(item.new)}")
    for name, count in change.plan.counts.items():
        setter = change.plan.definitions.setters[name]
        value = ", ".join(setter.values) if setter.values else setter.value
        output.story(f"{change.before.where or './'}: {name} is {_shown(value)} in {output.counted(count, 'field')}")


def _shown(text: str) -> str:
    return text if text and text.strip() == text and text.isprintable() else repr(text)
