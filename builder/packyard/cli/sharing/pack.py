"""Packing packages to be published: in workers, each bundle a file of a folder.

So no process has more than a few bundles in memory, however many there are, and keys stay in the process that signs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from packyard.cli import bundles, progress, workspaces
from packyard.core.files import git
from packyard.sharing.entry import SBOM, IndexEntry
from packyard.sharing.publishing.publish import Attest, Upload
from packyard.sharing.stores.oci.manifest import bundle_digest
from packyard.sharing.trust import provenance, sbom
from packyard.sharing.trust.keys import Signing
from packyard.sharing.trust.provenance import Statement
from packyard.writing.build import catalogue
from packyard.writing.source.workspace import Workspace


def pack(arguments: argparse.Namespace, workspace: Workspace, names: Sequence[str], folder: Path) -> list[Upload]:
    """Pack packages into a folder, as many at once as the flags say; if one is refused, all that is wrong is raised."""
    jobs = workspaces.jobs(arguments, names)
    with progress.of(names) as done:
        catalogue.pack_into(workspace, arguments.version, names, folder, jobs=jobs, done=done)
    files = (folder / f"{name}.tar.gz" for name in names)
    return [Upload.in_file(IndexEntry.of(bundles.read(file)), file) for file in files]


def attest(workspace: Workspace, folder: Path, key: Signing | None) -> Attest:
    """Return what says of a bundle in the folder what is in it, and what it was made from, signed by the key."""
    at = git.find(workspace.root_dir)

    def statements(entry: IndexEntry) -> dict[str, bytes]:
        described = sbom.to_bytes(bundles.read(folder / f"{entry.name}.tar.gz"), workspace.name)
        inputs = catalogue.read_inputs(folder, entry.name)
        statement = Statement(entry, inputs, at, sbom=described, manifest=bundle_digest(entry)).to_bytes(key)
        return {entry.beside(SBOM): described, entry.beside(provenance.end(statement)): statement}

    return statements
