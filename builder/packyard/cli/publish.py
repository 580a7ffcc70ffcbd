"""Build packages and publish them to a channel: a folder that any web server can serve.

Publishing another tar under a published name and version is refused; the same tar changes nothing. A folder that is
missing or empty becomes a channel; one with other content is refused.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from packyard.build import catalogue
from packyard.bundle.bundle import Bundle
from packyard.channel import sbom
from packyard.channel.entry import IndexEntry
from packyard.channel.keys import SigningKey
from packyard.channel.provenance import Provenance, installed_libraries
from packyard.channel.publish import Attest, publish
from packyard.cli import arguments as shared
from packyard.cli import fanout, output, settings, signing, sources
from packyard.cli.channels import open_channel
from packyard.source import revision
from packyard.source.workspace import Workspace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    sources.add_names(parser)
    parser.add_argument("--version", required=True, help="the version of the packages, and the name of the release")
    parser.add_argument("--to", metavar="CHANNEL", required=True, help="a directory")
    shared.add_output(parser)
    signing.add_argument(parser)
    sources.add_argument(parser)
    fanout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Build all packages first, then publish: if one is refused, none is published."""
    workspace = sources.find(arguments)
    if "://" not in arguments.to:
        workspace.check_target(Path(arguments.to))
    names = sources.names(arguments, workspace)
    keys, trusted = signing.keys(arguments.key), settings.trust(arguments.to)
    channel = open_channel(arguments.to)
    how = fanout.settings(arguments, workspace)
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        engine = fanout.engine(arguments, names)
        with output.progress(names) as progress:
            packed = catalogue.pack_into(how, names, Path(folder), on=engine, done=progress)
        fanout.finish(how.cache_dir, (item.fault for item in packed))
        files = [Path(folder, f"{item.name}.tar.gz") for item in packed]
        attest = _attest(workspace, Path(folder), keys)
        done = publish(channel, files, attest=attest, keys=keys, trusted=trusted)
    if arguments.output == "json":
        output.json_result([{**entry.document(), "key": entry.key, "status": status} for entry, status in done])
        return 0
    for entry, status in done:
        output.line(f"{status:<10} {entry.key}  {entry.digest}  tar {entry.tar}")
    return 0


def _attest(workspace: Workspace, folder: Path, keys: Sequence[SigningKey]) -> Attest:
    """Return what says of a bundle in the folder what is in it, and what it was made from, signed by the keys."""
    at, libraries = revision.find(workspace.root_dir), installed_libraries()

    def attest(bundle: Bundle, entry: IndexEntry) -> dict[str, bytes]:
        described = sbom.to_bytes(bundle)
        inputs = catalogue.read_inputs(folder, entry.name)
        made = Provenance.of(bundle, inputs, at, file=entry.digest, sbom=described, libraries=libraries)
        return {".spdx.json": described, ".intoto.json": made.to_bytes(keys)}

    return attest
