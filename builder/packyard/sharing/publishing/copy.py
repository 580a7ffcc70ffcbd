"""Copying: bringing what a channel has into another one, to promote it there, or for networks that reach only that one.

1. A version that is not there is fetched and verified, and uploaded with its checksum, provenance and SBOM.
2. Then the index of the other channel lists all of them at once, with their yanks, and releases that are closed.

A copy of everything is a mirror: the same channel, whose index comes byte for byte. A copy of a part, of a registry or
into one, or into a channel that has packages of its own, is listed by an index of that channel. What the other channel
has removed (`gc`) does not come again, unless it is named exactly, ``NAME@1.2.0``: then it is refused, as is a version
that is yanked. Interrupted, nothing is listed, and the next run uploads what is missing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from packyard.core.bundle import record
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, Problem
from packyard.core.work import parallel
from packyard.sharing.entry import SBOM, SIGSTORE, IndexEntry
from packyard.sharing.fetching.fetch import Fetching, verify, whole, with_sbom
from packyard.sharing.index import access
from packyard.sharing.index.access import UNSIGNED, Publisher
from packyard.sharing.index.index import KEY, Index
from packyard.sharing.index.package import choose
from packyard.sharing.publishing.publish import Upload, check_place, compare
from packyard.sharing.publishing.withdrawal import clear
from packyard.sharing.stores import as_registry, files_of
from packyard.sharing.stores.store import Store, get_or_none, pointing_to_fsck
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY


def chosen(listed: Index, texts: Sequence[str]) -> tuple[list[IndexEntry], set[str]]:
    """Return the entries that references name, each once, and which of them are named exactly.

    ``NAME`` names all its versions; without references it is all there are.
    """
    if not texts:
        return list(listed.entries), set()
    named = [(entry, wanted) for wanted in map(Reference.parse, texts) for entry in _named(listed, wanted)]
    exact = {str(entry) for entry, wanted in named if wanted.version is not None}
    return list({str(entry): entry for entry, _ in named}.values()), exact


def _named(listed: Index, reference: Reference) -> Iterable[IndexEntry]:
    package = listed.named(reference.name)
    if reference == Reference(name=reference.name):
        return package.entries
    choice, _ = choose(package, reference)  # refuses what there is not
    if reference.choice[:1] in ("^", "~"):
        return [entry for entry in package.entries if reference.admits(entry.version)]
    return [choice]


def copy(
    source: Store,
    target: Store,
    texts: Sequence[str] = (),
    *,
    how: Fetching | None = None,
    by: Callable[[], Publisher] = lambda: UNSIGNED,
    is_own: bool = False,
    done: Callable[[int, int], object] = lambda *_: None,
) -> list[tuple[IndexEntry, str]]:
    """Bring what is chosen into another channel, and return each entry, and what was done for it.

    ``how`` is how to read the source, ``by`` who publishes in the target, which is asked for where that has an index of
    its own. ``is_own``: it has, whatever is copied. ``done`` hears how many of how many are copied.
    """
    how = how or Fetching()
    listed, before = access.read(source, how.trusted, how.memory), access.current(target)
    entries, exact = chosen(listed, texts)
    for entry in entries:
        if entry.yanked and str(entry) in exact:
            raise ConflictError(Problem(f"{entry} is yanked: {entry.yanked}", hint="copy another version"))
    is_own = bool(is_own or texts or as_registry(source) or as_registry(target))
    publisher = by() if is_own or before.channel not in ("", listed.channel) else None
    if publisher:
        before = publisher.current(target)
    elif before.number > listed.number or (before.number == listed.number and before.data != listed.data):
        problem = f"has number {before.number} of this channel, and the source number {listed.number}"
        hint = "copy in the other direction, or into an empty place"
        raise ConflictError(Problem(problem, file=target.address, hint=hint))
    check_place(target, before, [entry.key for entry in entries])
    if publisher and not before.number:
        before = publisher.commit(target, lambda index: index, before=before)
    known = [(entry, before.known(entry.name).versions.get(entry.version)) for entry in entries]
    removed = {str(entry) for entry, present in known if present and present.removed} - exact
    own = {entry.key for entry in entries if before.lists(entry)}
    files = own if as_registry(target) else files_of(target, own)
    missing = {str(entry): entry for entry in entries if str(entry) not in removed and entry.key not in files}

    def attest(entry: IndexEntry) -> Mapping[str, bytes]:
        if missing[str(entry)].digest != entry.digest:
            return {}  # there it is compressed otherwise
        return _attested(source, listed, entry, how)

    uploads = [Upload(entry=entry, data=partial(whole, source, entry, how)) for entry in missing.values()]
    written = parallel.run(
        lambda upload: upload.write(target, attest, NOBODY),
        compare(target, uploads, before),
        lambda place: done(place + 1, len(missing)),
    )
    outcomes = {str(entry): (entry, "removed" if str(entry) in removed else "unchanged") for entry in entries}
    outcomes |= {str(entry): (entry, status) for entry, status in written}
    if publisher:
        present = [entry for entry, status in outcomes.values() if status != "removed"]
        publisher.commit(target, lambda index: _with(index, listed, present))
    elif before.data != listed.data:
        new = sorted({*listed.files_below()} - {*before.files_below()})
        parallel.run(lambda key: target.put(key, source.get(key, limit=record.LIMIT)), new)
        target.swap(KEY, listed.data, Digest.of(before.data) if before.data else None)
        clear(target, {entry.key for package in listed.packages() for entry in package.removed})
    return [*outcomes.values()]


def _with(index: Index, listed: Index, entries: Sequence[IndexEntry]) -> Index:
    """Return the index of a channel with all that was copied, which is yanked and closed as it is in the source."""
    index = index.add(*(replace(entry, yanked="") for entry in entries))
    yanked = [entry for entry in entries if entry.yanked and not index.named(entry.name).get(entry.version).yanked]
    index = index.put(*(replace(index.named(entry.name).get(entry.version), yanked=entry.yanked) for entry in yanked))
    versions = {entry.version for entry in entries}
    closed = {version for version in versions if listed.release(version).closed and not index.release(version).closed}
    lacking = {entry.version for entry in (listed.entries if closed else ()) if not index.lists(entry)}
    for version in sorted(closed - lacking):
        index = index.close(version)
    return index


def _attested(store: Store, listed: Index, entry: IndexEntry, how: Fetching) -> Mapping[str, bytes]:
    """Return the SBOM and the provenance, which have to be about this file and to belong together."""
    with pointing_to_fsck(store):
        attested = provenance.get(store, entry)
        proof = verify(entry, attested, how.trusted, what=str(entry), index=listed)
        sbom = get_or_none(store, entry.beside(SBOM), limit=provenance.LIMIT)
        if sbom is not None and proof.provenance and proof.provenance.sbom:
            with_sbom(proof, sbom, what=entry.key)
    if sbom is not None and attested is None:
        how.warn(f"{entry} is copied without provenance: {entry.beside(SIGSTORE)} is missing in {store.address}")
    files = ((SBOM, sbom), *((attested,) if attested else ()))
    return {entry.beside(end): data for end, data in files if data is not None}
