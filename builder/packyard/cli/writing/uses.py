"""``--option`` and ``NAME=VALUE``: how a package is used while an author looks at it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable
from pathlib import Path

from packyard.cli import declare
from packyard.core.errors import UsageError
from packyard.writing.build.used import Use


def add_arguments(parser: argparse.ArgumentParser, verb: str) -> None:
    """Declare the flags; values are among the words."""
    text = f"{verb} with an option enabled (may be repeated)"
    declare.value(parser, "--option NAME", text, action="append", default=[])


def split(arguments: argparse.Namespace, words: Iterable[str], *verb: str) -> tuple[list[str], Use]:
    """Return the words that are not NAME=VALUE, and how packages are used; the verb's own words come before all."""
    values: dict[str, list[str]] = {}
    others: list[str] = []
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or Path(word).exists():
            others.append(word)
        elif not name:
            raise UsageError(f"packyard: {word!r} must be NAME=VALUE")
        else:
            values.setdefault(name, []).append(text)
    command = shlex.join(["packyard", *verb, *others, *(f"--option={name}" for name in arguments.option)])
    return others, Use(options=arguments.option, values=values, command=command)
