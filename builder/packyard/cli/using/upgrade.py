"""Move an unpacked package to another version; your values, options and edits stay.

packyard upgrade DIR                  to the newest version in the channel that
                                      it is from
packyard upgrade DIR 1.3.0 --dry-run  to a version, a range such as ^1.2, or
                                      latest; print a diff of what can be merged
packyard upgrade DIR --base FILE      where no channel has the bundle that DIR
                                      came from

A lower version is taken only if you name it in full. New defaults arrive. Where you and the new version changed the
same lines, or it does not take a value of yours, nothing is changed, and every such conflict is listed: --conflicts
decides. `packyard undo DIR` reverts it.
"""

import os
from dataclasses import replace
from pathlib import Path
from shlex import quote

from packyard.cli import bundles, copies, declare, output, preferences, state, unified_diff
from packyard.cli import directory as directories
from packyard.cli.rows import Rows
from packyard.core.bundle import address, manifest, receipt
from packyard.core.bundle import lock as locks
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.reference import LATEST, Reference, order
from packyard.core.errors import InputError, Problem, on_one_line
from packyard.core.files.tree import Tree
from packyard.core.yaml.document import unmerged
from packyard.sharing.fetching.fetch import Fetched
from packyard.using.upgrade.directory import undecided, upgrade
from packyard.using.upgrade.merge import Merged

ROWS = Rows(
    "package",
    "name, from, to, files (file, change), values (directory, name, setter), "
    "options (directory, option), edited, conflicts (file, line, message), toSet (directory, name), indexSeen",
)


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("folder", metavar="DIR", nargs="?", default="", help="a package (default: here)")
    parser.add_argument("version", metavar="VERSION", nargs="?", default="", help="as in NAME@VERSION, or FILE.tar.gz")
    parser.value("--from CHANNEL", "another channel than the one it is from", dest="channel")
    parser.value("--base FILE", "the bundle that DIR came from")
    text = "of what conflicts take yours, the new version's, or both, between markers"
    parser.add_argument("--conflicts", choices=("ours", "theirs", "markers"), default="", help=text)
    parser.switch("--dry-run", "print the changes as a diff; write nothing")


def run(arguments: declare.Arguments) -> int:
    """Upgrade, and print the files that changed."""
    decision, folder, version = arguments.conflicts, Path(arguments.folder), arguments.version
    if not version and not folder.is_dir():
        name, _, version = arguments.folder.rpartition("@")
        is_version = version.endswith(".tar.gz") or version.startswith((*"0123456789v^~", LATEST, "sha256:"))
        folder, version = (Path(name), version) if name or is_version else (folder, "")
    folder, _ = directories.split([str(folder)], "", None)
    copies.check_top(folder)
    hint = "name the top directory of one, or the bundle that it came from: --base FILE"
    base = copies.base(folder, arguments.channel, arguments.base, hint)
    beside = Path(os.path.normpath(folder / os.pardir / locks.FILE))
    pin = locks.read(beside).packages.get(base.name) if beside.is_file() else None
    fetched, received = _theirs(folder, base, version, arguments.channel)
    theirs = fetched.bundle
    if arguments.dry_run:
        output.note(*Tree(folder).warnings())
    log = state.log(f"upgrade {base.name} {base.version} to {theirs.version}")
    outcome = upgrade(folder, base, theirs, decision, dry_run=arguments.dry_run, log=log, receipt=received)
    conflicts = () if decision else outcome.conflicts
    if not conflicts:
        _tell(folder, base, theirs, outcome, decision, would="would be " * arguments.dry_run)
    is_text = ROWS.show([_row(base, fetched, outcome)], arguments.output)
    if is_text and arguments.dry_run:
        left_out = {manifest.FILE, *(os.path.relpath(conflict.file, folder) for conflict in conflicts)}
        unified_diff.diffs(folder, {path: both for path, both in outcome.files.items() if path not in left_out})
    elif is_text:
        output.line(*(f"{change:<8} {folder / path}" for path, change in outcome.changes.items()))
    if conflicts:
        raise undecided(conflicts)
    if pin and pin.version != theirs.version and not arguments.dry_run:
        flags = f"{preferences.flag_for(pin.channel)} --to {quote(str(beside.parent))} --lock {quote(str(beside))}"
        then = f"packyard get {base.name}@{theirs.version}{flags} pins {theirs.version}"
        output.note(f"{beside} pins {base.name}@{pin.version} as before; {then}")
    return _tell_undecided(folder, outcome)


