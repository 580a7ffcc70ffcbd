"""Looking for what is altered, missing, extra or not to be read in a channel: every file of its index, each bundle.

It reads all that there is, and changes nothing.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial

from packyard.core.bundle import reference
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, PackyardError, Problem
from packyard.core.files.regular import LIMIT
from packyard.sharing import checksum
from packyard.sharing.entry import CHECKSUM, PROVENANCE, IndexEntry, bundle_key
from packyard.sharing.index import access, flat, head, lease, nodes, pending, removed, tree, trial
from packyard.sharing.index.head import Head
from packyard.sharing.index.index import Index, Release
from packyard.sharing.index.nodes import Nodes
from packyard.sharing.index.package import Package
from packyard.sharing.index.tree import Node
from packyard.sharing.publishing import close, reindex
from packyard.sharing.publishing import yank as yanks
from packyard.sharing.publishing.prune import LEFT, unreached
from packyard.sharing.stores.probe import PROBES
from packyard.sharing.stores.store import (
    NoFileError,
    NotFoundError,
    ReadOnly,
    Store,
    TooLongError,
    UnreadableError,
    get_or_none,
)
from packyard.sharing.trust import provenance, root, sigstore
from packyard.sharing.trust.envelope import UnsignedError
from packyard.sharing.trust.keys import NOBODY, Trust

_FROM_BACKUP = "bring it back from a mirror or a backup"
_BRING_BACK = f"{_FROM_BACKUP}, or yank the version"
_WRITE_AGAIN = "publish the package again, which writes it"
_REINDEX = "make the index again: packyard fsck CHANNEL --repair"
_SIGN_AGAIN = "remove it, and publish the same sources again: packyard publish {} --version {} --to CHANNEL --key KEY"
_YANK_AGAIN = "remove it, and yank again for the same reason: packyard yank {} --reason TEXT --in CHANNEL"
_CLOSE_AGAIN = "remove it, and make it again: packyard fsck CHANNEL --repair"
_SIGNED = " --key KEY"
_NOT_SAID = "remove it: the index does not say so"
_OF_ROOT = f"{_FROM_BACKUP}; if the channel never had a root, remove it"
_REMOVE_AGAIN = "remove it, and make it again: packyard gc CHANNEL --key KEY, with the flags as before"
_GC = "complete it: run packyard gc again, as before"
_PRUNE = "remove it: packyard fsck CHANNEL --prune"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFault:
    """What is wrong with a file of a channel, ``altered``, ``missing``, ``extra`` or ``unread``, and what to do."""

    kind: str
    key: str
    message: str
    hint: str


class _UnreadError(IntegrityError):
    """A file that cannot be read, with a hint of what to do: `check` tells it as it tells one that is damaged."""


class _Reading(ReadOnly):
    """A store of which one file that cannot be read does not keep the others from being checked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.address = store.address

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        try:
            return self._store.get(key, limit=limit)
        except UnreadableError as error:
            raise _UnreadError(*error.problems) from error

    def read(self, key: str, *, offset: int = 0) -> Iterator[bytes]:
        """Yield an object's bytes; see `Store.read`."""
        return self._store.read(key, offset=offset)

    def list(self, prefix: str) -> Sequence[str]:
        """Return keys; see `Store.list`."""
        return self._store.list(prefix)


