"""Packages that a command names: untarred, with the channel to ask and the bundle they came from, or to be compared.

The receipt beside packyard.json names a channel (`core.bundle.receipt`). Whoever made the folder may have written it:
that channel is asked only if the user named it before, on this computer.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from packyard.cli import bundles, preferences
from packyard.cli import directory as directories
from packyard.cli.preferences import Setting
from packyard.core.bundle import address as addresses
from packyard.core.bundle import manifest, receipt, reference
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.core.bundle.receipt import CARRIED, Receipt
from packyard.core.bundle.reference import Reference
from packyard.core.errors import ConflictError, InputError, IntegrityError, PackyardError, Problem
from packyard.core.files import paths, regular
from packyard.core.files.tree import Tree

Files = Mapping[str, bytes]
Packages = dict[str, Files]
#: How the files of packyard itself begin in a package.
_OURS = (".packyard-", paths.RECEIPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Untarred:
    """A package on disk: its folder, its packyard.json (``data``), and its receipt, if it has one."""

    folder: Path
    data: bytes
    described: Manifest
    receipt: Receipt | None

    @property
    def name(self) -> str:
        """The package with its version."""
        return f"{self.described.name}@{self.described.version}"

    def base(self, flag: str | None) -> Bundle:
        """Return the bundle that it came from, which has the same packyard.json: fetched before, or in a channel."""
        if beside := self.cached():
            return beside
        source, where = channel(self.folder, self.receipt, flag), str(self.folder / manifest.FILE)
        problems: Sequence[Problem] = [Problem(f"is not that of {self.name} in {source}", file=where)]
        try:
            bundle = bundles.offer(Reference.parse(self.name), source).bundle
            if bundle.manifest.to_bytes() == self.data:
                return bundle
        except PackyardError as error:
            problems = error.problems
        message = f"the bundle of {self.name} that this folder came from is needed, and was not found"
        file, here = f"{quote(self.described.name)}.tar.gz", quote(str(self.folder))
        typed = f"packyard diff {file} {here}, packyard upgrade {here} --base {file}"
        hint = f"where did you get it? --from CHANNEL; or name the file: {typed}"
        raise InputError(*problems, Problem(message, file=str(self.folder), hint=hint))

    def files(self) -> Files:
        """Return its files, as `files` does."""
        return files(self.folder, self.described.files)

    def cached(self) -> Bundle | None:
        """Return the bundle with the receipt's digest, if it was fetched and is kept."""
        if self.receipt is None or self.receipt.version != self.described.version:
            return None
        data = bundles.bundle_cache().get(self.receipt.digest)
        bundle = Bundle.open(data, what=self.name) if data else None
        return bundle if bundle and bundle.manifest.to_bytes() == self.data else None


def channel(folder: Path, received: Receipt | None, flag: str | None) -> Setting:
    """Return the channel to ask about a package: named by the user, or by its receipt, or configured."""
    address = received.channel if received else ""
    if address and flag is None and preferences.is_used(address):
        return Setting(address, receipt.FILE)
    if named := preferences.channel(flag):
        return named
    if address:
        problem = f"says that the package is from {address}, which you have not used on this computer"
        hint = f"if you trust that channel, name it once:{preferences.flag_for(address)}"
        raise InputError(Problem(problem, file=str(folder / receipt.FILE), hint=hint))
    problem = f"has no {receipt.FILE}, which says where the package is from"
    hint = f"name the channel: --from CHANNEL, or --from {CARRIED} for those that packyard carries"
    raise InputError(Problem(problem, file=str(folder), hint=hint))


def receipt_of(source: Setting, bundle: Bundle) -> bytes:
    """Return the receipt of a bundle from a channel."""
    return Receipt(channel=source.whole, version=bundle.version, digest=bundle.digest).to_bytes()


def base(folder: Path, flag: str | None, file: str | None, hint: str) -> Bundle:
    """Return the bundle that a package came from: a file that the user names, or what `Untarred.base` finds.

    A file with another version is refused: what that version changed would be taken for edits by hand.
    """
    if file is None:
        return read(folder, hint).base(flag)
    named = bundles.read(Path(file))
    with suppress(InputError, IntegrityError):  # its packyard.json is gone or damaged, and so the bundle is named
        described = read(folder).described
        if described.name == named.name and described.version != named.version:
            problem = f"is {described.version}, and {file} is {named.version}"
            hint = f"name the bundle of {described.name} {described.version}: --base FILE"
            raise ConflictError(Problem(problem, file=str(folder), hint=hint))
    return named


