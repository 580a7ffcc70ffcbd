"""A page that is one file: with the files of its channel inside that prove and show some packages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, Problem
from packyard.core.files.regular import LIMIT
from packyard.sharing.entry import PROVENANCE
from packyard.sharing.index import access, choose, head, tree
from packyard.sharing.index.head import Memory
from packyard.sharing.stores.store import ReadOnly, Store, get_or_none
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import Trust
from packyard.sharing.web import page
from packyard.sharing.web.page import Page

#: The bytes of packages that one file may hold.
MOST = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Recorded(ReadOnly):
    """A store that is read, and notes what."""

    store: Store
    content: dict[str, bytes] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The address of the store."""
        return self.store.address

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        self.content[key] = self.store.get(key, limit=limit)
        return self.content[key]

    def read(self, key: str, *, offset: int = 0) -> Iterator[bytes]:
        """Yield an object's bytes; see `Store.read`."""
        return self.store.read(key, offset=offset)

    def list(self, prefix: str) -> Sequence[str]:
        """Return the keys that begin with ``prefix``; see `Store.list`."""
        return self.store.list(prefix)


def export(store: Store, references: Sequence[Reference], about: Page, trusted: Trust, memory: Memory | None) -> bytes:
    """Return the file that shows the packages that are asked for, all versions of which it names."""
    recorded = Recorded(store)
    index = access.read(recorded, trusted, memory)
    for reference in references:
        package = index.named(reference.name)
        entry = choose.choose(package, reference).entry
        tree.get(index.head.listing, entry.name, index.nodes.node)
        entry.verify(recorded.get(entry.key))
        get_or_none(recorded, entry.beside(PROVENANCE), limit=provenance.LIMIT)
        if sum(map(len, recorded.content.values())) > MOST:
            problem = f"these packages are more than {MOST} bytes"
            raise InputError(Problem(problem, hint="name fewer of them, or copy them to a folder: packyard copy"))
    heads = {key: data for key, data in recorded.content.items() if key.startswith(head.FOLDER)}
    latest = heads.get(head.key(index.head.number), recorded.content[head.POINTER])
    content = {key: data for key, data in recorded.content.items() if key not in heads}
    return page.single(about, {**content, head.POINTER: latest}, [each.name for each in references])
