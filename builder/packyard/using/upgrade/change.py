"""One difference between two packages."""

from __future__ import annotations

from dataclasses import dataclass

#: What a directory with a kustomization is called, by its kind, in a package and in a library.
PARTS = {"Component": ("option", "overlay"), "Kustomization": ("use case", "base")}
_PART_WORDS = tuple(word for words in PARTS.values() for word in words)


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
        """Whether who relies on it has to act: a name is gone, a setter has another type, or has to be set now."""
        if self.change == "removed":
            return self.what in ("package", "setter", *_PART_WORDS)
        if self.what != "setter":
            return False
        adds_required = self.change == "added" and self.after is None
        return adds_required or self.path == "type" or (self.path == "required" and self.after is True)
