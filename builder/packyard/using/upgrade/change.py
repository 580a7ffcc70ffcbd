"""One difference between two packages, and what differs in words: each in a sentence, or one for each kind of change.

parameter WORKERS: default 2 → 4                            parameter WORKERS: default 2 → 4
Job run: spec.completions 2 → 4 (by WORKERS)                2 fields changed: Job
Job run: spec.parallelism 2 → 4 (by WORKERS)
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from packyard.core.errors import shown
from packyard.core.yaml.strict import read_plain
from packyard.using.setters.check import KEYWORDS, is_number

#: What a directory with a kustomization is called, which may be that of a Component, in a package and in a library.
PARTS = (("use case", "base"), ("option", "overlay"))
_WORDS = {"setter": "parameter"}  # of users
_LONGEST = 80  # characters of a value
#: What a setter states that refuses values.
_NARROWING = {"required", "enumValues", *KEYWORDS} - {"nullable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference in the directory ``where`` of a package (empty: the package itself).

    ``what`` is a package, use case, option, base or overlay (``name`` is empty), a setter, substitution, rule,
    requirement, object, field or file. ``path`` is that of a field in the object ``name``, or says what of a definition
    differs: ``default``, ``required``, ``type``. ``change`` is added, removed, changed, or of a list reordered, whose
    values are the names of its items, or of a field bound, whose values are what sets it; ``setter`` sets the field
    now; ``note`` says what replaced what was removed, or why a file was not compared by fields.
    """

    where: str
    what: str
    name: str = ""
    path: str = ""
    change: str
    before: object = None
    after: object = None
    setter: str = ""
    note: str = ""

    @property
    def is_breaking(self) -> bool:
        """Whether who relies on it has to act: a name is gone, or a setter has to be set, or takes less than before."""
        if self.change == "removed":
            return self.what in ("package", "setter", *PARTS[0], *PARTS[1])
        if self.what != "setter":
            return False
        adds_required = self.change == "added" and self.after is None
        return adds_required or self.path == "type" or self._narrows(self.before, self.after)

    def _narrows(self, old: object, new: object) -> bool:
        """Whether a keyword of a setter admits less than before, or may."""
        if isinstance(old, Collection) and isinstance(new, Collection) and self.path.startswith("enum"):
            return any(item not in new for item in old)
        if is_number(old) and is_number(new) and self.path.startswith(("min", "max")):
            return old < new if self.path.startswith("min") else new < old
        return self.path in _NARROWING and new not in (None, False)


def sentences_of(changes: Sequence[Change]) -> list[str]:
    """Return a sentence for each change."""
    return [f"{_mark(change)}{_sentence(change)}" for change in changes]


def summary_of(changes: Sequence[Change]) -> list[str]:
    """Return a sentence for each kind of change; of objects only the kinds are named."""
    kinds: dict[tuple[str, ...], list[Change]] = {}
    for change in changes:
        how = "changed" if change.path else change.change
        if change.path and change.is_breaking:
            how = "now required" if change.path == "required" else f"changed their {change.path}"
        kinds.setdefault((_mark(change), change.what, how, change.note), []).append(change)
    listed = []
    for (mark, what, how, note), alike in sorted(kinds.items(), key=lambda item: not item[0][0]):
        if len(alike) == 1 and what not in ("field", "object"):
            listed.append(f"{mark}{_sentence(alike[0])}")
            continue
        of_kind = what in ("field", "object")
        names = dict.fromkeys(change.name.partition(" ")[0] if of_kind else change.name for change in alike)
        names.pop("Any", None)  # as patches of options call the kind of what they change
        how += f": {', '.join(names)}" if names else ""
        noun = _WORDS.get(what, what)
        number = len(alike) if of_kind else len({change.name for change in alike})
        counted = f"{mark}{number} {noun}{'s' * (number > 1)} {how}"
        listed.append(counted + (f" ({note})" if note else ""))
    return listed


def _mark(change: Change) -> str:
    return "BREAKING: " if change.is_breaking else ""


def _sentence(change: Change) -> str:
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
