"""What a Krmfile defines: setters, substitutions, and what a substitution yields.

    io.k8s.cli.setters.TAG          {name: TAG, value: "1.7"}
    io.k8s.cli.substitutions.IMAGE  {pattern: "nginx:${TAG}", values: [{marker: "${TAG}", ref: …setters.TAG}]}

``Definitions.expand("IMAGE")`` is then ``nginx:1.7``. Markers are replaced in the order of the list, everywhere in the
pattern, by the setter's value or by the other substitution's text (kustomize 3.8.7, `setters2.substituteUtil`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from packyard.errors import InputError, Problem
from packyard.setters.comment import Reference


@dataclass(frozen=True, slots=True)
class Setter:
    """One setter as its definition states it; texts are as written, without quotes."""

    name: str
    value: str = ""
    values: tuple[str, ...] | None = None  # of a list setter, the definition's listValues
    type: str = ""
    description: str = ""
    required: bool = False
    is_set: bool = False
    set_by: str = ""
    default: str | None = None  # None: the definition records none
    example: str | None = None
    enum_values: Mapping[str, str] = field(default_factory=dict)
    schema: Mapping[str, object] = field(default_factory=dict)  # every OpenAPI keyword of the definition
    file: str = ""
    line: int = 0

    @property
    def is_list(self) -> bool:
        """Whether the setter sets whole lists."""
        return self.type == "array"

    @property
    def text(self) -> str:
        """What a field shows: the value, or what its name in ``enumValues`` stands for."""
        return self.enum_values.get(self.value, self.value)

    @property
    def must_be_set(self) -> bool:
        """Whether a value is required and none is there: neither set by anyone, nor shipped."""
        return self.required and not self.is_set and not self.value and not self.values

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with this definition, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


@dataclass(frozen=True, slots=True)
class Substitution:
    """A pattern, and what each marker in it stands for."""

    name: str
    pattern: str
    markers: tuple[tuple[str, Reference | None], ...] = ()
    file: str = ""
    line: int = 0

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with this definition, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definitions of one package directory."""

    setters: Mapping[str, Setter] = field(default_factory=dict)
    substitutions: Mapping[str, Substitution] = field(default_factory=dict)

    def resolve(self, reference: Reference) -> Setter | Substitution | None:
        """Find what a comment refers to; the short form finds a setter before a substitution of the same name."""
        if reference.kind != "substitution" and reference.name in self.setters:
            return self.setters[reference.name]
        if reference.kind != "setter":
            return self.substitutions.get(reference.name)
        return None

    def expand(self, substitution: Substitution) -> str:
        """Return the text that a substitution yields now.

        Raises `InputError` where a marker refers to nothing, and for a substitution that contains itself.
        """
        return self._expand(substitution, ())

    def _expand(self, substitution: Substitution, within: tuple[str, ...]) -> str:
        within = _enter(substitution, within)
        text = substitution.pattern
        for marker, target in self._targets(substitution):
            text = text.replace(marker, target.text if isinstance(target, Setter) else self._expand(target, within))
        return text

    def setters_of(self, definition: Setter | Substitution, within: tuple[str, ...] = ()) -> frozenset[str]:
        """Return the names of all setters that a definition's text is made of; raises as `expand` does."""
        if isinstance(definition, Setter):
            return frozenset((definition.name,))
        within = _enter(definition, within)
        return frozenset().union(*(self.setters_of(target, within) for _, target in self._targets(definition)))

    def _targets(self, substitution: Substitution) -> Iterator[tuple[str, Setter | Substitution]]:
        for marker, reference in substitution.markers:
            target = self.resolve(reference) if reference else None
            if target is None:
                what = f"{reference.kind} {reference.name!r}, which is not defined" if reference else "nothing"
                raise InputError(
                    substitution.problem(f"marker {marker!r} of substitution {substitution.name!r} refers to {what}")
                )
            yield marker, target

    def with_setters(self, changed: Mapping[str, Setter]) -> Definitions:
        """Return these definitions with some setters replaced."""
        return replace(self, setters={**self.setters, **changed})


def _enter(substitution: Substitution, within: tuple[str, ...]) -> tuple[str, ...]:
    if substitution.name in within:
        raise InputError(substitution.problem(f"cyclic substitution detected with name {substitution.name}"))
    return (*within, substitution.name)
