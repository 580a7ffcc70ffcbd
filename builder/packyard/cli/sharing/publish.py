"""Build packages and publish them to a channel: a folder that any web server can serve, a bucket or a registry.

All packages are built before the first is uploaded. Another tar under a published name and version is refused; the same
tar changes nothing, and what an interrupted publish left is completed: run it again.
"""

import argparse
import re
import tempfile
from functools import partial
from pathlib import Path

from packyard.cli import bundles, declare, output, progress, signing, workspaces
from packyard.cli.bundles import BUNDLES, open_channel
from packyard.core.bundle import reference
from packyard.core.files import git, regular
from packyard.sharing.entry import SBOM, IndexEntry
from packyard.sharing.index import access
from packyard.sharing.index.index import Index
from packyard.sharing.publishing.publish import Attest, Upload, compare, publish
from packyard.sharing.stores import as_registry
from packyard.sharing.stores.store import ReadOnly
from packyard.sharing.trust import provenance, sbom
from packyard.sharing.trust.keyless import Signing
from packyard.sharing.trust.keys import SigningKey
from packyard.sharing.trust.provenance import Statement
from packyard.using.options import usecases
from packyard.writing.build import catalogue, tree
from packyard.writing.build.catalogue import Catalogue
from packyard.writing.source.workspace import Workspace

ROWS = BUNDLES
EXAMPLE = "packyard publish --version 1.0.0 --to CHANNEL"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.value("--version VERSION", "the version of the packages", required=True)
    parser.value("--to CHANNEL", "a directory, or the address of a bucket", required=True)
    parser.switch("--dry-run", "say what would be done; write nothing")
    parser.switch("--close", "close the release: it never gets another package")
    parser.value("--shard K/N", "publish part K of N (from 0); with --close, the last one closes", type=_shard)
    signing.add_argument(parser)
    workspaces.add_arguments(parser)
    workspaces.add_jobs(parser)


def run(arguments: declare.Arguments) -> None:
    """Build all packages first, then publish: if one is refused, none is published."""
    shard = arguments.shard
    reference.check_version(arguments.version)
    if arguments.version[:1] == "v":
        output.warning(f"published as {arguments.version}, with the v; most write {arguments.version[1:]}")
    workspace = workspaces.find(arguments)
    if "://" not in arguments.to:
        workspace.check_target(Path(arguments.to))
    names = workspaces.bundles(arguments, workspace)
    store = open_channel(arguments.to)
    if isinstance(store, ReadOnly) and not (arguments.dry_run or as_registry(store)):
        store.refuse()
    by = signing.publisher(arguments.to, arguments.key, is_trial=arguments.dry_run)
    part = names[shard[0] :: shard[1]] if shard else names
    # Who may not publish there, or not this version, hears of it before anything is asked and all is built.
    before = access.current(store, by.trusted) if arguments.dry_run else by.current(store)
    for name in part:
        before.known(name).present(arguments.version)
    if isinstance(by.key, SigningKey):
        by.key.unlock()
    with tempfile.TemporaryDirectory(prefix="packyard-") as name:
        folder, jobs = Path(name), workspaces.jobs(arguments, part)
        with progress.of(part) as done:
            put = partial(tree.write, folder)
            built = catalogue.build(workspace, arguments.version, part, put, jobs=jobs, done=done)
        workspaces.tell_warnings(len(built.warnings), arguments)
        for place in dict.fromkeys(f"{finding.file}:{finding.line}" for finding in built.secrets):
            output.warning(f"{place}: a secret in plain text, which all who read the channel read")
        files = (folder / f"{name}.tar.gz" for name in part)
        entries = [(IndexEntry.of(bundles.read(file)), file) for file in files]
        packed = [Upload(entry=entry, data=partial(regular.read, file, limit=entry.size)) for entry, file in entries]
        if arguments.dry_run:
            if not before.number:
                output.note(access.beginning(store, "would be a new channel"))
            uploads = compare(store, packed, before)
            bundles.show(store, [(upload.entry, _outlook(upload)) for upload in uploads], arguments.output)
            return
        attest = _attest(workspace, folder, built, by.key)
        close = arguments.version if arguments.close else ""
        with progress.of(part) as done:
            published = publish(store, packed, by, attest=attest, done=done, close=close, shard=shard, before=before)
    bundles.show(store, published, arguments.output)
    if close:
        _tell_closed(by.current(store), close, shard)


def _outlook(upload: Upload) -> str:
    """Return what publishing would do: publish it (``new``), complete it (``incomplete``), or nothing."""
    return "unchanged" if upload.is_whole else "incomplete" if upload.has_bundle else "new"


def _shard(text: str) -> tuple[int, int]:
    """Return the number of a part, from 0, and how many there are."""
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text, re.ASCII)
    if not match or not int(match[1]) < int(match[2]):
        hint = "the parts of 8 are 0/8 to 7/8, as $JOB_COMPLETION_INDEX counts"
        raise argparse.ArgumentTypeError(f"must be K/N with K below N, found {text!r} ({hint})")
    return int(match[1]), int(match[2])


def _tell_closed(index: Index, version: str, shard: tuple[int, int] | None) -> None:
    """Say that the release is closed, or which of its shards are missing."""
    if index.release(version).closed:
        output.note(f"the release {version} is closed")
    elif shard:
        missing = [f"{number}/{shard[1]}" for number in range(shard[1]) if number not in index.release(version).shards]
        which = usecases.listed(missing)
        output.note(f"the release {version} is open until the last shard is published; missing: {which}")


def _attest(workspace: Workspace, folder: Path, built: Catalogue, key: Signing | None) -> Attest:
    """Return what says of a bundle in the folder what is in it, and what it was made from, signed by the key."""
    at, inputs = git.find(workspace.root_dir), {item.name: item.inputs for item in built.packages}

    def statements(entry: IndexEntry) -> dict[str, bytes]:
        described = sbom.to_bytes(bundles.read(folder / f"{entry.name}.tar.gz"), workspace.name)
        statement = Statement(entry, inputs[entry.name], at, sbom=described).to_bytes(key)
        return {entry.beside(SBOM): described, entry.beside(provenance.end(statement)): statement}

    return statements
