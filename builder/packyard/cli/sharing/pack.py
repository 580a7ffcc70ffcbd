"""Packing packages to be published: in workers, each bundle a file of a folder, and beside it what is said of it.

So no process has more than a few bundles in memory, however many there are, and keys stay in the process that signs.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from packyard.cli import fanout, progress
from packyard.core.bundle.bundle import Bundle
from packyard.core.files import git
from packyard.sharing.entry import SBOM, IndexEntry
from packyard.sharing.publishing.publish import Attest, Upload
from packyard.sharing.stores.oci.manifest import bundle_digest
from packyard.sharing.trust import provenance, sbom
from packyard.sharing.trust.keys import Signing
from packyard.sharing.trust.provenance import Statement
from packyard.writing.build import catalogue
from packyard.writing.source.workspace import Workspace

_ENTRY = ".entry.json"


def pack(arguments: argparse.Namespace, workspace: Workspace, names: Sequence[str], folder: Path) -> list[Upload]:
    """Pack packages into a folder, as the flags of ``fanout`` say; if one is refused, all that is wrong is raised."""
    jobs = fanout.jobs(arguments, names)
    with progress.of(names) as done:
        describe = partial(_describe, supplier=workspace.name)
        catalogue.pack_into(workspace, arguments.version, names, folder, jobs=jobs, done=done, describe=describe)
    entries = (IndexEntry.parse(json.loads((folder / f"{name}{_ENTRY}").read_bytes())) for name in names)
    return [Upload.in_file(entry, folder / f"{entry.name}.tar.gz") for entry in entries]


def attest(workspace: Workspace, folder: Path, key: Signing | None) -> Attest:
    """Return what says of a bundle in the folder what is in it, and what it was made from, signed by the key."""
    at = git.find(workspace.root_dir)

    def statements(entry: IndexEntry) -> dict[str, bytes]:
        described, inputs = (folder / f"{entry.name}{SBOM}").read_bytes(), catalogue.read_inputs(folder, entry.name)
        statement = Statement(entry, inputs, at, sbom=described, manifest=bundle_digest(entry)).to_bytes(key)
        return {entry.beside(SBOM): described, entry.beside(provenance.end(statement)): statement}

    return statements


def _describe(bundle: Bundle, supplier: str) -> dict[str, bytes]:
    entry = json.dumps(IndexEntry.of(bundle).document()).encode()
    return {_ENTRY: entry, SBOM: sbom.to_bytes(bundle, supplier)}
