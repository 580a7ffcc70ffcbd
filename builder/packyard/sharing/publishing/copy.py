"""Copying: bringing what a channel has into another one, to promote it there, or for networks that reach only that one.

The bytes are the same, with checksums, provenance and SBOMs; they stay signed by whom they are. The index, and the
records of what is yanked or closed, are the other channel's own. What it has already is not copied again.

Versions that are named exactly, ``NAME@1.2.0``, come all or none, and none that is yanked: whoever names them says that
they are good. Of all else, yanked versions come with their yanks, what the other channel has removed (`gc`) does not
come again, and an interrupted copy goes on with the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from packyard.core.bundle.reference import Reference
from packyard.core.errors import ConflictError, Problem
from packyard.sharing.entry import PROVENANCE, SBOM, IndexEntry
from packyard.sharing.fetching.fetch import Fetching, keep
from packyard.sharing.fetching.verify import Proof, verify_listed
from packyard.sharing.index import access
from packyard.sharing.index.access import UNSIGNED, Publisher, Writer
from packyard.sharing.index.choose import choose
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import Package
from packyard.sharing.publishing import yank
from packyard.sharing.publishing.close import close
from packyard.sharing.publishing.publish import Status, publish
from packyard.sharing.publishing.upload import Packed
from packyard.sharing.stores.store import Store, get_or_none, pointing_to_fsck
from packyard.sharing.trust import provenance, sigstore
from packyard.sharing.trust.keys import Trust

_AT_ONCE = 4  # uploads
_BATCH = 32  # bundles that are on this disk, and that become one head


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
    done: Callable[[int, int], object] = lambda *_: None,
) -> list[Copied]:
    """Bring what is chosen into another channel; done, another run changes nothing.

    ``how`` is how to read the source, ``by`` who publishes in the target. ``done`` hears how many of how many are
    there.
    """
    how = how or Fetching()
    by = by.in_channel()
    listed = access.read(source, how.trusted, how.memory)
    exact, others = chosen(listed, texts)
    for entry in filter(lambda each: each.yanked, exact):
        raise ConflictError(Problem(f"{entry} is yanked: {entry.yanked}", hint="copy another version"))
    before = by.current(target)
    gone = {str(entry): entry for entry in others if before.was_removed(entry)}
    others = [entry for entry in others if str(entry) not in gone]
    entries = [*exact, *others]
    present = {str(entry) for entry in entries if before.lists(entry)}
    numbers, wanted = count(1), len(entries) - len(present)
    put = partial(publish, target, by=by, at_once=_AT_ONCE, done=lambda _: done(next(numbers), wanted))
    results: dict[str, Copied] = {}
    for batch in _batches(exact, others, present):
        results |= _Batch(source, listed, batch, how, is_proved=batch[0] in exact).copied(put)
    if present and not results:
        put(())  # a copy that was killed may have left its record
    for entry in entries:
        if str(entry) in present:
            results[str(entry)] = Copied(entry=entry, status="unchanged")
    before = access.current(target, by.trusted)
    new = [entry for entry in entries if entry.yanked and not before.named(entry.name).get(entry.version).yanked]
    if new:
        with access.writer(target, by, alone=True) as writer:
            _yank(writer, new)
    for version in _complete(listed, before, entries):
        close(target, version, by)
    return [
        *(results[str(entry)] for entry in entries),
        *(Copied(entry=each, status="removed") for each in gone.values()),
    ]


def _batches(
    exact: Sequence[IndexEntry], others: Sequence[IndexEntry], present: Collection[str]
) -> Iterator[Sequence[IndexEntry]]:
    """Yield what is not there yet in parts that become a head each: what was named exactly is one."""
    first, rest = ([entry for entry in part if str(entry) not in present] for part in (exact, others))
    if first:
        yield first
    for start in range(0, len(rest), _BATCH):
        yield rest[start : start + _BATCH]


@dataclass(frozen=True, slots=True)
class _Batch:
    """Bundles that become one head of the other channel."""

    source: Store
    listed: Index
    entries: Sequence[IndexEntry]
    how: Fetching
    is_proved: bool

    def copied(self, put: Callable[..., list[tuple[IndexEntry, Status]]]) -> dict[str, Copied]:
        """Fetch the bundles, and let ``put`` publish them with what is known of them."""
        wanted = {str(entry): entry for entry in self.entries}
        proofs: dict[str, Proof] = {}

        def attest(published: IndexEntry) -> Mapping[str, bytes]:
            """Return what the source knows of the very file that is published."""
            name = str(published)
            if not published.is_same_file(wanted[name]):
                return {}
            with pointing_to_fsck(self.source):
                files = _known(self.source, published, self.how.trusted)
            if self.is_proved:
                proofs[name] = self._proof(published, files.get(published.beside(PROVENANCE)))
            return files

        with TemporaryDirectory(prefix="packyard-") as folder:
            packed = []
            for entry in wanted.values():
                with pointing_to_fsck(self.source):
                    self._proof(entry, None)
                    file = keep(self.source, entry, Path(folder), self.how)
                packed.append(Packed(entry=replace(entry, yanked=""), file=file))
            outcomes = put(packed, attest=attest)
        copied: dict[str, Copied] = {}
        for entry, status in outcomes:
            name = str(entry)
            as_listed = replace(entry, yanked=wanted[name].yanked)  # it is yanked once all is there
            copied[name] = Copied(entry=as_listed, status=status, proof=proofs.get(name))
        return copied

    def _proof(self, entry: IndexEntry, attested: bytes | None) -> Proof:
        return verify_listed(self.source, self.listed.head, entry, entry, self.how.trusted, attested=attested)


def _known(source: Store, entry: IndexEntry, trusted: Trust) -> Mapping[str, bytes]:
    """Return the SBOM, the provenance and what Sigstore's tools verify, which have to be about this file.

    An SBOM has to be the one that the provenance names: what is published once never changes.
    """
    described = entry.beside(SBOM)
    proof = provenance.check_beside(source, entry, trusted)
    files = {described: get_or_none(source, described, limit=provenance.LIMIT), entry.beside(PROVENANCE): proof}
    own = {key: data for key, data in files.items() if data is not None}
    if proof is not None:
        statement = provenance.open(proof, trusted, file=entry.beside(PROVENANCE))[0]
        for key, expected in statement.products(entry).items():
            if key in own:
                expected.verify(own[key], what=key)
    return {**own, **sigstore.check_beside(source, entry, trusted)}


def _yank(writer: Writer, new: Sequence[IndexEntry]) -> None:
    """Yank in the target what is yanked in the source, for the same reasons."""
    channel = writer.current().head.channel
    for entry in new:
        with suppress(ConflictError):  # whoever runs the target yanks it, too
            yank.put(writer, entry, entry.yanked, channel)

    def change(index: Index) -> Index:
        for entry in new:
            if not index.named(entry.name).get(entry.version).yanked:
                index = index.yank(entry, entry.yanked)
        return index

    writer.commit(change)


def _complete(listed: Index, target: Index, entries: Iterable[IndexEntry]) -> list[str]:
    """Return the versions that the source has closed, and the target has not, though it has all bundles of them."""
    versions = set()
    for version in {entry.version for entry in entries}:
        there, here = listed.release(version), target.release(version)
        if there and there.closed and not (here and here.closed):
            versions.add(version)
    for package in listed.packages() if versions else ():
        wanted = [entry for entry in package.entries if entry.version in versions]
        copied = target.package(package.name) if wanted else None
        tars = {(each.version, each.tar) for each in copied.entries} if copied else set()
        versions -= {entry.version for entry in wanted if (entry.version, entry.tar) not in tars}
    return sorted(versions)
