"""Fetch a package, verify it and unpack it: from a channel, or from the catalogue that packyard carries.

packyard get NAME                          the catalogue of this packyard
packyard get NAME@VERSION --from CHANNEL   a directory or an http(s) address
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from packyard import __version__
from packyard.bundle.bundle import Bundle
from packyard.bundle.reference import Reference
from packyard.cli import arguments as shared
from packyard.cli import output, state
from packyard.digest import Digest
from packyard.errors import InputError, Problem, UnavailableError

if TYPE_CHECKING:
    from packyard.channel.choose import Choice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("reference", metavar="NAME[@VERSION]")
    parser.add_argument("--from", dest="channel", metavar="CHANNEL", help="a directory or an http(s) address")
    parser.add_argument("--into", metavar="DIR", default=".", help="where to unpack (default: here)")
    shared.add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Fetch, verify and unpack a package; print the new directory."""
    bundle = _fetch(arguments.channel, arguments.reference) if arguments.channel else _carried(arguments.reference)
    into = Path(arguments.into)
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(f"{into}: {error.strerror}") from error
    folder = bundle.unpack(into)
    name, version, digest = bundle.manifest.name, bundle.manifest.version, Digest.of(bundle.data)
    if arguments.output == "json":
        found = {"name": name, "version": version, "directory": str(folder), "digest": digest, "tar": bundle.tar}
        output.json_result([found])
        return 0
    output.line(str(folder))
    output.note(f"{name} {version}: verified, {name}.tar.gz {digest}, tar {bundle.tar}")
    return 0


def _fetch(channel: str, reference: str) -> Bundle:
    from packyard.channel.fetch import fetch
    from packyard.cli import settings
    from packyard.cli.channels import open_channel

    def tell(choice: Choice) -> None:
        if choice.entry.yanked:
            output.warning(f"{choice.entry} is yanked: {choice.entry.yanked}")
        if reference != str(choice.entry):
            output.note(f"{reference} is {choice.entry.version}: {choice.why}")

    store = open_channel(channel)
    return fetch(store, reference, trusted=settings.trust(channel), memory=settings.memory(channel), tell=tell)


def _carried(reference: str) -> Bundle:
    from packyard.build.catalogue import Packing, Settings
    from packyard.source import workspace

    asked = Reference.parse(reference)
    if not asked.admits(__version__):
        hint = "name a channel that has it: --from CHANNEL"
        problem = f"this packyard carries version {__version__}, not {asked.version or asked.choice}"
        raise InputError(Problem(problem, hint=hint))
    settings = Settings(root_dir=workspace.built_in().root_dir, version=__version__, cache_dir=state.cache_dir())
    built = Packing(settings)(asked.name)
    if built.fault:
        output.warning(built.fault)
    return Bundle.open(built.data, what=built.name)
