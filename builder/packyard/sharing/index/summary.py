"""What an index lists of a package: the digest of its record, what `packyard list` prints, and the words that find it.

{"record": "sha256:…", "version": "1.1", "title": "BERT", "model": {"framework": "pytorch"}, "useCases": ["train"]}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import Record, checked, in_json, list_of, map_of, text
from packyard.core.digest import Digest
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index.package import Package

_WORD = re.compile(r"[^\W_]+")
_NOWHERE = Digest("")
_TITLE = 100  # characters of a title


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A package by its latest version: a title, the facts of its model, the paths of its use cases, what they need.

    ``version`` is empty where every version is yanked or removed.
    """

    name: str = field(metadata=in_json(checked(reference.check_name)))
    record: Digest = field(default=_NOWHERE, metadata=in_json(record.digest))
    version: str = field(default="", metadata=in_json(checked(reference.check_version), ""))
    title: str = field(default="", metadata=in_json(text, ""))
    model: Mapping[str, str] = field(default_factory=dict, metadata=in_json(map_of(text), {}))
    use_cases: Sequence[str] = field(default=(), metadata=in_json(list_of(text), ()))
    kind: str = field(default="", metadata=in_json(text, ""))
    needs: Sequence[str] = field(default=(), metadata=in_json(list_of(text), ()))
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, package: Package, digest: Digest) -> Summary:
        """Summarize a package, whose record has a digest."""
        leading = package.leading
        return cls(
            name=package.name,
            record=digest,
            version=package.latest.version if package.latest else "",
            title=title_of(leading),
            model=leading.model,
            use_cases=leading.use_cases,
            kind=leading.kind,
            needs=leading.needs,
        )

    @classmethod
    def parse(cls, name: str, value: object) -> Summary:
        """Read what an index lists under a name."""
        return Record({**Record(value).rest(), "name": name}).take_all(cls)

    def document(self) -> dict[str, object]:
        """Return the JSON that `parse` reads."""
        fields: dict[str, object] = record.document(self)
        return {key: value for key, value in fields.items() if key != "name"}

    def has(self, words: Iterable[str]) -> bool:
        """Say whether every word begins a word of its name, its title, its facts, its use cases or what these need."""
        own = set(_words((self.name, self.title, *self.model.values(), *self.use_cases, *self.needs)))
        return all(any(word.startswith(start) for word in own) for start in words)


def title_of(entry: IndexEntry) -> str:
    """Return the title of a version."""
    return short(entry.description.partition(": ")[0])


def split(texts: Iterable[str]) -> list[str]:
    """Return the words in some texts as they are compared, each once: ``FP32-train`` has ``fp32`` and ``train``."""
    return list(dict.fromkeys(_words(texts)))


def short(title: str) -> str:
    """Return a title of limited length."""
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"


def _words(texts: Iterable[str]) -> Iterator[str]:
    return (word for text in texts for word in _WORD.findall(text.casefold()))
