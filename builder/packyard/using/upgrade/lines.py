"""A text merged by lines from three versions: what both sides changed since their base, as `git merge-file` does it.

    base    a b c d e        ours    a B c d e        theirs    a b c D e        merged    a B c D e

Changes of both sides that overlap or touch, and are not the same, clash: they stand beside each other until somebody
decides. In YAML, one side may change a line and the other the comment behind it:

    base    a: 1            ours    a: 2            theirs    a: 1 # C        merged    a: 2 # C
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import BytesIO
from itertools import pairwise

_MOST_WORK = 2_000_000  # pairs of equal lines that are looked at; texts with more are taken to differ as a whole

Lines = Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Clash:
    """Lines that both sides changed differently; ``line`` is where they begin in ours."""

    line: int
    ours: Lines
    theirs: Lines


def merge(base: bytes, ours: bytes, theirs: bytes, *, is_yaml: bool = False) -> list[Lines | Clash]:
    """Merge two versions of a text: runs of lines, and what clashes, in their order."""
    old, mine, yours = map(split, (base, ours, theirs))
    merged: list[Lines | Clash] = []
    at = left = right = 0  # the next line of each
    for end, (mine_at, yours_at) in enumerate(zip(_places(old, mine), _places(old, yours), strict=True)):
        if mine_at is None or yours_at is None:
            continue
        was, new_ours, new_theirs = old[at:end], mine[left:mine_at], yours[right:yours_at]
        if new_theirs in (was, new_ours):
            merged.append(new_ours)
        elif new_ours == was:
            merged.append(new_theirs)
        elif is_yaml and (line := _with_comment(was, new_ours, new_theirs)):
            merged.append([line])
        else:
            merged.append(Clash(left + 1, new_ours, new_theirs))
        merged.append(old[end : end + 1])
        at, left, right = end + 1, mine_at + 1, yours_at + 1
    return merged


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


def _places(old: Lines, new: Lines) -> list[int | None]:
    """Return where each line of the base stands in a version of it, None for those that do not; its end comes last."""
    most = min(len(old), len(new))
    begin = next((at for at in range(most) if old[at] != new[at]), most)
    tail = next((at for at in range(most - begin) if old[-1 - at] != new[-1 - at]), most - begin)
    before, after = old[begin : len(old) - tail], new[begin : len(new) - tail]
    blocks = [[0, 0, begin], [len(old) - tail, len(new) - tail, tail]]  # of equal lines: where in both, and how many
    counts = Counter(before)
    if sum(counts[line] for line in after) <= _MOST_WORK:
        matches = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()[:-1]
        blocks[1:1] = [[begin + match.a, begin + match.b, match.size] for match in matches]
    # Lines added or removed beside others like them are the last of these, as in git: two sides that add or remove the
    # same line do it at the same place.
    for above, below in reversed(list(pairwise(blocks))):
        while below[2]:
            at, to = above[0] + above[2], above[1] + above[2]
            if (at < below[0] and to < below[1]) or old[at] != new[to]:
                break
            above[2] += 1
            below[:] = below[0] + 1, below[1] + 1, below[2] - 1
    places: list[int | None] = [None] * len(old)
    for at, to, size in blocks:
        places[at : at + size] = range(to, to + size)
    return [*places, len(new)]
