"""What differs, in words: each change in a sentence, or a sentence for each kind of change.

parameter WORKERS: default 2 → 4                            parameter WORKERS: default 2 → 4
Job run: spec.completions 2 → 4 (by WORKERS)                2 fields changed: Job
Job run: spec.parallelism 2 → 4 (by WORKERS)
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from packyard.core.errors import shown
from packyard.core.yaml.strict import read_plain
from packyard.using.upgrade.change import Change

_WORDS = {"setter": "parameter"}  # of users
_LONGEST = 80  # characters of a value


def text(changes: Sequence[Change]) -> list[str]:
    """Return a sentence for each change."""
    return [f"{_mark(change)}{sentence(change)}" for change in changes]


def summary(changes: Sequence[Change]) -> list[str]:
    """Return a sentence for each kind of change; of objects only the kinds are named."""
    kinds: dict[tuple[str, ...], list[Change]] = {}
    for change in changes:
        how = "changed" if change.path else change.change
        if change.path and change.is_breaking:
            how = "now required" if change.path == "required" else f"changed their {change.path}"
        kinds.setdefault((_mark(change), change.what, how, change.note), []).append(change)
    sentences = []
    for (mark, what, how, note), alike in sorted(kinds.items(), key=lambda item: not item[0][0]):
        if len(alike) == 1 and what not in ("field", "object"):
            sentences.append(f"{mark}{sentence(alike[0])}")
            continue
        of_kind = what in ("field", "object")
        names = dict.fromkeys(change.name.partition(" ")[0] if of_kind else change.name for change in alike)
        noun = _WORDS.get(what, what)
        counted = f"{mark}{len(alike)} {noun}{'s' * (len(alike) > 1)} {how}: {', '.join(names)}"
        sentences.append(counted + (f" ({note})" if note else ""))
    return sentences


def _mark(change: Change) -> str:
    return "BREAKING: " if change.is_breaking else ""


def sentence(change: Change) -> str:
    """Say what differs."""
    word = "" if change.what in ("object", "field") else _WORDS.get(change.what, change.what)
    subject = " ".join(filter(None, (word, change.name)))
    if change.path == "required":
        return f"{subject}: {'now' if change.after else 'no longer'} required"
    if change.path:
        by = f" (by {change.setter})" if change.setter and change.change != "bound" else ""
        return f"{subject}: {change.path} {_values(change)}{by}"
    if change.what == "setter" and change.change == "added":
        default = "to be set" if change.after is None else f"default {_value(change, change.after)}"
        return f"{subject} added, {default}"
    return f"{subject} {change.change}" + (f": {change.note}" if change.note else "")


def _values(change: Change) -> str:
    before, after = (_value(change, value) for value in (change.before, change.after))
    if change.change == "bound":
        if change.after is None:
            return f"is no longer set by {before}"
        return f"is set by {after} now" + ("" if change.before is None else f", and no longer by {before}")
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
