"""Check a package: a tarball with the provenance beside it, or an unpacked directory.

packyard verify NAME.tar.gz                 its files, its signature, what it
                                            was built from
packyard verify NAME.tar.gz --from CHANNEL  also that the channel has this file
packyard verify DIR                         which files were changed since it
                                            was unpacked, other than by set

It prints what was proved and what was not. The signature or provenance, and the SBOM, are looked for beside
NAME.tar.gz.

It exits with 1 where a file is not as its package lists it, or not as CHANNEL has it, or was changed in DIR other than
by set. Who signed is only reported, and the exit code is 0, unless you trust a key for CHANNEL (packyard keys trust):
then --from CHANNEL exits with 1 for what that key did not sign.
"""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote

from packyard.cli import bundles, copies, declare, output, preferences
from packyard.cli.copies import Untarred
from packyard.cli.preferences import Setting
from packyard.cli.rows import Rows
from packyard.core.bundle import manifest
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem, UnavailableError
from packyard.sharing.entry import SBOM
from packyard.sharing.fetching.fetch import Fetched, with_sbom
from packyard.using.upgrade.directory import upgrade

ROWS = Rows(
    "bundle",
    "name=bundle.name, version=bundle.version, digest=bundle.digest, tar=bundle.tar, signers, listed, listedBy, "
    "sbom=has_sbom, packyard=provenance.packyard, commit=provenance.commit?, dirty=provenance.dirty, indexSeen=index",
    "FILE",
)
DIRECTORY = Rows("package", "name, version, files (path, state), published, indexSeen", "DIR")


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("what", metavar="FILE|DIR", nargs="?", default=".", help="a .tar.gz, or an unpacked package")
    parser.value("--from CHANNEL", "compare with what this channel has", dest="channel")


def run(arguments: declare.Arguments) -> int:
    """Verify a file or a directory; 1 if a directory's files differ."""
    of_what = _file if (what := Path(arguments.what)).exists() and not what.is_dir() else _directory
    return of_what(arguments.what, arguments.channel, arguments.output)


def _file(word: str, channel: str | None, form: str) -> int:
    """Verify a tarball with what is beside it, and with what a channel has under its name and version."""
    file = Path(word)
    fetched = bundles.proved(file, preferences.trusted_anywhere())
    local, bundle, proof = fetched.bundle, fetched.entry, fetched.proof
    assert proof is not None
    if (listing := bundles.beside(file, SBOM)) is not None and proof.provenance is not None:
        proof = with_sbom(proof, listing, what=str(file))
    if channel:
        published = bundles.offer(Reference.parse(str(bundle)), Setting(channel, "--from"))
        if local.tar != published.bundle.tar:
            problem = f"is not what the channel has: its tar is {local.tar}, the published one {published.bundle.tar}"
            raise IntegrityError(Problem(problem, file=str(file)))
        proof = replace(published.proof or proof, bundle=bundle)
    if ROWS.show([proof], form):
        output.line(*proof.describe())
        if not channel and not proof.signers:
            output.note(f"packyard verify {quote(str(file))} --from CHANNEL asks the channel that it is from")
    return 0


def _directory(word: str, flag: str | None, form: str) -> int:
    package, below = copies.within(word)
    folder, described = package.folder, package.described
    published, text = _compared(package, flag)
    proof = published.proof if published else None
    digests = {path: Digest.of(data) for path, data in package.files().items()}
    different = {path: state for path, state in described.different(digests).items() if path.startswith(below)}
    base, values = published.bundle if published else package.cached(), ""
    with suppress(InputError):  # where a file cannot be read, all that differs was edited
        if base and different:
            merged = upgrade(folder, base, base, dry_run=True)  # what somebody set, enabled and edited since
            wrong = {*merged.edited, *(os.path.relpath(conflict.file, folder) for conflict in merged.conflicts)}
            for path in [path for path, state in different.items() if state == "changed" and path not in wrong]:
                different[path] = "set"
            values = ", ".join(sorted({name for _, name in (*merged.values, *merged.options)}))
    row = (described.name, described.version, [*different.items()], published is not None, proof and proof.index)
    edited = [(path, state) for path, state in different.items() if state != "set"]
    if DIRECTORY.show([row], form):
        output.line(*(f"{state:<8} {path}" for path, state in edited))
        number = sum(path.startswith(below) for path in described.files)
        same = number - sum(state != "extra" for state in different.values())
        counted = f"{same} of {output.counted(number, 'file')} unchanged"
        if by_set := len(different) - len(edited):
            counted += f", {by_set} as you set them ({values})"
        whose = f"; {manifest.FILE} is {text}" if published else f", as this {manifest.FILE} lists them"
        output.note(f"{described.name} {described.version}: {counted}{whose}")
        if not published:
            output.warning(f"not checked: whether {manifest.FILE} is the published one: {text}")
        output.note(*bundles.signers(published))
    return int(bool(edited))


def _compared(package: Untarred, flag: str | None) -> tuple[Fetched | None, str]:
    """Compare with the channel that is named, or with that of the receipt; say in words what came of it."""
    try:
        source = copies.channel(package.folder, package.receipt, flag)
        published = bundles.offer(Reference.parse(package.name), source)
    except (InputError, UnavailableError) as error:
        if flag is not None:
            raise
        return None, str(error)
    if published.bundle.manifest.to_bytes() != package.data:
        hint = f"fetch it again: packyard get {package.name}{preferences.flag_for(source.value)}"
        problem = f"is not the {manifest.FILE} of {package.name} in {source}"
        raise IntegrityError(Problem(problem, file=str(package.folder / manifest.FILE), hint=hint))
    return published, f"the published one, of {source}"
