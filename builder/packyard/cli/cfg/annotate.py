"""`cfg annotate`: annotations on the documents of a package, of packages below, or of standard input."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from packyard.cli import output, state
from packyard.cli.cfg import blocks
from packyard.cli.flags import Declared
from packyard.core.errors import UsageError
from packyard.using.setters.resourcefiles import find_folders, rewrite
from packyard.writing.authoring import annotate

FLAGS = Declared({"recurse-subpackages": False}, dict.fromkeys(("kv", "kind", "apiVersion", "name", "namespace"), ()))


def run(words: Sequence[str]) -> int:
    """usage: packyard cfg annotate [DIR] --kv KEY=VALUE [flags]

    Annotate the objects in a directory, or copy standard input to standard
    output with the annotations.

      --kv KEY=VALUE            an annotation; may be repeated
      --apiVersion VERSION      only objects of this apiVersion
      --kind KIND               only objects of this kind
      --name NAME               only objects of this name
      --namespace NAME          only objects in this namespace
      -R, --recurse-subpackages  in packages below DIR, too
    """
    parsed = FLAGS.parse(words)
    folder = "".join(blocks.arguments(parsed, 0, 1))
    pairs = _annotations([pair for text in parsed.values.get("kv", []) for pair in _split(text)])
    selection = annotate.Selection(
        kind=parsed.text("kind"),
        api_version=parsed.text("apiVersion"),
        name=parsed.text("name"),
        namespace=parsed.text("namespace"),
    )

    def change(data: bytes, name: str) -> bytes:
        return annotate.annotate(data, name, pairs, selection)

    if not parsed.arguments:
        output.data(change(output.read("YAML"), "standard input"))
        return 0
    folders = find_folders(Path(folder), recursive=parsed.switches["recurse-subpackages"])
    rewrite(Path(folder), folders, change, log=state.log(f"cfg annotate {' '.join(pairs)}"))
    output.page("\n\n".join(f"{blocks.header(folder, below)}\nadded annotations in the package" for below in folders))
    return 0


def _split(text: str) -> list[str]:
    """Split what ``--kv`` was given at commas, which double quotes protect."""
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        raise UsageError(f"--kv: {text!r}: {error}") from error


def _annotations(pairs: Sequence[str]) -> dict[str, str]:
    by_key: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--kv must be KEY=VALUE, not {pair!r}")
        by_key[key] = value
    return by_key