def check(store: Store, trusted: Trust = NOBODY) -> Iterator[FileFault]:
    """Yield what is wrong with a channel."""
    store = _Reading(store)
    there = frozenset(store.list(""))
    try:
        index = access.find(store, trusted)
    except IntegrityError as error:
        yield from _altered(store, error, _REINDEX)
        return
    if index is None:
        yield FileFault(kind="missing", key=head.POINTER, message="the channel has no index", hint=_REINDEX)
        return
    heads = list(_check_heads(store, there, index.head)) if index.head.number else []
    yield from heads
    seen = _Seen(index)
    yield from list(seen.faults.values())
    if seen.is_whole and index.head.number:
        yield from _check_maps(index)
    channel = index.head.channel
    told = set()
    for entry in seen.entries():
        for fault in _check_bundle(store, there, entry, channel, trusted):
            told.add(fault.key)
            yield fault
    yield from _check_roots(store, there, channel)
    if not seen.is_whole:
        yield from _check_unlisted(store, there, seen.keys, channel, trusted)
    if seen.is_whole:
        yield from _check_closed(store, index, trusted)
        yield from _check_removed(store, there, seen, channel, trusted)
    yield from _find_extra(store, there - told, index, seen, trusted, are_heads_whole=not heads)


def _altered(store: Store, error: PackyardError, hint: str) -> Iterator[FileFault]:
    """Yield what is wrong with files, by their keys; a store calls them by its address and the key, or a tag."""
    for each in error.problems:
        key = each.file.removeprefix(f"{store.address}/")
        place = each.file if ":" in key else key
        yield _damaged(place, error, each, hint)


def _damaged(key: str, error: PackyardError, problem: Problem, hint: str) -> FileFault:
    """Return a file's fault, and what mends it; what is no file has to be removed before."""
    if isinstance(error, _UnreadError):
        return FileFault(kind="unread", key=key, message=problem.message, hint=problem.hint)
    is_first = isinstance(error, NoFileError) and not hint.startswith("remove it")
    mend = f"remove it; then {hint}" if is_first else hint
    return FileFault(kind="altered", key=key, message=problem.message, hint=mend)


def _check_heads(store: Store, there: frozenset[str], latest: Head) -> Iterator[FileFault]:
    """Compare every head with what later ones say of it, and the pointer with the heads."""
    expected = {latest.number: latest.digest}
    pointer = _digest(store, head.POINTER) if head.POINTER in there else latest.digest
    digests = set()
    for number in range(latest.number, 0, -1):
        key = head.key(number)
        is_copied = head.POINTER in there and expected.get(number) == pointer
        hint = f"copy {head.POINTER} there, which is the same head" if is_copied else _FROM_BACKUP
        try:
            data = get_or_none(store, key, limit=head.LIMIT)
        except (IntegrityError, TooLongError) as error:
            yield from _altered(store, error, hint)
            continue
        if data is None:
            message = "later heads link to it" if number < latest.number else "it is the latest head"
            yield FileFault(kind="missing", key=key, message=message, hint=hint)
            continue
        digests.add(Digest.of(data))
        if expected.get(number, Digest.of(data)) != Digest.of(data):
            problem = f"expected {expected[number]}, found {Digest.of(data)}"
            yield FileFault(kind="altered", key=key, message=problem, hint=hint)
            continue
        with suppress(IntegrityError):
            expected |= Head.parse(data, NOBODY, file=key, number=number).history
    if pointer not in digests.union(expected.values()):
        message = "it is no copy of a head"
        yield FileFault(kind="altered", key=head.POINTER, message=message, hint="the next publish writes it again")


def _digest(store: Store, key: str) -> Digest | None:
    """Return the digest of a file of the index, None if it cannot be read or is larger than any."""
    with suppress(IntegrityError, NotFoundError, TooLongError):
        return Digest.of(store.get(key))
    return None


