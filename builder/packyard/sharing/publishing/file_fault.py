"""What is wrong with a file of a channel, and a store in which one file that cannot be read does not hide others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packyard.core.errors import IntegrityError, PackyardError, Problem
from packyard.core.files.regular import LIMIT
from packyard.sharing.stores.store import NoFileError, ReadOnly, Store, UnreadableError

FROM_BACKUP = "bring it back from a mirror or a backup"
BRING_BACK = f"{FROM_BACKUP}, or yank the version"
REINDEX = "make the index again: packyard fsck CHANNEL --repair"
SIGNED = " --key KEY"
NOT_SAID = "remove it: the index does not say so"
GC = "complete it: run packyard gc again, as before"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFault:
    """What is wrong with a file of a channel, ``altered``, ``missing``, ``extra`` or ``unread``, and what to do."""

    kind: str
    key: str
    message: str
    hint: str


class UnreadError(IntegrityError):
    """A file that cannot be read, with a hint of what to do: `fsck` tells it as it tells one that is damaged."""


class Reading(ReadOnly):
    """A store of which one file that cannot be read does not keep the others from being checked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.address = store.address

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        try:
            return self._store.get(key, limit=limit)
        except UnreadableError as error:
            raise UnreadError(*error.problems) from error

    def read(self, key: str, *, offset: int = 0) -> Iterator[bytes]:
        """Yield an object's bytes; see `Store.read`."""
        return self._store.read(key, offset=offset)

    def list(self, prefix: str) -> Sequence[str]:
        """Return keys; see `Store.list`."""
        return self._store.list(prefix)


def altered(store: Store, error: PackyardError, hint: str) -> Iterator[FileFault]:
    """Yield what is wrong with files, by their keys; a store calls them by its address and the key, or a tag."""
    for each in error.problems:
        key = each.file.removeprefix(f"{store.address}/")
        place = each.file if ":" in key else key
        yield damaged(place, error, each, hint)


def damaged(key: str, error: PackyardError, problem: Problem, hint: str) -> FileFault:
    """Return a file's fault, and what mends it; what is no file has to be removed before."""
    if isinstance(error, UnreadError):
        return FileFault(kind="unread", key=key, message=problem.message, hint=problem.hint)
    is_first = isinstance(error, NoFileError) and not hint.startswith("remove it")
    mend = f"remove it; then {hint}" if is_first else hint
    return FileFault(kind="altered", key=key, message=problem.message, hint=mend)
