"""One file merged from three versions: kept, taken, removed, or merged by lines to what is YAML still."""

import re
from collections.abc import Iterator

from packyard.core.errors import InputError, Problem
from packyard.core.yaml.document import check_keys, parse_file
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.upgrade import lines

_YAML = (".yaml", ".yml", KRMFILE, "Kustomization")
_KEY = re.compile(rb"( *)[\"']?io\.k8s\.cli\.")
_MOST_LINES, _WIDTH = 3, 100  # that a message shows of a side


def merge(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, decision: str, new: str
) -> tuple[bytes | None, list[Problem]]:
    """Merge three versions of a file, None where there is none; return it, and what conflicts."""
    if ours in (base, theirs):
        return theirs, []
    if theirs == base:
        return ours, []
    if ours is None or theirs is None:
        message = f"is removed here, and changed by {new}" if ours is None else f"is changed here, and removed by {new}"
        survivor = {"ours": ours, "theirs": theirs}.get(decision, theirs if ours is None else ours)
        return survivor, [Problem(message, file=path, line=0 if ours is None else 1)]
    is_text = b"\0" not in ours + theirs + (base or b"")
    is_yaml = path.endswith(_YAML)
    merged = lines.merge(base or b"", ours, theirs, is_yaml=is_yaml) if is_text else lines.whole(ours, theirs)
    if is_text and path.endswith(KRMFILE) and lines.clashes(merged):
        by_definition = _by_definition(base or b"", ours, theirs)
        merged = by_definition if lines.clashes(by_definition) else merged
    fault = "" if lines.clashes(merged) else _unfit(path, ours, theirs, lines.decided(merged, decision, new))
    if fault:
        merged = lines.whole(ours, theirs)
    conflicts = [
        Problem(fault or "\n".join((_described(clash, new), *_sides(clash, new))), file=path, line=clash.line)
        for clash in lines.clashes(merged)
    ]
    return lines.decided(merged, decision, new), conflicts


def _by_definition(base: bytes, ours: bytes, theirs: bytes) -> list[lines.Lines | lines.Clash]:
    """Merge each definition of a Krmfile on its own; one in which something clashes, or that is gone, is a whole."""
    old, mine, yours = map(_definitions, (base, ours, theirs))
    merged: list[lines.Lines | lines.Clash] = []
    for key in dict.fromkeys([b"", *(key for key in mine if key not in yours), *yours]):
        was, left, right = (side.get(key, []) for side in (old, mine, yours))
        parts = lines.merge(*map(b"".join, (was, left, right)), is_yaml=True)
        place = lines.split(ours + b"\n").index(left[0]) + 1 if left and lines.clashes(parts) else 1
        merged += [lines.Clash(place, left, right)] if lines.clashes(parts) else parts
    return merged


def _definitions(krmfile: bytes) -> dict[bytes, list[bytes]]:
    """Return the lines of each definition by its first; so are those that come before the first of them, and others."""
    units: dict[bytes, list[bytes]] = {b"": []}
    name, depth = b"", None
    for line in lines.split(krmfile):
        key, text = _KEY.match(line), line.strip()
        if key or (depth is not None and text[:1] not in (b"", b"#") and not line.startswith(depth + b" ")):
            name, depth = line.rstrip(), key[1] if key else None
        units.setdefault(name, []).append(line if line.endswith(b"\n") else line + b"\n")
    return units


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
    fault = _fault(path, merged) if path.endswith(_YAML) else ""
    if not fault or _fault(path, ours) or _fault(path, theirs):
        return ""
    return f"the changes here and those of the new version do not fit together: {fault}"


def _fault(path: str, data: bytes) -> str:
    try:
        for document in parse_file(data, path):
            check_keys(document)
    except InputError as error:
        return error.problems[0].message
    return ""