class _Seen:
    """What is below the roots of an index, as far as it can be read: of its entries, nothing but their keys is held.

    ``keys`` are those of bundles, ``yanked`` and ``removed`` those of the records of what is yanked or removed, and
    ``gone`` those of the bundles that were removed. ``sound`` are the keys of the nodes and records that were read, and
    ``faults`` what is wrong with others, by their keys.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self.faults: dict[str, FileFault] = {}
        self.sound: set[str] = set()
        self.keys: set[str] = set()
        self.yanked: set[str] = set()
        self.removed: set[str] = set()
        self.gone: set[str] = set()
        for node in (index.head.listing, index.head.releases):
            deque(self._leaves(node), maxlen=0)
        for package in self._packages():
            self.keys.update(entry.key for entry in package.entries)
            self.yanked.update(yanks.key(entry.name, entry.version) for entry in package.entries if entry.yanked)
            self.yanked.update(yanks.key(each.name, each.version) for each in package.removed)
            self.removed.update(each.key for each in package.removed)
            self.gone.update(bundle_key(each.name, each.version) for each in package.removed)

    @property
    def is_whole(self) -> bool:
        """Whether all of it can be read."""
        return not self.faults

    def entries(self) -> Iterator[IndexEntry]:
        """Read the records again, and yield their entries."""
        return (entry for each in self._packages() for entry in each.entries)

    def _packages(self) -> Iterator[Package]:
        for leaf in self._leaves(self._index.head.packages):
            for name, value in leaf.entries():
                try:
                    record = self._index.record(name, value)
                except IntegrityError as error:
                    self._note(Digest(str(value)), error)
                else:
                    self.sound.add(nodes.key(Digest(str(value))))
                    yield record

    def _leaves(self, root: Node) -> Iterator[Node]:
        return tree.sound_leaves(root, self._node, self._note)

    def _node(self, digest: Digest) -> Node:
        node = self._index.nodes.node(digest)
        self.sound.add(nodes.key(digest))
        return node

    def _note(self, digest: Digest, error: PackyardError) -> None:
        problem, key = error.problems[0], nodes.key(digest)
        fault = _damaged(key, error, problem, _REINDEX)
        self.faults[key] = replace(fault, kind="missing") if problem.message == nodes.MISSING else fault


def _check_maps(index: Index) -> Iterator[FileFault]:
    """Make the maps again from the records, and compare them with the head's."""
    try:
        built = _rebuilt(index)
    except IntegrityError as error:
        yield FileFault(kind="altered", key=head.key(index.head.number), message=str(error), hint=_REINDEX)
        return
    for name in ("packages", "listing", "releases") if index.head.listing.keys else ("packages", "releases"):
        if getattr(built, name) != getattr(index.head, name):
            message = f"the {name} that it lists are not those of the records"
            yield FileFault(kind="altered", key=head.key(index.head.number), message=message, hint=_REINDEX)


def _rebuilt(index: Index) -> Head:
    releases = {}
    for package in index.packages():
        for version in (*(each.version for each in package.entries), *(each.version for each in package.removed)):
            releases[reference.canonical(version)] = index.release(version) or Release(spelling=version)
    return Index.build(index.packages(), releases, _Forgetful()).head


class _Forgetful(Nodes):
    """Nodes that are named, and not kept."""

    def keep(self, item: Node | Package) -> Digest:
        return Digest.of(item.to_bytes())


def _check_bundle(
    store: Store, there: frozenset[str], entry: IndexEntry, channel: str, trusted: Trust
) -> Iterable[FileFault]:
    """Compare what lies in a release with its entry; return all that is wrong, each fault once."""
    found: dict[FileFault, None] = {}
    line, said = entry.beside(CHECKSUM), None
    for key in (key for key in (entry.key, line) if key not in there):
        hint = _BRING_BACK if key == entry.key else _WRITE_AGAIN
        found[FileFault(kind="missing", key=key, message=f"{entry} is listed", hint=hint)] = None
    if line in there:
        with _noting(found, store, entry):
            said = checksum.parse(store.get(line, limit=checksum.LIMIT), what=line)
    for check in (
        partial(_check_file, store, there, entry, said, trusted),
        partial(_check_yank, store, entry, channel, trusted),
    ):
        with _noting(found, store, entry):
            for fault in check():
                found[fault] = None
    for end in sigstore.ENDS:
        with _noting(found, store, entry):
            sigstore.check_beside(store, entry, trusted, ends=[end])
    with _noting(found, store, entry):
        for key, expected in _products(store, there, entry, trusted).items():
            with _noting(found, store, entry):
                _check_product(store, there, key, expected)
    return found