def within(word: str, hint: str = "name the top directory of one") -> tuple[Untarred, str]:
    """Return the package that a word names, or whose use case or folder it names, and the beginning of paths there."""
    folder, _ = directories.split([word], "", None)
    root = paths.root_of(folder)
    own = os.path.relpath(os.path.realpath(folder), root)
    return read(Path(paths.seen(folder, root)), hint), "" if own == os.curdir else f"{own}/"


def check_top(folder: Path) -> None:
    """Refuse a directory that is inside a package."""
    top = paths.root_of(folder)
    if top != os.path.realpath(folder):
        hint = f"name its top directory, {quote(os.path.relpath(top))}"
        raise InputError(Problem("is inside a package", file=str(folder), hint=hint))


def read(folder: Path, hint: str = "name the top directory of one") -> Untarred:
    """Read the packyard.json of an untarred package, and its receipt; ``hint`` is for a folder that is none."""
    file = folder / manifest.FILE
    if not regular.is_file(file):
        check_top(folder)
        from packyard.using.options import usecases  # nothing that fetches needs it

        if below := usecases.packages(folder):
            hint = f"name one of the packages below: {usecases.listed(below)}"
        problem = f"is not a package: it has no {manifest.FILE}, which packyard get writes"
        raise InputError(Problem(problem, file=str(folder), hint=hint))
    data = regular.read(file, limit=manifest.LIMIT)
    try:
        described = Manifest.parse(data)
    except IntegrityError as error:
        raise IntegrityError(*(problem._replace(file=str(file)) for problem in error.problems)) from error
    return Untarred(folder=folder, data=data, described=described, receipt=receipt.read(folder))


def packages(word: str, flag: str | None, other: str) -> tuple[Packages, str]:
    """Return the packages that a word names, a folder, a file, or NAME@VERSION[/USECASE], and the path of USECASE.

    A version is looked for where the package in the ``other`` folder is from.
    """
    is_reference = "@" in word.partition("/")[0] and not os.path.lexists(word)
    if not is_reference and (place := directories.find([word])):
        return _folder(place[0]), ""
    if Path(word).exists():
        bundle, use_case = bundles.read(Path(word)), ""
    elif "/" in word and not is_reference:
        raise directories.refusal(word)
    else:
        package, use_case = reference.split(word)
        received = receipt.read(Path(other)) if flag is None else None
        source = channel(Path(other), received, flag) if received else preferences.source(flag)
        bundle = bundles.offer(package, source).bundle
        use_case = use_case and addresses.only(bundle.manifest.deployed(), use_case, str(package))
    return {bundle.name: bundle.files}, use_case


def _folder(folder: Path) -> Packages:
    """Return the package in a folder, or those in the folders below, which `packyard build` leaves there."""
    if any((folder / name).is_file() for name in ("package.yaml", paths.WORKSPACE)):
        hint = "packyard build --version 0 --to OUT builds it, and packyard diff compares what is in OUT"
        raise InputError(Problem("has sources, and no package that is built", file=str(folder), hint=hint))
    if (folder / manifest.FILE).is_file():
        package = read(folder)
        return {package.described.name: package.files()}
    built = {file.parent.name: read(file.parent).files() for file in sorted(folder.glob(f"*/{manifest.FILE}"))}
    return built or {folder.resolve().name: files(folder)}


def files(folder: Path, listed: Collection[str] = ()) -> Files:
    """Return the files of an untarred package, without what packyard keeps there, unless packyard.json lists it."""
    tree, by_path, size = Tree(folder), dict[str, bytes](), 0
    for place, folders, names in tree.walk():
        start = f"{place}/" if place else ""
        folders[:] = [
            name for name in folders if name[0] != "." or any(path.startswith(f"{start}{name}/") for path in listed)
        ]
        for path in [start + name for name in names if start + name in listed or not name.startswith(_OURS)]:
            by_path[path] = tree.read(path)
            size += len(by_path[path])
            if len(by_path) > LIMITS.entries or size > LIMITS.total_size:
                hint = "name the folder of one package, or of a library"
                raise InputError(Problem("is too large for a package", file=str(folder), hint=hint))
    return by_path
