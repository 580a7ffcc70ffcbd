"""A Krmfile merged by its definitions, each by its lines: they look so much alike that lines alone mix them up.

The order is that of theirs; a definition that only ours has stays behind the one that it follows there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from packyard.core.errors import InputError
from packyard.core.yaml.document import source_of
from packyard.using.setters.krmfile import Krmfile
from packyard.using.upgrade import lines
from packyard.using.upgrade.lines import Clash, Lines

_HEAD, _TAIL = "\0<", "\0>"  # names that YAML cannot have: what stands before and behind all definitions


def merge(base: bytes, ours: bytes, theirs: bytes) -> list[Lines | Clash]:
    """Merge two versions of a Krmfile, as `lines.merge` does; as any text, if one cannot be parted."""
    parted = [_blocks(data) for data in (base, ours, theirs)]
    if not all(parted):
        return lines.merge(base, ours, theirs)
    old, one, other = parted
    starts, line = {}, 1
    for name, text in one.items():
        starts[name] = line
        line += text.count(b"\n")
    merged: list[Lines | Clash] = []
    for name in _order(list(one), list(other)):
        merged += _block(old.get(name), one.get(name), other.get(name), starts.get(name, 1))
    return merged


def _block(base: bytes | None, ours: bytes | None, theirs: bytes | None, line: int) -> Sequence[Lines | Clash]:
    """Merge one definition, None where there is none, which begins in a line of ours."""
    if ours == theirs or base in (ours, theirs):
        return [lines.split((theirs if ours == base else ours) or b"")]
    both = ours is not None and theirs is not None
    found = lines.merge(base or b"", ours or b"", theirs or b"") if both else lines.whole(ours or b"", theirs or b"")
    return [Clash(each.line + line - 1, each.ours, each.theirs) if isinstance(each, Clash) else each for each in found]


def _order(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return all names in the order of theirs, those of ours alone behind the one that each follows."""
    names = list(theirs)
    for before, name in pairwise(ours):
        if name not in names:
            names.insert(names.index(before) + 1, name)
    return names


def _blocks(data: bytes) -> Mapping[str, bytes]:
    """Return the definitions by their names, with what stands around them; nothing where they cannot be parted."""
    try:
        krmfile = Krmfile(source_of(data, ""))
    except InputError:
        return {}
    text = krmfile.source.text
    starts = [text.rfind("\n", 0, entry.key.start) + 1 for entry in krmfile.entries]
    end = text.find("\n", krmfile.entries[-1].value.end - 1) + 1 if starts else 0
    if not end or text.encode() != data or len({*starts}) < len(starts):
        return {}
    places = [0, *starts, end, len(text)]
    names = [_HEAD, *(entry.name for entry in krmfile.entries), _TAIL]
    return {name: text[start:end].encode() for name, (start, end) in zip(names, pairwise(places), strict=True)}