@contextmanager
def _noting(found: dict[FileFault, None], store: Store, entry: IndexEntry) -> Iterator[None]:
    """Note what is raised about a file of a bundle, and go on."""
    try:
        yield
    except (IntegrityError, TooLongError, NotFoundError) as error:
        found.update(dict.fromkeys(_altered(store, error, _hint(error, entry))))


def _check_file(
    store: Store, there: frozenset[str], entry: IndexEntry, said: Digest | None, trusted: Trust
) -> Iterator[FileFault]:
    """Compare a bundle with its entry, with what its checksum file says, if that can be read, and with its provenance.

    Where the bundle and its checksum agree, it is the index that is wrong.
    """
    data = store.get(entry.key, limit=LIMITS.packed_size) if entry.key in there else None
    actual = entry.digest if data is None else Digest.of(data)
    if said and said != actual and entry.digest != said:
        problem = f"expected {entry.digest}, found {said}"
        hint = f"remove it, and {_WRITE_AGAIN}"
        yield FileFault(kind="altered", key=entry.beside(CHECKSUM), message=problem, hint=hint)
    if data is None:
        return
    if actual not in (said, entry.digest):
        problem = f"expected {entry.digest}, found {actual}"
        yield FileFault(kind="altered", key=entry.key, message=problem, hint=_BRING_BACK)
        return
    bundle = Bundle.open(data, what=entry.key)
    reindex.check_name(bundle, entry.name, entry.version)
    has, lists = IndexEntry.of(bundle).document(), entry.document()
    described = ("description",) if entry.description else ()  # packyard 0.1.0 listed none
    for field in ("tar", "digest", "size", "useCases", "model", *described):
        if has[field] != lists[field]:
            message = f"the bundle has {_json(field, has)}; the index lists {_json(field, lists)}"
            hint = _BRING_BACK if field == "tar" else _REINDEX
            yield FileFault(kind="altered", key=entry.key, message=message, hint=hint)
    provenance.check_beside(store, bundle, trusted)


def _check_yank(store: Store, entry: IndexEntry, channel: str, trusted: Trust) -> Iterator[FileFault]:
    """Compare the record of what is yanked with the entry."""
    record = yanks.read(store, entry, channel, trusted)
    reason = record.reason if record else ""
    if reason != entry.yanked:
        kind, hint = ("altered", _REINDEX) if reason else ("missing", "yank it again, for the same reason")
        place = yanks.key(entry.name, entry.version)
        yield FileFault(kind=kind, key=place, message=f"the index says that it is yanked: {entry.yanked}", hint=hint)


def _hint(error: PackyardError, entry: IndexEntry) -> str:
    """Say how to mend what lies beside a bundle: records, and what nobody signed, are made again."""
    is_unsigned = isinstance(error, UnsignedError)
    if any(yanks.key(entry.name, entry.version) in each.file for each in error.problems):
        again = _YANK_AGAIN.format(entry) + (_SIGNED if is_unsigned else "")
        return again if entry.yanked else _NOT_SAID
    return _SIGN_AGAIN.format(entry.name, entry.version) if is_unsigned else _BRING_BACK


def _json(field: str, document: Mapping[str, object]) -> str:
    return f"{field} {json.dumps(document[field], ensure_ascii=False)}"


def _check_unlisted(
    store: Store, there: frozenset[str], listed: Collection[str], channel: str, trusted: Trust
) -> Iterator[FileFault]:
    """Look at bundles that an index with missing nodes may list."""
    for name, version in reindex.bundles(sorted(there))[0]:
        if bundle_key(name, version) not in listed:
            try:
                reindex.read(store, name, version, channel, trusted)
            except (IntegrityError, TooLongError) as error:
                yield from _altered(store, error, _BRING_BACK)


