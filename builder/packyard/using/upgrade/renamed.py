"""Files that one side of a merge renamed, told by their content as git tells them: the same, or most of its lines.

    base    config-map.yaml      ours    settings.yaml, which differs in a line        config-map.yaml -> settings.yaml

Files whose names mean something keep them: Krmfiles, kustomizations, packyard.json.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from posixpath import basename, splitext

from packyard.core.bundle import manifest
from packyard.core.kubernetes import kustomization
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.upgrade.difference import Files

_FIXED = (KRMFILE, manifest.FILE, *kustomization.NAMES)
_ALIKE = 0.5  # the share of lines that a renamed file has at least in common with the one that it was
_MOST = 10_000  # pairs of files that are compared; with more of them none counts as renamed


def find(base: Files, side: Files) -> dict[str, str]:
    """Return the files of the base that a side has under another name, each with that."""
    gone = [path for path in base if path not in side and basename(path) not in _FIXED]
    new = [path for path in side if path not in base and basename(path) not in _FIXED]
    if len(gone) * len(new) > _MOST:
        return {}
    alike = sorted(
        (-_likeness(base[old], side[path]), old, path) for old in gone for path in new if _same_kind(old, path)
    )
    names: dict[str, str] = {}
    for likeness, old, path in alike:
        if -likeness >= _ALIKE and old not in names and path not in names.values():
            names[old] = path
    return names


def moved(files: Files, names: Mapping[str, str]) -> dict[str, bytes]:
    """Return files under their new names."""
    return {names.get(path, path): data for path, data in files.items()}


def _same_kind(one: str, other: str) -> bool:
    return splitext(one)[1] == splitext(other)[1]


def _likeness(one: bytes, other: bytes) -> float:
    if one == other:
        return 1.0
    lines = [Counter(line for line in data.split(b"\n") if line.strip()) for data in (one, other)]
    whole = sum(lines[0].values()) + sum(lines[1].values())
    return 2 * sum((lines[0] & lines[1]).values()) / whole if whole else 0.0
