"""Publishing: the order in which the objects of bundles are written and listed.

    <version>/<name>.tar.gz…    each bundle, and what is known of it (`upload`)
    index/pending/….json        a record that names them: they are here, and nobody lists them yet (`pending`)
    index/nodes/…, heads/….json a head that lists what is pending, with the nodes that are new (`join`)

Only the head counts: whatever one lists exists, and without it nothing is published. What an interrupted publish left
is listed by the next publisher if it is complete, and publishing the same bundles again completes it. A new channel
first gets an empty head, which has its id. Everything is checked before the first write; only a second publisher at the
same time can cause a later refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from packyard.core.bundle import reference
from packyard.core.bundle.bundle import Bundle
from packyard.core.errors import ConflictError, IntegrityError, Problem, on_one_line, refuse
from packyard.core.work.parallel import each
from packyard.sharing.entry import CHECKSUM, IndexEntry
from packyard.sharing.index import access, head, pending, removed
from packyard.sharing.index.access import UNSIGNED, Publisher
from packyard.sharing.index.index import Index
from packyard.sharing.publishing import join
from packyard.sharing.publishing.upload import Attest, Packed, Upload
from packyard.sharing.stores.store import MissingStoreError, Store
from packyard.sharing.trust.keys import NOBODY, Trust

#: It was not there; it was not there, and no head lists it yet; an earlier publish had been interrupted; it was there.
Status = Literal["published", "uploaded", "completed", "unchanged"]
#: What publishing would do: publish it, complete it, nothing, or refuse it.
Outlook = Literal["new", "incomplete", "unchanged", "conflict"]


def publish(
    store: Store,
    bundles: Iterable[Bundle | Path | Packed],
    by: Publisher = UNSIGNED,
    *,
    attest: Attest = lambda _: {},
    at_once: int = 1,
    is_listed: bool = True,
    done: Callable[[int], object] = lambda _: None,
) -> list[tuple[IndexEntry, Status]]:
    """Publish bundles, and return the entry of each, and what was done for it.

    A bundle is identified by its tar: the same tar under the same name and version leaves the published file and its
    checksum alone, even if it is compressed differently. If another tar is published, raise `ConflictError` for all
    such bundles, with both digests, and write nothing. A damaged published file is an `IntegrityError`.

    ``at_once`` bundles are uploaded at a time; those in files are read one by one. ``done`` hears of each that is
    uploaded, by its place. Unless ``is_listed``, they are left pending, for `join` or the next publisher to list.
    """
    with access.writer(store, by) as writer:
        store, before = writer.store, writer.current()
        uploads = _compared(store, bundles, before, at_once)
        if not before.head.number:  # nothing yet, or an index of packyard 0.1.0
            before = writer.commit(lambda index: index)
        wrote = each(lambda upload: upload.write(store, attest), uploads, at_once, done)
        new = {str(entry): entry for entry, _ in wrote if not before.lists(entry)}
        for upload, (entry, _) in zip(uploads, wrote, strict=True):
            if str(entry) in new:
                upload.check_provenance(store, entry, attest, writer.by.trusted)
        own = pending.put(store, [*new.values()], by.keys, before.head.channel)
        if is_listed and (own or store.list(pending.FOLDER)):
            join.list_all(writer, own)

    def status(upload: Upload, entry: IndexEntry, is_new: bool) -> Status:
        if str(entry) in new and not is_listed:
            return "uploaded"
        return "published" if not upload.has_bundle else "completed" if is_new or str(entry) in new else "unchanged"

    return [(entry, status(upload, entry, is_new)) for upload, (entry, is_new) in zip(uploads, wrote, strict=True)]


def preview(
    store: Store, bundles: Iterable[Bundle | Path | Packed], *, trusted: Trust = NOBODY, at_once: int = 1
) -> list[tuple[IndexEntry, Outlook, tuple[Problem, ...]]]:
    """Return what `publish` would do for each bundle, and why it would refuse it; nothing is written."""
    before, items = access.current(store, trusted), list(map(Packed.of, bundles))
    there = _present(store, items)
    _check_place(store, before, items)

    def look(packed: Packed) -> tuple[IndexEntry, Outlook, tuple[Problem, ...]]:
        entry = packed.entry
        try:
            upload = Upload.of(store, packed, there[entry.version])
            before.add(upload.entry)
        except (ConflictError, IntegrityError) as error:
            return entry, "conflict", error.problems
        if not upload.has_bundle:
            return upload.entry, "new", ()
        is_whole = entry.beside(CHECKSUM) in upload.present and before.lists(upload.entry)
        return upload.entry, "unchanged" if is_whole else "incomplete", ()

    return each(look, items, at_once)


def _compared(store: Store, bundles: Iterable[Bundle | Path | Packed], before: Index, at_once: int) -> list[Upload]:
    """Check each bundle; return the bundles with what the channel, whose index this is, has of them."""
    items = list(map(Packed.of, bundles))
    there = _present(store, items)

    def look(packed: Packed) -> Upload | ConflictError:
        try:
            return Upload.of(store, packed, there[packed.entry.version])
        except ConflictError as error:
            return error

    looked = each(look, items, at_once)
    refuse((problem for one in looked if isinstance(one, ConflictError) for problem in one.problems), ConflictError)
    uploads = [one for one in looked if isinstance(one, Upload)]
    before.add(*(upload.entry for upload in uploads))
    _check_place(store, before, items)
    return uploads


def _present(store: Store, items: Sequence[Packed]) -> Mapping[str, frozenset[str]]:
    """Check names and versions; return the keys below each version."""
    for packed in items:
        reference.check_name(packed.entry.name)
        reference.check_version(packed.entry.version)
    versions = sorted({packed.entry.version for packed in items})
    return {version: frozenset(_list_keys(store, f"{version}/")) for version in versions}


def _list_keys(store: Store, prefix: str) -> Sequence[str]:
    with suppress(MissingStoreError):
        return store.list(prefix)
    return ()


def _check_place(store: Store, before: Index, items: Sequence[Packed]) -> None:
    """Refuse to make a channel of a place that has other content.

    A channel that has lost its index is not empty; it is complete again when all that lies there is published again.
    """
    if before != Index():
        return
    own = tuple(packed.entry.key for packed in items)
    kept = (*own, "index/")
    there = _list_keys(store, "")
    others = [key for key in there if key.startswith(removed.FOLDER) or not key.startswith(kept)]
    if others and not store.list(head.FOLDER):  # another publisher may have begun the channel meanwhile
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        kind = "releases" if any(key.endswith(".tar.gz") for key in others) else "other files"
        problem = f"there are {kind} and no index: {', '.join(map(on_one_line, others[:3]))}{more}"
        hint = "bring the index back with packyard fsck CHANNEL --repair, or choose a folder that is empty"
        raise ConflictError(Problem(problem, file=head.POINTER, hint=hint))