def _products(store: Store, there: frozenset[str], entry: IndexEntry, trusted: Trust) -> Mapping[str, Digest | None]:
    """Return what a provenance names beside it: SBOMs with their digests, and what cosign reads."""
    provenance_key = entry.beside(PROVENANCE)
    if provenance_key not in there:
        return {}
    statement, opened = provenance.open(store.get(provenance_key, limit=provenance.LIMIT), trusted, file=provenance_key)
    is_signed = statement.manifest and (opened.signers or opened.others)
    for_cosign = map(entry.beside, sigstore.ENDS if is_signed else ())
    return {**dict.fromkeys(for_cosign), **statement.products(entry)}


def _check_product(store: Store, there: frozenset[str], key: str, expected: Digest | None) -> None:
    """Raise `IntegrityError` unless what a provenance names is there, with its digest."""
    if key not in there:
        raise IntegrityError(Problem("is missing beside the provenance", file=key))
    if expected and (actual := Digest.of(store.get(key, limit=provenance.LIMIT))) != expected:
        raise IntegrityError(Problem(f"expected {expected}, found {actual}", file=key))


def _check_closed(store: Store, index: Index, trusted: Trust) -> Iterator[FileFault]:
    for version, _ in tree.scan(index.head.releases, index.nodes.node):
        key, release = head.key(index.head.number), None
        try:
            release = index.released(version)
            key = close.key(release.spelling)
            is_closed = close.is_closed(store, release.spelling, index.head.channel, trusted)
        except (IntegrityError, InputError) as error:
            hint = _REINDEX if release is None else _NOT_SAID
            if release and release.closed:
                hint = f"{_CLOSE_AGAIN}{_SIGNED if isinstance(error, UnsignedError) else ''}"
            yield _damaged(key, error, error.problems[0], hint)
            continue
        if is_closed != release.closed:
            kind, message = ("extra", "the index does not say so") if is_closed else ("missing", "the index says so")
            yield FileFault(kind=kind, key=key, message=f"the release is closed: {message}", hint=_REINDEX)


def _check_roots(store: Store, there: frozenset[str], channel: str) -> Iterator[FileFault]:
    """Look at each version of the channel's root: who writes goes by the first, whether or not a reader trusts it."""
    previous = None
    for key in sorted((key for key in there if key.startswith(root.FOLDER)), key=lambda key: (len(key), key)):
        try:
            found = root.Root.parse(store.get(key, limit=root.LIMIT), file=key)
            found.check(previous, file=key)
            if key != root.key(found.version) or (channel and found.channel != channel):
                raise IntegrityError(Problem(f"is version {found.version} of the root of {found.channel}", file=key))
            previous = found
        except (IntegrityError, TooLongError, NotFoundError) as error:
            yield from _altered(store, error, _OF_ROOT)


def _check_removed(
    store: Store, there: frozenset[str], seen: _Seen, channel: str, trusted: Trust
) -> Iterator[FileFault]:
    """Compare the records of what was removed with what the index says."""
    for key in sorted(seen.removed - there):
        yield FileFault(kind="missing", key=key, message="the index says that it was removed", hint=_GC)
    for key in sorted(each for each in there if each.startswith(removed.FOLDER)):
        try:
            gone = removed.read(store, key, channel, trusted)
        except IntegrityError as error:
            hint = _REMOVE_AGAIN if key in seen.removed else "remove it"
            yield _damaged(key, error, error.problems[0], hint)
            continue
        if key not in seen.removed:
            yield FileFault(kind="extra", key=key, message=f"{gone}; the index lists it still", hint=_GC)