def _theirs(folder: Path, base: Bundle, version: str, flag: str | None) -> tuple[Fetched, bytes | None]:
    """Return the bundle to move to, of a file or of a version as `get` chooses it, and the receipt for it."""
    received = receipt.read(folder)
    if version.endswith(".tar.gz"):
        trusted = preferences.trust(received.channel) if received else preferences.trusted_anywhere()
        fetched = bundles.proved(Path(version), trusted)
        output.note(*bundles.signers(fetched))
        bundle = fetched.bundle
        moved = replace(received, version=bundle.version, digest=bundle.digest).to_bytes() if received else None
        return fetched, moved
    channel = copies.channel(folder, received, flag)
    reference = Reference.parse(f"{base.name}@{version}" if version else base.name)
    fetched = bundles.offer(reference, channel, tell=output.note)
    bundle = fetched.bundle
    for entry in fetched.package.entries:
        if entry.version == base.version != bundle.version and entry.yanked:
            output.warning(f"{folder}: is {entry}, which is yanked: {on_one_line(entry.yanked)}")
    if order(bundle.version) < order(base.version) and not reference.version:
        problem = f"is {base.version}, and {channel} has nothing newer"
        command = f"packyard upgrade {quote(str(folder))} {bundle.version}{preferences.as_flag(channel)}"
        hint = f"to go back, name the version: {command}"
        raise InputError(Problem(problem, file=str(folder), hint=hint))
    preferences.note_used(channel.value)
    return fetched, copies.receipt_of(channel, bundle)


def _tell(folder: Path, base: Bundle, theirs: Bundle, merged: Merged, decision: str, would: str) -> None:
    """Say what is new, what is kept and what was decided, and what there is to do."""
    if not merged.files:
        output.note(f"{folder}: is {theirs.name} {theirs.version} already; nothing changes")
        return
    word = "downgraded" if order(theirs.version) < order(base.version) else "upgraded"
    output.note(f"{theirs.name} {would}{word} from {base.version} to {theirs.version}")
    for noun, names in (
        ("value", [name for _, name in merged.values]),
        ("enabled option", [name for _, name in merged.options]),
        ("edited file", merged.edited),
    ):
        if names:
            output.note(f"  kept: {output.counted(len(names), noun)} of yours ({', '.join(sorted({*names}))})")
    for conflict in merged.conflicts:
        first = conflict._replace(message=conflict.message.splitlines()[0])
        output.note(f"  conflict, decided by --conflicts={decision}: {first}")
    for (where, name), (_, new) in merged.values.items():
        if name != new:
            output.note(f"{folder / where}: {name} is {new} now, with your value")
    for where, name in merged.to_set:
        output.note(f"{folder / where}: {name} has to be set: packyard set {address.typed(folder / where)} {name}=…")


def _tell_undecided(folder: Path, merged: Merged) -> int:
    """Name the files in which somebody has to decide between markers, or mend what broke; return the exit code."""
    texts = {str(folder / path): (data or b"").decode("utf-8", "replace") for path, (_, data) in merged.files.items()}
    problems = [*merged.broken, *filter(None, (unmerged(file, text) for file, text in texts.items()))]
    for problem in problems:
        output.problem(str(problem))
    return int(bool(problems))


def _row(base: Bundle, fetched: Fetched, merged: Merged) -> tuple[object, ...]:
    values = [(*place, setter) for place, (_, setter) in merged.values.items()]
    counts = (values, merged.options, merged.edited, merged.conflicts, merged.to_set)
    files = list(merged.changes.items())
    index = fetched.proof.index if fetched.proof else None
    return fetched.bundle.name, base.version, fetched.bundle.version, files, *counts, index
