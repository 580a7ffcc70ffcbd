"""Copying: bringing what a channel has into another one, to promote it there, or for networks that reach only that one.

The bytes are the same, with checksums, provenance and SBOMs; they stay signed by whom they are. A copy of everything is
a mirror: the same channel, with the same index, byte for byte. A copy of a part, of a registry or into one, or into a
channel that has packages of its own, is listed by an index of that channel.

Versions that are named exactly, ``NAME@1.2.0``, come all or none, and none that is yanked: whoever names them says that
they are good. Of all else, yanked versions come with their yanks, what the other channel has removed (`gc`) does not
come again, and an interrupted copy goes on with the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from packyard.core.bundle import record
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, Problem
from packyard.sharing.entry import SBOM, IndexEntry
from packyard.sharing.fetching.fetch import Fetching, keep
from packyard.sharing.fetching.verify import Proof, verify_listed
from packyard.sharing.index import access
from packyard.sharing.index.access import UNSIGNED, Publisher
from packyard.sharing.index.choose import choose
from packyard.sharing.index.index import KEY, Index
from packyard.sharing.index.package import Package
from packyard.sharing.publishing.gc import clear
from packyard.sharing.publishing.publish import Attest, Packed, Status, check_place, compare, publish, upload
from packyard.sharing.stores import as_registry, put_all
from packyard.sharing.stores.store import MissingStoreError, Store, get_or_none, pointing_to_fsck
from packyard.sharing.trust import provenance

_AT_ONCE = 4  # uploads
_BATCH = 32  # bundles that are on this disk, and that are listed together


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """A bundle that the other channel has now, and what was done for it.

    ``proof`` is what the source proves of it, if it is new and was named exactly.
    """

    entry: IndexEntry
    status: Status | Literal["removed"]
    proof: Proof | None = None


def chosen(listed: Index, texts: Sequence[str]) -> tuple[list[IndexEntry], list[IndexEntry]]:
    """Return the entries that references name, each once: those named exactly, and the others.

    ``NAME`` names all its versions; without references it is all there are.
    """
    if not texts:
        return [], list(listed.entries)
    references = [Reference.parse(text) for text in texts]
    exact = {str(entry): entry for each in references if each.version is not None for entry in _named(listed, each)}
    others = {str(entry): entry for each in references if each.version is None for entry in _named(listed, each)}
    return list(exact.values()), [entry for name, entry in others.items() if name not in exact]


def _named(listed: Index, reference: Reference) -> Iterable[IndexEntry]:
    package: Package = listed.named(reference.name)
    if reference == Reference(name=reference.name):
        return package.entries
    choice = choose(package, reference).entry  # refuses what there is not
    in_range = [entry for entry in package.entries if reference.admits(entry.version)]
    return in_range if choice in in_range and reference.choice[:1] in ("^", "~") else (choice,)


def copy(
    source: Store,
    target: Store,
    texts: Sequence[str] = (),
    *,
    how: Fetching | None = None,
    by: Publisher = UNSIGNED,
    is_own: bool = False,
    done: Callable[[int, int], object] = lambda *_: None,
) -> list[Copied]:
    """Bring what is chosen into another channel; done, another run changes nothing.

    ``how`` is how to read the source, ``by`` who publishes in the target. ``is_own``: the target is a channel of its
    own, whatever is copied. ``done`` hears how many of how many are copied.
    """
    how = how or Fetching()
    listed = access.read(source, how.trusted, how.memory)
    exact, others = chosen(listed, texts)
    for entry in filter(lambda each: each.yanked, exact):
        raise ConflictError(Problem(f"{entry} is yanked: {entry.yanked}", hint="copy another version"))
    here = None
    with suppress(MissingStoreError):
        here = access.find(target)
    is_files = not (as_registry(source) or as_registry(target))
    if is_files and not (texts or is_own) and (here is None or here.channel == listed.channel):
        return _mirror(_Source(source, listed, how), target, here, others, done)
    before = by.current(target)
    gone = [entry for entry in others if (has := before.package(entry.name)) and has.is_gone(entry.version)]
    others = [entry for entry in others if entry not in gone]
    present = {str(entry) for entry in (*exact, *others) if before.lists(entry)}
    results = {str(entry): Copied(entry=entry, status="unchanged") for entry in (*exact, *others)}
    counted = _counted(done, len(results) - len(present))
    for batch in _batches(exact, others, present):
        with _Source(source, listed, how, is_proved=batch[0] in exact).fetched(batch) as (packed, attest, proofs):
            for entry, status in publish(target, packed, by, attest=attest, at_once=_AT_ONCE, done=counted):
                results[str(entry)] = Copied(entry=entry, status=status, proof=proofs.get(str(entry)))

    def change(index: Index) -> Index:
        entries = [index.named(entry.name).get(entry.version) for entry in (*exact, *others) if entry.yanked]
        reasons = {str(entry): entry.yanked for entry in others}
        index = index.put(*(replace(each, yanked=reasons[str(each)]) for each in entries if not each.yanked))
        for version in _complete(listed, index, [*exact, *others]):
            index = index.close(version)
        return index

    by.commit(target, change)
    return [*results.values(), *(Copied(entry=each, status="removed") for each in gone)]


def _counted(done: Callable[[int, int], object], wanted: int) -> Callable[[object], object]:
    """Return what hears of each bundle that is copied, over all batches, and says how many of those wanted are."""
    numbers = count(1)
    return lambda _: done(next(numbers), wanted)


def _batches(
    exact: Sequence[IndexEntry], others: Sequence[IndexEntry], present: Collection[str]
) -> Iterator[Sequence[IndexEntry]]:
    """Yield what is not there yet in parts that are listed together: what was named exactly is one."""
    first, rest = ([entry for entry in part if str(entry) not in present] for part in (exact, others))
    if first:
        yield first
    for start in range(0, len(rest), _BATCH):
        yield rest[start : start + _BATCH]


def _mirror(
    source: _Source,
    target: Store,
    here: Index | None,
    entries: Sequence[IndexEntry],
    done: Callable[[int, int], object],
) -> list[Copied]:
    """Bring everything into an empty place, or into an older copy of the same channel."""
    listed, before = source.listed, here or Index(store=target)
    if before.number > listed.number or (before.number == listed.number and before.data != listed.data):
        problem = f"has number {before.number} of this channel, and the source number {listed.number}"
        hint = "copy in the other direction, or into an empty place"
        raise ConflictError(Problem(problem, file=target.address, hint=hint))
    check_place(target, before, [entry.key for entry in entries])
    present = {str(entry) for entry in entries if before.lists(entry)}
    results = {str(entry): Copied(entry=entry, status="unchanged") for entry in entries}
    counted = _counted(done, len(results) - len(present))
    for batch in _batches((), entries, present):
        with source.fetched(batch) as (packed, attest, _):
            uploads = compare(target, packed, before)
            for entry, status in upload(target, uploads, before, attest=attest, at_once=_AT_ONCE, done=counted):
                results[str(entry)] = Copied(entry=entry, status=status)
    if before.data != listed.data:
        put_all(target, ((key, source.store.get(key, limit=record.LIMIT)) for key in listed.files_below()))
        target.swap(KEY, listed.data, Digest.of(before.data) if before.data else None)
        clear(target, {entry.key for package in listed.packages() for entry in package.removed})
    return list(results.values())


@dataclass(frozen=True, slots=True)
class _Source:
    """The channel that is copied from, its index, and how to read it; what was named exactly is proved."""

    store: Store
    listed: Index
    how: Fetching
    is_proved: bool = False

    @contextmanager
    def fetched(self, entries: Sequence[IndexEntry]) -> Iterator[tuple[list[Packed], Attest, dict[str, Proof]]]:
        """Fetch bundles to this disk; yield them, what the source knows of them, and, once asked for, their proofs."""
        wanted = {str(entry): entry for entry in entries}
        proofs: dict[str, Proof] = {}

        def attest(published: IndexEntry) -> Mapping[str, bytes]:
            """Return what the source knows of the very file that is published."""
            if not published.is_same_file(wanted[str(published)]):
                return {}
            with pointing_to_fsck(self.store):
                files = self._known(published)
            if self.is_proved:
                proofs[str(published)] = self._proof(published, provenance.among(files, published))
            return files

        with TemporaryDirectory(prefix="packyard-") as folder:
            packed = []
            for entry in entries:
                with pointing_to_fsck(self.store):
                    self._proof(entry, None)
                    packed.append(Packed(entry=entry, file=keep(self.store, entry, Path(folder), self.how)))
            yield packed, attest, proofs

    def _proof(self, entry: IndexEntry, attested: bytes | None) -> Proof:
        return verify_listed(self.store, self.listed, entry, entry, self.how.trusted, attested=attested)

    def _known(self, entry: IndexEntry) -> Mapping[str, bytes]:
        """Return the SBOM and the provenance, which have to be about this file.

        An SBOM has to be the one that the provenance names: what is published once never changes.
        """
        trusted = self.how.trusted.optional() if self.listed.signers else self.how.trusted
        described = entry.beside(SBOM)
        proof = provenance.check_beside(self.store, entry, trusted)
        sbom = get_or_none(self.store, described, limit=provenance.LIMIT)
        own = {} if sbom is None else {described: sbom}
        if proof is not None:
            place = entry.beside(provenance.end(proof))
            own[place] = proof
            statement = provenance.open(proof, trusted, file=place)[0]
            for key, expected in statement.products(entry).items():
                if key in own:
                    expected.verify(own[key], what=key)
        return own


def _complete(listed: Index, target: Index, entries: Iterable[IndexEntry]) -> list[str]:
    """Return the versions that the source has closed, and the target has not, though it has all bundles of them."""
    every = {entry.version for entry in entries}
    versions = {version for version in every if listed.is_closed(version) and not target.is_closed(version)}
    for package in listed.packages() if versions else ():
        wanted = [entry for entry in package.entries if entry.version in versions]
        copied = target.package(package.name) if wanted else None
        tars = {(each.version, each.tar) for each in copied.entries} if copied else set()
        versions -= {entry.version for entry in wanted if (entry.version, entry.tar) not in tars}
    return sorted(versions)