def _find_extra(
    store: Store, there: frozenset[str], index: Index, seen: _Seen, trusted: Trust, *, are_heads_whole: bool
) -> Iterator[FileFault]:
    """Yield what nothing lists: in releases, and below ``index/``; a head that is brought back may reach nodes."""
    releases = {key.partition("/")[0] for key in seen.keys | seen.gone}
    left_over = frozenset(unreached(store, index.head)) if seen.is_whole and are_heads_whole else frozenset()
    closed = _closable(index) if seen.is_whole else frozenset()
    for key in sorted(there):
        if not key.startswith("index/"):
            base = key.partition(".tar.gz")[0] + ".tar.gz"
            is_ours = key.partition("/")[0] in releases or key.endswith(".tar.gz")
            if seen.is_whole and is_ours and base not in seen.keys:
                message, hint = ("it was removed", _GC) if base in seen.gone else _UNLISTED
                yield FileFault(kind="extra", key=key, message=message, hint=hint)
        elif key in left_over:
            yield FileFault(kind="extra", key=key, message="no head reaches it", hint=_PRUNE)
        elif key.startswith(nodes.FOLDER) and seen.is_whole and are_heads_whole and key not in seen.sound:
            yield from _check_old_node(store, key)
        elif key.startswith(pending.FOLDER):
            yield from _check_pending(store, key, index.head, trusted)
        elif key.startswith(PROBES):
            yield FileFault(kind="extra", key=key, message="a trial of the server was interrupted", hint=_PRUNE)
        elif key.startswith(lease.FOLDER):
            yield FileFault(kind="extra", key=key, message="a writer is at work, or was interrupted", hint=LEFT)
        elif seen.is_whole and key.startswith(yanks.FOLDER) and key not in seen.yanked:
            bundle = f"{key.removeprefix(yanks.FOLDER).removesuffix('.json')}.tar.gz"
            hint = _REINDEX if bundle in seen.keys else "remove it"
            yield FileFault(kind="extra", key=key, message="the index does not say that it is yanked", hint=hint)
        elif seen.is_whole and key.startswith(close.FOLDER) and key not in closed:
            yield FileFault(kind="extra", key=key, message="the index has no such release", hint="remove it")
        elif key.startswith(head.FOLDER) and not 0 < reindex.head_number(key) <= index.head.number:
            yield FileFault(kind="extra", key=key, message="no head comes before it", hint="remove it")
        elif not key.startswith(_KNOWN) and key not in _FILES:
            yield FileFault(kind="extra", key=key, message="it is no file of an index", hint="remove it")


def _check_old_node(store: Store, key: str) -> Iterator[FileFault]:
    """Look at a node that the latest head does not reach."""
    try:
        is_sound = Digest.of(store.get(key)) == nodes.digest(key)
    except _UnreadError as error:
        yield from _altered(store, error, "")
        return
    except (IntegrityError, NotFoundError, TooLongError):
        is_sound = False
    if not is_sound:
        yield FileFault(kind="altered", key=key, message="an old head reaches it", hint="remove it")


def _check_pending(store: Store, key: str, latest: Head, trusted: Trust) -> Iterator[FileFault]:
    """Look at what a publisher says before it lists that: what is refused is never listed by others."""
    try:
        pending.read(store, key, latest.channel, trusted.without(latest.revoked))
    except NotFoundError:
        return
    except (IntegrityError, TooLongError) as error:
        yield from _altered(store, error, "remove it, and publish again what is not listed")
    else:
        yield FileFault(kind="extra", key=key, message="a publish is under way, or was interrupted", hint=LEFT)


def _closable(index: Index) -> frozenset[str]:
    """Return the keys that records of closed releases may have."""
    keys = set()
    for version, _ in tree.scan(index.head.releases, index.nodes.node):
        with suppress(IntegrityError, InputError):  # `_check_closed` tells
            keys.add(close.key(index.released(version).spelling))
    return frozenset(keys)


_UNLISTED = ("no head lists it", "publish it, or remove it")
_KNOWN = (head.FOLDER, nodes.FOLDER, close.FOLDER, yanks.FOLDER, removed.FOLDER, root.FOLDER, root.REVOKED)
_FILES = (head.POINTER, flat.KEY, trial.KEY)
