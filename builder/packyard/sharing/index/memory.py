"""What a client remembers of a channel: the index that it accepted last, so that nobody can take it back unnoticed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packyard.core.bundle import record
from packyard.core.errors import IntegrityError
from packyard.core.files import atomic, regular
from packyard.sharing.index.index import Index
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import NOBODY, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What a client remembers of a channel: the index that it accepted last, byte for byte, in a file of its own."""

    file: Path

    def read(self, store: Store | None = None, trusted: Trust = NOBODY) -> Index | None:
        """Return what was remembered, if anything; ``store`` has its shards and records."""
        if not self.file.exists():
            return None
        name = str(self.file)
        try:
            return Index.parse(regular.read(self.file, limit=record.LIMIT), store, trusted, file=name)
        except IntegrityError as error:
            raise error.hinted("remove the file to forget what this channel had") from error

    def write(self, index: Index) -> None:
        """Remember an index; a file that cannot be written is no reason to fail."""
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            atomic.write(str(self.file), index.data, mode=0o644, durable=False)

    def forget(self) -> None:
        """Forget the channel."""
        self.file.unlink(missing_ok=True)
