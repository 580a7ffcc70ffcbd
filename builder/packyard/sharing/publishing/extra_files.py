"""Files of a channel that nothing lists: what was left over, what is under way, and what is no file of a channel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError
from packyard.sharing.index import flat, head, lease, nodes, pending, removed, tree, trial
from packyard.sharing.index.head import Head
from packyard.sharing.index.index import Index
from packyard.sharing.publishing import close, reindex
from packyard.sharing.publishing import yank as yanks
from packyard.sharing.publishing.file_fault import GC, REINDEX, FileFault, UnreadError, altered
from packyard.sharing.publishing.prune import LEFT, unreached
from packyard.sharing.publishing.seen import Seen
from packyard.sharing.stores.probe import PROBES
from packyard.sharing.stores.store import NotFoundError, Store, TooLongError
from packyard.sharing.trust.keys import Trust

_PRUNE = "remove it: packyard fsck CHANNEL --prune"
_UNLISTED = ("no head lists it", "publish it, or remove it")
_KNOWN = (head.FOLDER, nodes.FOLDER, close.FOLDER, yanks.FOLDER, removed.FOLDER)
_FILES = (head.POINTER, flat.KEY, trial.KEY)


def find_extra(
    store: Store, there: frozenset[str], index: Index, seen: Seen, trusted: Trust, *, are_heads_whole: bool
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
                message, hint = ("it was removed", GC) if base in seen.gone else _UNLISTED
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
            hint = REINDEX if bundle in seen.keys else "remove it"
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
    except UnreadError as error:
        yield from altered(store, error, "")
        return
    except (IntegrityError, NotFoundError, TooLongError):
        is_sound = False
    if not is_sound:
        yield FileFault(kind="altered", key=key, message="an old head reaches it", hint="remove it")


def _check_pending(store: Store, key: str, latest: Head, trusted: Trust) -> Iterator[FileFault]:
    """Look at what a publisher says before it lists that: what is refused is never listed by others."""
    try:
        pending.read(store, key, latest.channel, trusted)
    except NotFoundError:
        return
    except (IntegrityError, TooLongError) as error:
        yield from altered(store, error, "remove it, and publish again what is not listed")
    else:
        yield FileFault(kind="extra", key=key, message="a publish is under way, or was interrupted", hint=LEFT)


def _closable(index: Index) -> frozenset[str]:
    """Return the keys that records of closed releases may have."""
    keys = set()
    for version, _ in tree.scan(index.head.releases, index.nodes.node):
        with suppress(IntegrityError, InputError):  # `_check_closed` tells
            keys.add(close.key(index.released(version).spelling))
    return frozenset(keys)
