"""What differs, in words: each change once, below all the places that have it.

bert-k8s/multi-node/nfs
bert-k8s/multi-node/pvc
  setter WORKERS: default 2 → 4
  Job run: spec.completions 2 → 4 (set by WORKERS)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from packyard.core.errors import shown
from packyard.core.yaml.strict import read_plain
from packyard.using.upgrade.difference import Change

_LONGEST = 80  # characters of a value

#: What differs, by packages.
Found = Mapping[str, Sequence[Change]]


def document(package: str, change: Change) -> dict[str, object]:
    """Return a change as JSON."""
    fields = ("where", "what", "name", "path", "change", "before", "after", "setter", "note")
    values = {field: getattr(change, field) for field in fields}
    return {"package": package, **values, "breaking": change.is_breaking}


def text(changes_by_package: Found) -> Iterator[str]:
    """Yield the lines for a terminal."""
    for places, changes in _grouped(changes_by_package):
        yield from places
        yield from (f"  {'BREAKING: ' if change.is_breaking else ''}{sentence(change)}" for change in changes)


def sentence(change: Change) -> str:
    """Say what differs."""
    word = "" if change.what in ("object", "field") else change.what
    subject = " ".join(filter(None, (word, change.name)))
    if change.path == "required":
        return f"{subject}: {'now' if change.after else 'no longer'} required"
    if change.path:
        by = f" (set by {change.setter})" if change.setter and change.change != "bound" else ""
        return f"{subject}: {change.path} {_values(change)}{by}"
    if change.what == "setter" and change.change == "added":
        default = "to be set" if change.after is None else f"default {_value(change, change.after)}"
        return f"{subject} added, {default}"
    return f"{subject} {change.change}" + (f": {change.note}" if change.note else "")


def _values(change: Change) -> str:
    before, after = (_value(change, value) for value in (change.before, change.after))
    if change.change == "bound":
        if change.after is None:
            return f"no longer set by {before}"
        return f"set by {after} now" + ("" if change.before is None else f", not by {before}")
    if change.change in ("added", "removed"):
        return f"{change.change}: {after if change.change == 'added' else before}"
    return f"{'in another order: ' if change.change == 'reordered' else ''}{before} → {after}"


def _value(change: Change, value: object) -> str:
    """Write a value; that of a field is in quotes where the text could be taken for something else."""
    if change.what != "field" and value is None:
        return "none"
    if isinstance(value, str) and value and (change.what != "field" or read_plain(value) == value):
        return shown(value)
    shown_value = json.dumps(value, ensure_ascii=False)
    return shown_value if len(shown_value) <= _LONGEST else shown_value[:_LONGEST] + "…"


def _grouped(changes_by_package: Found) -> list[tuple[tuple[str, ...], list[Change]]]:
    """Return the changes by the places that share them; of objects that differ by name alone only the kind is named."""
    alike: dict[str, tuple[Change, dict[str, str]]] = {}
    for package, changes in changes_by_package.items():
        for change in changes:
            row = document("", change)
            del row["where"]
            if change.what in ("object", "field"):
                row["name"] = change.name.partition(" ")[0]
            _, names = alike.setdefault(json.dumps(row), (change, {}))
            names["/".join(filter(None, (package, change.where)))] = change.name
    groups: dict[tuple[str, ...], list[Change]] = {}
    for change, names in alike.values():
        is_one = len(set(names.values())) == 1
        group = groups.setdefault(tuple(names), [])
        group.append(change if is_one else replace(change, name=change.name.partition(" ")[0]))
    return list(groups.items())
