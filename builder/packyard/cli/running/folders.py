"""The packages that words name, as folders: untarred ones, those of a channel, or those that packyard carries."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from packyard.cli import bundles, declare, preferences, progress
from packyard.core.bundle import shipped
from packyard.core.bundle.manifest import LIBRARY
from packyard.core.bundle.reference import Reference
from packyard.core.bundle.required import Required
from packyard.using.options import enabled
from packyard.using.render import every
from packyard.using.render.every import Object


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words, and the channel."""
    parser.add_argument(
        "packages", metavar="NAME|DIR", nargs="*", help="a package, or the folder of one (default: the whole catalogue)"
    )
    declare.value(parser, "--from CHANNEL", "the address of a channel", dest="channel")


UseCase = tuple[str, str, list[Object], tuple[Required, ...]]


def use_cases(words: Sequence[str], flag: str | None) -> Iterator[UseCase]:
    """Yield each use case of the packages that are named, or of all: the word, its path there, and its objects.

    Values may still have to be set. Last comes what its authors say that it needs.
    """
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        names = list(dict.fromkeys(words)) or _all(flag)
        with progress.of(names) as done:
            for number, word in enumerate(names):
                there = Path(word)
                if not there.is_dir():
                    bundle = bundles.find(Reference.parse(word), preferences.source(flag))
                    there = bundle.unpack(Path(tempfile.mkdtemp(dir=folder)))
                for use_case, objects in every.drafts(there, path=os.environ.get("PATH", "")).items():
                    yield word, use_case, objects, shipped.required(there / use_case, enabled.names(there / use_case))
                done(number)


def _all(flag: str | None) -> list[str]:
    """Return the names of all packages of the channel that is named or configured, or that packyard carries."""
    channel = preferences.source(flag)
    if channel.is_carried:
        from packyard.writing.source import workspace

        return workspace.built_in().package_names()
    from packyard.cli.channels import listed

    return [
        each.name for each in listed(channel.value).packages() if any(entry.kind != LIBRARY for entry in each.entries)
    ]
