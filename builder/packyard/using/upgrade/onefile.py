"""One file merged from three versions: kept, taken, removed, or merged by lines to what is YAML still.

A Krmfile is merged by its definitions, each by its lines: they look so much alike that lines alone mix them up. The
order is that of theirs; a definition that only ours has stays behind the one that it follows there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from posixpath import basename

from packyard.core.errors import InputError, Problem
from packyard.core.yaml.document import check_keys, parse_file, source_of
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.setters.krmfile import Krmfile
from packyard.using.upgrade import lines
from packyard.using.upgrade.lines import Clash, Lines

_YAML = (".yaml", ".yml", KRMFILE, "Kustomization")
_MOST_LINES, _WIDTH = 3, 100  # that a message shows of a side


def merge(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, decision: str, new: str
) -> tuple[bytes | None, list[Problem]]:
    """Merge three versions of a file, None where there is none; return it, and what conflicts.

    Line breaks that ours has otherwise than base, as git may write them, are no change of its lines.
    """
    if base and ours and theirs:
        base, theirs = _with_line_breaks_of(ours, base, theirs)
    if ours in (base, theirs):
        return theirs, []
    if theirs == base:
        return ours, []
    if ours is None or theirs is None:
        message = f"is removed here, and changed by {new}" if ours is None else f"is changed here, and removed by {new}"
        survivor = {"ours": ours, "theirs": theirs}.get(decision, theirs if ours is None else ours)
        return survivor, [Problem(message, file=path, line=0 if ours is None else 1)]
    by = merge_krmfile if basename(path) == KRMFILE else lines.merge
    is_text = b"\0" not in ours + theirs + (base or b"")
    merged, fault = by(base or b"", ours, theirs) if is_text else lines.whole(ours, theirs), ""
    if not lines.clashes(merged) and (fault := _unfit(path, ours, theirs, lines.decided(merged, decision, new))):
        merged = lines.whole(ours, theirs)
    conflicts = [
        Problem(fault or "\n".join((_described(clash, new), *_sides(clash, new))), file=path, line=clash.line)
        for clash in lines.clashes(merged)
    ]
    return lines.decided(merged, decision, new), conflicts


def _with_line_breaks_of(ours: bytes, base: bytes, theirs: bytes) -> tuple[bytes, bytes]:
    """Give base the line breaks of ours, and theirs, too, where it has those of base."""
    here, there = _line_break(ours), _line_break(base)
    if not here or not there or here == there:
        return base, theirs
    return base.replace(there, here), theirs.replace(there, here) if _line_break(theirs) == there else theirs


def _line_break(data: bytes) -> bytes:
    """Return the line break that all lines of a text have; nothing where they differ."""
    count = data.count(b"\n")
    if not count or b"\0" in data or data.count(b"\r\n") not in (0, count):
        return b""
    return b"\r\n" if b"\r\n" in data else b"\n"


def _described(clash: lines.Clash, new: str) -> str:
    last = clash.line + len(clash.ours) - 1
    here = "this line is" if last == clash.line else f"lines {clash.line} to {last} are"
    if not clash.ours:
        return f"lines that stood here are removed, and changed by {new}"
    return f"{here} changed here and by {new}" if clash.theirs else f"{here} changed here, and removed by {new}"


def _sides(clash: lines.Clash, new: str) -> Iterator[str]:
    """Yield the first lines of both sides, each behind the name of its side."""
    for name, side in (("yours", clash.ours), (new, clash.theirs)):
        texts = [line.decode("utf-8", "replace").rstrip() for line in side[:_MOST_LINES]]
        for text in (*texts, *["…"] * (len(side) > _MOST_LINES)):
            yield f"  {name:>{max(len(new), len('yours'))}} | {text[:_WIDTH]}"


def _unfit(path: str, ours: bytes, theirs: bytes, merged: bytes) -> str:
    """Say why what was merged by lines is not YAML, where both sides are."""
    if not path.endswith(_YAML) or _fault(path, ours) or not (fault := _fault(path, merged)) or _fault(path, theirs):
        return ""
    return f"the changes here and those of the new version do not fit together: {fault}"


def _fault(path: str, data: bytes) -> str:
    try:
        for document in parse_file(data, path):
            check_keys(document)
    except InputError as error:
        return error.problems[0].message
    return ""


_HEAD, _TAIL = "\0<", "\0>"  # names that YAML cannot have: what stands before and behind all definitions


def merge_krmfile(base: bytes, ours: bytes, theirs: bytes) -> list[Lines | Clash]:
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
    merged = lines.merge(base or b"", ours or b"", theirs or b"") if both else lines.whole(ours or b"", theirs or b"")
    return [Clash(each.line + line - 1, each.ours, each.theirs) if isinstance(each, Clash) else each for each in merged]


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
