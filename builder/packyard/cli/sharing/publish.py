"""Build packages and publish them to a channel: a folder that any web server can serve, a bucket or a registry.

All packages are built before the first is uploaded. Another tar under a published name and version is refused; the same
tar changes nothing, and what an interrupted publish left is completed: run it again.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.cli import declare, fanout, output, progress, workspaces
from packyard.cli.channels import BUNDLES, open_channel, publisher, row, show
from packyard.cli.sharing import pack, signing
from packyard.core.bundle import reference
from packyard.core.errors import InputError, Problem, UsageError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import head
from packyard.sharing.index.access import Publisher
from packyard.sharing.publishing.close import close
from packyard.sharing.publishing.join import join, missing
from packyard.sharing.publishing.publish import preview, publish
from packyard.sharing.publishing.upload import Packed
from packyard.sharing.stores.store import ReadOnly, Store

ROWS = BUNDLES
EXAMPLE = "packyard publish --version 1.0.0 --to CHANNEL"
_AT_ONCE = 8  # bundles that are uploaded at a time
_SHOWN = 5  # packages that are missing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    workspaces.add_names(parser)
    declare.value(parser, "--version VERSION", "the version of the packages")
    declare.value(parser, "--to CHANNEL", "a directory, or the address of a bucket", required=True)
    declare.switch(parser, "--dry-run", "say what would be done; write nothing")
    declare.switch(parser, "--close", "close the release: it never gets another package")
    declare.value(parser, "--shard K/N", "upload part K of N (from 0), and list nothing")
    declare.switch(parser, "--join", "list what all the parts uploaded")
    declare.switch(parser, "--web", "also write the page that packyard web writes")
    declare.switch(parser, "--resolve-images", "ask registries for digests of images")
    signing.add_argument(parser)
    workspaces.add_argument(parser)
    fanout.add_arguments(parser)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A channel, who publishes there, and how results are printed."""

    store: Store
    by: Publisher
    form: str


def run(arguments: argparse.Namespace) -> int:
    """Build all packages first, then publish: if one is refused, none is published."""
    shard = _shard(arguments.shard)
    _check(arguments)
    workspace = workspaces.find(arguments) if arguments.version else None
    if workspace and "://" not in arguments.to:
        workspace.check_target(Path(arguments.to))
    names = workspaces.bundles(arguments, workspace) if workspace else []
    if workspace and not names:
        hint = "packyard new NAME makes a package; packyard import DIR takes one from elsewhere"
        raise InputError(
            Problem("has no packages: there is nothing to publish", file=str(workspace.root_dir), hint=hint)
        )
    keys = [] if arguments.dry_run else signing.keys(arguments.key)
    store = open_channel(arguments.to)
    if isinstance(store, ReadOnly) and not arguments.dry_run:
        store.refuse()
    by = publisher(arguments.to, keys)
    if not arguments.dry_run:
        by = replace(by, trusted=head.trust_to_write(keys, by.trusted))
    target = _Target(store=store, by=by, form=arguments.output)
    if workspace is None or (arguments.join and shard is None):
        absent = missing(store, names, arguments.version, trusted=by.trusted) if workspace else []
        if absent:
            raise _incomplete(absent, len(names), arguments.version)
        return _join(target, arguments)
    part = names[shard[0] :: shard[1]] if shard else names
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        packed = pack.pack(arguments, workspace, part, Path(folder))
        if arguments.dry_run:
            return _preview(target, packed)
        attest = pack.attest(workspace, Path(folder), keys)
        with progress.busy(f"publishing {output.counted(len(part), 'package')}"), progress.of(part) as done:
            published = publish(store, packed, by, attest=attest, at_once=_AT_ONCE, is_listed=shard is None, done=done)
    _print(target, [(entry, status, ()) for entry, status in published])
    signing.tell_unsigned(keys)
    if shard is None:
        return _end(target, arguments)
    if not arguments.join:
        output.note("the index lists them after: packyard publish --join")
        return 0
    absent = missing(store, names, arguments.version, trusted=by.trusted)
    if not absent:
        return _join(target, arguments, quiet=True)
    output.note(f"{len(absent)} of {output.counted(len(names), 'package')} are still missing; the last part joins them")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse flags that do not go together, and a version that is none."""
    if arguments.version:
        reference.check_version(arguments.version)
    elif not arguments.join or arguments.shard:
        raise UsageError(f"packyard publish: --version is missing; give one: {EXAMPLE}")
    elif arguments.names:
        raise UsageError("packyard publish --join: packages are named together with --version")
    if arguments.close and arguments.shard and not arguments.join:
        raise UsageError("packyard publish: --close is for the run that joins: packyard publish --join --close")
    if arguments.close and not arguments.version:
        raise UsageError("packyard publish: --close needs the --version that it closes")
    if arguments.web:
        from packyard.cli.sharing import web  # what writes pages takes long to import

        web.check(arguments.to)
    if arguments.web and (arguments.dry_run or (arguments.shard and not arguments.join)):
        raise UsageError("packyard publish: --web is for the run that lists the packages, and not for --dry-run")
    if arguments.dry_run and (arguments.join or arguments.close):
        raise UsageError("packyard publish: --dry-run goes with neither --join nor --close")


def _shard(text: str | None) -> tuple[int, int] | None:
    """Return the number of a part, from 0, and how many there are."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text, re.ASCII)
    if not match or not int(match[1]) < int(match[2]):
        hint = "the parts of 8 are 0/8 to 7/8, as $JOB_COMPLETION_INDEX counts"
        raise UsageError(f"--shard: must be K/N with K below N, found {text!r} ({hint})")
    return int(match[1]), int(match[2])


