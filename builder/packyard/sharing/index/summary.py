"""What `packyard list` prints of a package, in one short entry, and the words that find it."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import FaultError, Record
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.entry import IndexEntry

_WORD = re.compile(r"[^\W_]+")
_NONE: tuple[str, ...] = ()
_TITLE = 100  # characters of a title, and of each fact of a model
_FACTS, _PATHS = 20, 8 * 1024  # facts of a model; characters of the paths of use cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A package by its latest version: a title, the facts of its model, the paths of its use cases, what they need."""

    name: str
    version: str
    title: str = ""
    model: Mapping[str, str] = field(default_factory=dict)
    use_cases: Sequence[str] = ()
    kind: str = ""
    needs: Sequence[str] = ()

    @classmethod
    def of(cls, entry: IndexEntry) -> Summary:
        """Summarize a version."""
        return cls(
            name=entry.name,
            version=entry.version,
            title=short(entry.description.partition(": ")[0]),
            model=entry.model,
            use_cases=entry.use_cases,
            kind=entry.kind,
            needs=entry.needs,
        )

    @classmethod
    def parse(cls, name: str, value: object) -> Summary:
        """Read what `entry` wrote, or raise `IntegrityError`."""
        try:
            fields = Record(value)
            folder = fields.take("folder", record.text, "")
            use_cases: tuple[str, ...] = fields.take("useCases", record.list_of(record.text), _NONE)
            return cls(
                name=name,
                version=fields.take("version", record.checked(reference.check_version)),
                title=fields.take("title", record.text, ""),
                model=fields.take("model", record.map_of(record.text), {}),
                use_cases=tuple(posixpath.join(folder, each) for each in use_cases),
                kind=fields.take("kind", record.text, ""),
                needs=fields.take("needs", record.list_of(record.text), _NONE),
            )
        except FaultError as fault:
            raise IntegrityError(Problem(f"{fault.path}: {fault}", file=f"{name[:80]} in the listing")) from fault

    def entry(self) -> dict[str, object]:
        """Return the entry of the listing; what is very long is cut, so that many packages fit into one node."""
        folder = os.path.commonpath(self.use_cases) if len(self.use_cases) > 1 else ""
        use_cases = [posixpath.relpath(each, folder) if folder else each for each in self.use_cases]
        model = {key: short(value) for key, value in islice(self.model.items(), _FACTS) if len(key) <= _TITLE}
        fields = {
            "title": self.title,
            "model": model,
            "folder": folder,
            "useCases": _some(use_cases),
            "kind": self.kind,
        }
        fields |= {"needs": [short(each) for each in self.needs[:_FACTS]]}
        return {"version": self.version, **{key: value for key, value in fields.items() if value}}

    def has(self, words: Iterable[str]) -> bool:
        """Say whether every word asked for begins a word of its name, its title, its facts or its use cases."""
        own = set(_words((self.name, self.title, *self.model.values(), *self.use_cases)))
        return all(any(word.startswith(start) for word in own) for start in words)


def split(texts: Iterable[str]) -> list[str]:
    """Return the words in some texts as they are compared, each once: ``FP32-train`` has ``fp32`` and ``train``."""
    return list(dict.fromkeys(_words(texts)))


def short(title: str) -> str:
    """Return a title of limited length."""
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"


def _some(paths: Sequence[str]) -> list[str]:
    """Return as many paths as are of some length together."""
    ends = accumulate(map(len, paths))
    return [path for path, end in zip(paths, ends, strict=True) if end <= _PATHS]


def _words(texts: Iterable[str]) -> Iterator[str]:
    return (word for text in texts for word in _WORD.findall(text.casefold()))
