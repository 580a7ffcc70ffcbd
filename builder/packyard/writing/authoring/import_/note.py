"""What an author has to know of an import: what was left out, and what is doubtful, with what to do about it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

LOST, DOUBTFUL = "lost", "doubtful"


@dataclass(frozen=True, slots=True)
class Note:
    """What happened, what to do about it, and each case of it: a place of the input, and what stands there."""

    kind: str
    what: str
    todo: str
    cases: tuple[str, ...] = ()

    def with_paths(self, paths: Mapping[str, str]) -> "Note":
        """Return the note with paths that begin otherwise."""
        cases = (reduce(lambda text, path: text.replace(*path), paths.items(), case) for case in self.cases)
        return replace(self, cases=tuple(cases))


def joined(notes: Iterable[Note]) -> list[Note]:
    """Return each thing once, with all its cases; what was lost first."""
    by_key: dict[tuple[str, str, str], list[str]] = {}
    for note in notes:
        by_key.setdefault((note.kind, note.what, note.todo), []).extend(note.cases)
    once = [Note(*key, tuple(dict.fromkeys(cases))) for key, cases in by_key.items()]
    return sorted(once, key=lambda note: (note.kind != LOST, note.what))


def page(origin: str, notes: Sequence[Note]) -> str:
    """Write notes as a page with boxes to tick."""
    lines = [f"# Imported from {origin}", "", "Delete this file when all is done. It is not shipped.", ""]
    for kind, title in ((LOST, "Lost"), (DOUBTFUL, "Doubtful")):
        some = [note for note in notes if note.kind == kind]
        lines += [f"## {title}", ""] if some else []
        for note in some:
            cases = [f"- [ ] {case}" for case in note.cases] or ["- [ ] done"]
            lines += [f"### {note.what[0].upper()}{note.what[1:]}", "", f"To do: {note.todo}.", "", *cases, ""]
    return "\n".join(lines)