def _incomplete(absent: Sequence[str], count: int, version: str) -> InputError:
    more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
    problem = f"{len(absent)} of {count} packages are not uploaded as {version}: {', '.join(absent[:_SHOWN])}{more}"
    return InputError(Problem(problem, hint="run the --shard that was interrupted again, then --join"))


def _join(target: _Target, arguments: argparse.Namespace, *, quiet: bool = False) -> int:
    with progress.busy("listing what was uploaded"):
        joined = join(target.store, target.by)
    if quiet:
        output.note(f"the index lists {output.counted(len(joined), 'package')} more")
    else:
        _print(target, [(entry, "published", ()) for entry in joined])
        signing.tell_unsigned(target.by.keys)
    return _end(target, arguments)


def _end(target: _Target, arguments: argparse.Namespace) -> int:
    """Do what is asked for once all is listed."""
    if arguments.close:
        close(target.store, arguments.version, target.by)
        output.note(f"the release {arguments.version} is closed")
    if arguments.web:
        from packyard.cli.sharing import web

        web.write(arguments.to, target.store)
    return 0


def _preview(target: _Target, packed: Sequence[Packed]) -> int:
    with progress.busy(f"comparing {output.counted(len(packed), 'package')}"):
        rows = preview(target.store, packed, trusted=target.by.trusted, at_once=_AT_ONCE)
    _print(target, rows)
    for _, _, problems in rows:
        for problem in problems:
            output.problem(str(problem))
    return int(any(outlook == "conflict" for _, outlook, _ in rows))


def _print(target: _Target, rows: Sequence[tuple[IndexEntry, str, Sequence[Problem]]]) -> None:
    """Print a row for each package, and count them."""
    show([{**row(entry, status), **_why(problems)} for entry, status, problems in rows], target.form)
    counts = Counter(status for _, status, _ in rows)
    summary = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "nothing to do"
    output.note(f"{summary}: {target.store.address}")


def _why(problems: Sequence[Problem]) -> dict[str, list[str]]:
    return {"problems": list(map(str, problems))} if problems else {}
