"""What a Krmfile defines: setters, substitutions, and what a substitution yields.

    io.k8s.cli.setters.TAG          {name: TAG, value: "1.7"}
    io.k8s.cli.substitutions.IMAGE  {pattern: "nginx:${TAG}", values: [{marker: "${TAG}", ref: …setters.TAG}]}

``Definitions.expand("IMAGE")`` is then ``nginx:1.7``. Markers are replaced in the order of the list, everywhere in the
pattern, by the setter's value or by the other substitution's text (kustomize 3.8.7, `setters2.substituteUtil`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packyard.errors import InputError, Problem
from packyard.setters.comment import Reference
from packyard.text.value import Value

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from typing import Any

_NOTHING: Mapping[str, Any] = {}


class Setter(Value):
    """One setter as its definition states it; texts are as written, without quotes.

    ``values`` are the definition's listValues, of a list setter; ``default`` and ``example`` are None where the
    definition has none; ``schema`` holds every OpenAPI keyword.
    """

    __slots__ = (
        *("name", "value", "values", "type", "description", "required", "is_set", "set_by"),
        *("default", "example", "enum_values", "schema", "file", "line"),
    )

    def __init__(
        self,
        name: str,
        value: str = "",
        values: tuple[str, ...] | None = None,
        type: str = "",  # the keyword's own name
        description: str = "",
        required: bool = False,
        is_set: bool = False,
        set_by: str = "",
        default: str | None = None,
        example: str | None = None,
        enum_values: Mapping[str, str] = _NOTHING,
        schema: Mapping[str, object] = _NOTHING,
        file: str = "",
        line: int = 0,
    ) -> None:
        self.name = name
        self.value = value
        self.values = values
        self.type = type
        self.description = description
        self.required = required
        self.is_set = is_set
        self.set_by = set_by
        self.default = default
        self.example = example
        self.enum_values = enum_values
        self.schema = schema
        self.file = file
        self.line = line

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


class Substitution(Value):
    """A pattern, and what each marker in it stands for."""

    __slots__ = ("file", "line", "markers", "name", "pattern")

    def __init__(
        self,
        name: str,
        pattern: str,
        markers: tuple[tuple[str, Reference | None], ...] = (),
        file: str = "",
        line: int = 0,
    ) -> None:
        self.name = name
        self.pattern = pattern
        self.markers = markers
        self.file = file
        self.line = line

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with this definition, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


class Definitions(Value):
    """The definitions of one package directory, by name."""

    __slots__ = ("setters", "substitutions")

    def __init__(
        self, setters: Mapping[str, Setter] = _NOTHING, substitutions: Mapping[str, Substitution] = _NOTHING
    ) -> None:
        self.setters = setters
        self.substitutions = substitutions

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
        return self.replaced(setters={**self.setters, **changed})


def _enter(substitution: Substitution, within: tuple[str, ...]) -> tuple[str, ...]:
    if substitution.name in within:
        raise InputError(substitution.problem(f"cyclic substitution detected with name {substitution.name}"))
    return (*within, substitution.name)
