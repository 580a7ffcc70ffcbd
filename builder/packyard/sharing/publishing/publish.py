"""Publishing: the order in which the files of bundles are written and listed.

    <version>/<name>.tar.gz                 the bundle
    <version>/<name>.tar.gz.sha256          its checksum, for ``sha256sum -c``
    <version>/<name>.tar.gz.….json          what is known of it: its provenance, its SBOM
    index/…                                 its record, and what lists that (`index.access`)

1. Each bundle is compared with what the channel lists, or has without listing it, before anything is written.
2. What is missing is uploaded.
3. The index lists all bundles at once. Only that counts: whatever it lists is there.

Publishing the same bundles again completes what was interrupted. Only a second publisher at the same time can cause a
later refusal.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from packyard.core.bundle import archive
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, IntegrityError, Problem, on_one_line
from packyard.core.files import regular
from packyard.core.work import parallel
from packyard.sharing.entry import CHECKSUM, PROVENANCE, SIGSTORE, IndexEntry
from packyard.sharing.index.access import UNSIGNED, Publisher
from packyard.sharing.index.index import KEY, Index
from packyard.sharing.index.package import other_content
from packyard.sharing.stores import as_registry, files_of
from packyard.sharing.stores.store import FOLDER, MissingStoreError, Store
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import Trust

#: Returns what is known of a published file: objects by their keys, in the order of their writing.
Attest = Callable[[IndexEntry], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A bundle that is to be published, how its bytes are read where they are wanted, and what the channel has of it.

    ``entry`` describes the published file, now or later.
    """

    entry: IndexEntry
    data: Callable[[], bytes]
    present: Collection[str] = ()
    is_listed: bool = False

    @property
    def has_bundle(self) -> bool:
        """Whether the bundle itself is there."""
        return self.entry.key in self.present

    @property
    def is_whole(self) -> bool:
        """Whether it is there and listed, with its checksum."""
        return self.has_bundle and self.is_listed and self.entry.beside(CHECKSUM) in self.present

    def write(self, store: Store, attest: Attest, trusted: Trust) -> tuple[IndexEntry, str]:
        """Write what is missing; return the entry of the file that is there then, and what was done for it."""
        entry, registry = self.entry, as_registry(store)
        if not self.has_bundle:
            data = self.data()
            entry.digest.verify(data, what=str(entry))
            try:
                registry.push(entry, data) if registry else store.put(entry.key, data)
            except ConflictError:  # another publisher was faster, maybe with the same tar
                entry = _published(store, entry)
        if not registry and entry.beside(CHECKSUM) not in self.present:
            store.put(entry.beside(CHECKSUM), entry.checksum)
        missing = [(key, data) for key, data in attest(entry).items() if key not in self.present]
        if entry.beside(SIGSTORE) in self.present:
            missing = [extra for extra in missing if extra[0] != entry.beside(PROVENANCE)]
        for key, data in missing:
            with suppress(ConflictError):  # what another publisher says of it stays
                store.put(key, data)
        if not self.is_listed and any(entry.beside(end) in self.present for end in provenance.ENDS):
            _check_provenance(store, entry, trusted)
        if self.has_bundle:
            return entry, "unchanged" if self.is_whole and not missing else "completed"
        if registry:  # what it has is published once it has its tag
            registry.tag(entry.key)
        return entry, "published"


def _check_provenance(store: Store, entry: IndexEntry, trusted: Trust) -> None:
    """Refuse to list a bundle beside which somebody put provenance that users would refuse."""
    try:
        provenance.check_beside(store, entry, trusted)
    except IntegrityError as error:
        hint = "somebody else put it there: raise the version, or remove that file and run again"
        raise error.mapped(lambda problem: problem._replace(hint=hint)) from error


def publish(
    store: Store,
    bundles: Sequence[Upload],
    by: Publisher = UNSIGNED,
    *,
    attest: Attest = lambda _: {},
    done: Callable[[int], object] = lambda _: None,
    close: str = "",
    shard: tuple[int, int] | None = None,
    before: Index | None = None,
) -> list[tuple[IndexEntry, str]]:
    """Publish bundles, and return the entry of each, and whether it was ``published``, ``completed`` or ``unchanged``.

    A bundle is identified by its tar: the same tar under the same name and version leaves the published file and its
    checksum alone, even if it is compressed differently. If another tar is published, raise `ConflictError` for all
    such bundles, with both digests, and write nothing.

    ``done`` hears of each bundle, by its place. ``close`` is a version whose
    release gets nothing more from then on; with ``shard``, once all of its shards are published (`Index.close`).
    ``before`` is the index, if it was read already.
    """
    before = before or by.current(store)
    uploads = compare(store, bundles, before)
    if not before.number:  # so that another first publisher does not meet bundles without an index
        before = by.commit(store, lambda index: index, before=before)
    outcomes = parallel.run(lambda upload: upload.write(store, attest, by.own), uploads, done)

    def change(index: Index) -> Index:
        index = index.add(*(entry for entry, _ in outcomes))
        return index.close(close, shard) if close else index

    by.commit(store, change, before=before)
    return outcomes


def compare(store: Store, bundles: Sequence[Upload], before: Index) -> list[Upload]:
    """Return each bundle with what the channel has of it, or refuse all that cannot be published."""
    check_place(store, before, [bundle.entry.key for bundle in bundles])
    present: set[str] = set()
    with suppress(MissingStoreError):
        present = files_of(store, {bundle.entry.key for bundle in bundles})

    def look(upload: Upload) -> Upload:
        entry = upload.entry
        listed = before.known(entry.name).versions.get(entry.version)
        if entry.key in present and (not listed or listed.tar == entry.tar):
            entry = listed or _published(store, entry)
        return replace(upload, entry=entry, present=present, is_listed=before.lists(entry))

    uploads = parallel.run(look, bundles)
    before.add(*(upload.entry for upload in uploads))
    return uploads


def check_place(store: Store, before: Index, own: Iterable[str]) -> None:
    """Refuse to make a channel of a place that has other content.

    A channel that has lost its index is not empty; it is complete again when all that lies there is published again.
    """
    if before.number:
        return
    keys: Sequence[str] = ()
    with suppress(MissingStoreError):
        keys = store.list("")
    foreign = [key for key in keys if not key.startswith((*own, FOLDER))]
    if foreign and KEY not in keys:  # another publisher may have begun the channel meanwhile
        kind = "releases" if any(key.endswith(".tar.gz") for key in foreign) else "other files"
        problem = f"has {kind} and no {KEY}: {on_one_line(', '.join(foreign[:3]))}"
        hint = "bring the index back with packyard fsck CHANNEL --repair, or choose a folder that is empty"
        raise ConflictError(Problem(problem, file=store.address, hint=hint))


def _published(store: Store, entry: IndexEntry) -> IndexEntry:
    """Describe the file that is there under a bundle's key, and may not be listed; it must have the same tar."""
    limit = max(regular.LIMIT, 2 * entry.size)  # the most that the same tar has, compressed by others
    published = store.get(entry.key, limit=limit)
    try:
        tar = Digest.of(archive.decompress(published))
    except IntegrityError as error:
        raise IntegrityError(Problem(f"the published file is damaged: {error}", file=entry.key)) from error
    if tar != entry.tar:
        raise ConflictError(other_content(entry, tar, entry.tar))
    return replace(entry, digest=Digest.of(published), size=len(published))
