"""The objects of a run moved to another version of its package: three-way; no change by hand is lost.

    base      what the version of its record makes of the values
    ours      what was recorded: base, and what was changed by hand in the folder that it was deployed from
    theirs    what the other version makes of the values

Mappings are merged by their keys, and lists whose items have names by these; any other list is one value. What both
sides changed is a conflict. A Secret that is recorded comes without data, which stays as it is on the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packyard.core.errors import shown
from packyard.core.kubernetes.lenient import kind_of, name_of
from packyard.running.runs import concealed
from packyard.running.runs import record as records
from packyard.running.runs.run import Object

_ABSENT = object()
_Key = tuple[str, str, str]


@dataclass(slots=True)
class Merge:
    """A merge of objects; ``decision`` is ``ours`` or ``theirs`` for conflicts, which are told in ``conflicts``."""

    decision: str = ""
    conflicts: list[str] = field(default_factory=list)

    def objects(self, base: Sequence[Object], ours: Sequence[Object], theirs: Sequence[Object]) -> list[Object]:
        """Return the merged objects, those of theirs first."""
        kept = _by_name(ours)
        old = _by_name(records.public(base))
        new = {key: records.public([item])[0] if key in kept else item for key, item in _by_name(theirs).items()}
        items = []
        for key in dict.fromkeys([*new, *kept]):
            about = f"{key[1]} {key[2]}"
            merged = self._value(about, (), old.get(key, _ABSENT), kept.get(key, _ABSENT), new.get(key, _ABSENT))
            if merged is not _ABSENT:
                items.append(merged)
        return items

    def _value(self, about: str, path: tuple[str, ...], base: Any, ours: Any, theirs: Any) -> Any:
        if ours == theirs or theirs == base:
            return ours
        if ours == base:
            return theirs
        if all(isinstance(each, dict) for each in (ours, theirs)):
            return self._fields(about, path, base if isinstance(base, dict) else {}, ours, theirs)
        named = [_named(each) for each in ([] if base is _ABSENT else base, ours, theirs)]
        if all(each is not None for each in named):
            return [*self._fields(about, path, *named).values()]
        self.conflicts.append(f"{about}: {_told(path, ours, theirs)}")
        return theirs if self.decision == "theirs" else ours

    def _fields(self, about: str, path: tuple[str, ...], base: Any, ours: Any, theirs: Any) -> dict[str, Any]:
        sides = (base, ours, theirs)
        fields = {
            key: self._value(about, (*path, key), *(each.get(key, _ABSENT) for each in sides))
            for key in dict.fromkeys([*theirs, *ours])
        }
        return {key: value for key, value in fields.items() if value is not _ABSENT}


def _by_name(objects: Iterable[Object]) -> dict[_Key, Object]:
    return {(*kind_of(item), name_of(item)): item for item in objects}


def _named(value: Any) -> Mapping[str, Any] | None:
    """Return the items of a list by their names; None where it is none, or they have none of their own."""
    if not isinstance(value, list):
        return None
    by_name = {each["name"]: each for each in value if isinstance(each, dict) and isinstance(each.get("name"), str)}
    return by_name if len(by_name) == len(value) else None


def _told(path: Sequence[str], ours: Any, theirs: Any) -> str:
    what = ".".join(path)
    if _ABSENT in (ours, theirs):
        side, other = ("the run", "the new version") if ours is _ABSENT else ("the new version", "the run")
        return f"{what or 'it'} is removed in {side}, and changed in {other}"
    name = path[-2] if path[-1:] == ("value",) and len(path) > 1 else path[-1] if path else ""
    texts = ("***" if concealed.is_secret(name, str(each)) else shown(str(each)) for each in (ours, theirs))
    return "{} is {} in the run, and {} in the new version".format(what, *texts)
