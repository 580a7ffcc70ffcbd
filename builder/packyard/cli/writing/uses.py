"""``--option``, ``--preset`` and ``NAME=VALUE``: how a package is used while an author looks at it."""

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
    text = f"{verb} with the values of a preset"
    declare.value(parser, "--preset NAME", text, action="append", default=[])


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
    flags = [f"--option={name}" for name in arguments.option] + [f"--preset={name}" for name in arguments.preset]
    command = shlex.join(["packyard", *verb, *others, *flags])
    return others, Use(options=arguments.option, presets=arguments.preset, values=values, command=command)
