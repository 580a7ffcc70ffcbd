"""What `packyard list` prints of a package, in one short entry, and the words that find it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.sharing.entry import IndexEntry

_WORD = re.compile(r"[^\W_]+")
_TITLE = 100  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A package by its latest version: a title, the facts of its model, and the paths of its use cases."""

    name: str
    version: str
    title: str = ""
    model: Mapping[str, str] = field(default_factory=dict)
    use_cases: Sequence[str] = ()

    @classmethod
    def of(cls, entry: IndexEntry) -> Summary:
        """Summarize a version."""
        return cls(
            name=entry.name,
            version=entry.version,
            title=short(entry.description.partition(": ")[0]),
            model=entry.model,
            use_cases=entry.use_cases,
        )

    def has(self, asked: Iterable[str]) -> bool:
        """Say whether every word asked for begins a word of its name, its title, its facts or its use cases."""
        own = set(_words((self.name, self.title, *self.model.values(), *self.use_cases)))
        return all(any(word.startswith(start) for word in own) for start in asked)


def split(texts: Iterable[str]) -> list[str]:
    """Return the words in some texts as they are compared, each once: ``FP32-train`` has ``fp32`` and ``train``."""
    return list(dict.fromkeys(_words(texts)))


def short(title: str) -> str:
    """Return a title of limited length."""
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"


def _words(texts: Iterable[str]) -> Iterator[str]:
    return (word for text in texts for word in _WORD.findall(text.casefold()))
