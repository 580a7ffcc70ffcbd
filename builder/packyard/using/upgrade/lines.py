"""A text merged by lines from three versions: what both sides changed since their base, as `git merge-file` does it.

    base    a b c d e        ours    a B c d e        theirs    a b c D e        merged    a B c D e

Changes of both sides that overlap or touch, and are not the same, clash: they stand beside each other until somebody
decides. In YAML, one side may change a line and the other the comment behind it:

    base    a: 1            ours    a: 2            theirs    a: 1 # C        merged    a: 2 # C
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import BytesIO

_MOST_WORK = 2_000_000  # pairs of equal lines that are looked at; texts with more are taken to differ as a whole

Lines = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Clash:
    """Lines that both sides changed differently; ``line`` is where they begin in ours."""

    line: int
    ours: Lines
    theirs: Lines


@dataclass(frozen=True, slots=True)
class Change:
    """Lines of the base, from ``start`` up to ``end``, that one side replaced."""

    start: int
    end: int
    new: Lines


#: Lines of the base, from a start up to an end, and the changes of ours and of theirs in them.
Span = tuple[int, int, tuple[list[Change], list[Change]]]


def merge(base: bytes, ours: bytes, theirs: bytes, *, is_yaml: bool = False) -> list[Lines | Clash]:
    """Merge two versions of a text: runs of lines, and what clashes, in their order."""
    old, one, other = map(split, (base, ours, theirs))
    merged: list[Lines | Clash] = []
    at = shift = 0  # the next line of the base; how much further it stands in ours
    for start, end, sides in _overlapping(changes(old, one), changes(old, other)):
        new_ours, new_theirs = (_replayed(old, side, start, end) for side in sides)
        merged.append(old[at:start])
        if new_theirs in (old[start:end], new_ours):
            merged.append(new_ours)
        elif new_ours == old[start:end]:
            merged.append(new_theirs)
        elif is_yaml and (line := _with_comment(old[start:end], new_ours, new_theirs)):
            merged.append([line])
        else:
            merged.append(Clash(start + shift + 1, new_ours, new_theirs))
        at, shift = end, shift + len(new_ours) - (end - start)
    return [*merged, old[at:]]


def _with_comment(old: Lines, ours: Lines, theirs: Lines) -> bytes:
    """Return a line that one side changed before its comment, and the other behind that; nothing for others."""
    if not len(old) == len(ours) == len(theirs) == 1:
        return b""
    before, mine, yours = (_parts(lines[0]) for lines in (old, ours, theirs))
    for left, right in ((mine, yours), (yours, mine)):
        if left[1] == before[1] and right[0] == before[0]:
            return left[0] + right[1]
    return b""


def _parts(line: bytes) -> tuple[bytes, bytes]:
    text = line.partition(b" #")[0].rstrip()
    return text, line[len(text) :]


def whole(ours: bytes, theirs: bytes) -> list[Lines | Clash]:
    """Return two texts as one clash: those that cannot be merged."""
    return [Clash(1, split(ours), split(theirs))]


def clashes(merged: Sequence[Lines | Clash]) -> list[Clash]:
    """Return what clashes."""
    return [part for part in merged if isinstance(part, Clash)]


def decided(merged: Sequence[Lines | Clash], decision: str, version: str) -> bytes:
    """Return the text, with ``ours`` or ``theirs`` of what clashes, or else both, between markers as git has them."""
    return b"".join(line for part in merged for line in _decided(part, decision, version))


def _decided(part: Lines | Clash, decision: str, version: str) -> Lines:
    if not isinstance(part, Clash):
        return part
    if decision in ("ours", "theirs"):
        return part.ours if decision == "ours" else part.theirs
    ours, theirs, end = _ended(part.ours), _ended(part.theirs), f">>>>>>> {version}\n".encode()
    return [b"<<<<<<< yours\n", *ours, b"=======\n", *theirs, end]


def _ended(lines: Lines) -> Lines:
    """Return lines of which the last one ends too."""
    return lines if not lines or lines[-1].endswith(b"\n") else [*lines[:-1], lines[-1] + b"\n"]


def split(data: bytes) -> list[bytes]:
    """Return the lines of a text, each with its end."""
    return BytesIO(data).readlines()


def changes(old: Lines, new: Lines) -> Iterator[Change]:
    """Yield what one side replaced, in the order of the base."""
    most = min(len(old), len(new))
    begin = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - begin) if old[-1 - at] != new[-1 - at]), most - begin)
    before, after = old[begin : len(old) - tail], new[begin : len(new) - tail]
    counts = Counter(before)
    if sum(counts[line] for line in after) > _MOST_WORK:
        yield Change(begin, begin + len(before), after)
        return
    # Lines added or removed beside others like them are the last of these, as in git: two sides that add or remove the
    # same line do it at the same place.
    changed: list[Change] = []
    for tag, start, end, first, last in reversed(SequenceMatcher(None, before, after, autojunk=False).get_opcodes()):
        if tag == "equal":
            continue
        at, to, turning = begin + start, begin + end, deque(after[first:last] or before[start:end])
        limit = changed[-1].start if changed else len(old)
        while tag != "replace" and to < limit and old[to] == turning[0]:
            at, to = at + 1, to + 1
            turning.rotate(-1)
        changed.append(Change(at, to, [] if tag == "delete" else list(turning)))
    yield from reversed(changed)


def _overlapping(ours: Iterable[Change], theirs: Iterable[Change]) -> list[Span]:
    """Return the lines of the base that changes span, those that overlap or touch together, with those of each side."""
    spans: list[Span] = []
    both = [*((change, 0) for change in ours), *((change, 1) for change in theirs)]
    for change, side in sorted(both, key=lambda pair: pair[0].start):
        is_apart = not spans or change.start > spans[-1][1]
        start, end, sides = (change.start, change.end, ([], [])) if is_apart else spans.pop()
        sides[side].append(change)
        spans.append((start, max(end, change.end), sides))
    return spans


def _replayed(old: Lines, changes: Sequence[Change], start: int, end: int) -> list[bytes]:
    """Return some lines of the base with changes made."""
    lines: list[bytes] = []
    for change in changes:
        lines += [*old[start : change.start], *change.new]
        start = change.end
    return [*lines, *old[start:end]]
