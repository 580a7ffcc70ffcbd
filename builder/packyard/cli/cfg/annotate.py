"""`cfg annotate`: annotations on the documents of a package, of packages below, or of standard input."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from packyard.cli import output, state
from packyard.cli.cfg import blocks
from packyard.cli.flags import Declared
from packyard.core.errors import InputError, UsageError
from packyard.using.setters.resourcefiles import find_folders, rewrite
from packyard.writing.authoring import annotate

FLAGS = Declared({"recurse-subpackages": False}, ("kv", "kind", "apiVersion", "name", "namespace"))


def run(words: Sequence[str]) -> int:
    """Annotate what DIR holds, or copy standard input to standard output with the annotations."""
    parsed = FLAGS.parse(words)
    if len(parsed.arguments) > 1:
        raise UsageError(f"accepts at most 1 arg(s), received {len(parsed.arguments)}")
    pairs = [pair for text in parsed.values.get("kv", []) for pair in _split(text)]
    selection = annotate.Selection(
        kind=parsed.text("kind"),
        api_version=parsed.text("apiVersion"),
        name=parsed.text("name"),
        namespace=parsed.text("namespace"),
    )

    def change(data: bytes, name: str) -> bytes:
        return annotate.annotate(data, name, _annotations(pairs), selection)

    if not parsed.arguments:
        output.data(change(output.read("YAML"), "standard input"))
        return 0
    (folder,) = parsed.arguments
    output.line(blocks.header(folder, ""))
    if not Path(folder).is_file():
        blocks.check_folder(folder)
    folders = find_folders(Path(folder), recursive=parsed.switches["recurse-subpackages"])
    try:
        rewrite(Path(folder), folders, change, log=state.log(f"cfg annotate {' '.join(pairs)}"))
    except InputError as error:
        raise UsageError(str(error)) from error
    message = "added annotations in the package"
    output.page("\n\n".join([message, *(f"{blocks.header(folder, below)}\n{message}" for below in folders[1:])]))
    return 0


def _split(text: str) -> list[str]:
    """Split what ``--kv`` was given at commas, which double quotes protect."""
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        raise UsageError(f'invalid argument {blocks.quoted(text)} for "--kv" flag: {error}') from error


def _annotations(pairs: Sequence[str]) -> dict[str, str]:
    by_key: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"must specify --kv as KEY=VALUE: {pair}")
        by_key[key] = value
    return by_key
