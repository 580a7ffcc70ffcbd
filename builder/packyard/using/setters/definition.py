"""What a Krmfile defines: setters, substitutions, and what a substitution yields.

    io.k8s.cli.setters.TAG          {name: TAG, value: "1.7"}
    io.k8s.cli.substitutions.IMAGE  {pattern: "nginx:${TAG}", values: [{marker: "${TAG}", ref: …setters.TAG}]}

``Definitions.expand("IMAGE")`` is then ``nginx:1.7``. Markers are replaced in the order of the list, everywhere in the
pattern, by the setter's value or by the other substitution's text (kustomize 3.8.7, `setters2.substituteUtil`).
Each substitution is resolved once, after those that it is made of; depth and length have bounds.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from packyard.core.errors import InputError, Problem
from packyard.using.setters.comment import DefinitionRef

_NOTHING: Mapping[str, Any] = {}
_DEEPEST = 100  # substitutions within one another
_LONGEST = 1 << 20  # characters of one text: no object of Kubernetes is larger
_MOST_WORK = 16 << 20  # characters of all texts that are asked for, and of what they are made from


_ALIASES = {"int": "integer", "bool": "boolean"}


def full_type(name: str) -> str:
    """Return the type that a definition names, by its name in OpenAPI: ``integer`` for ``int``."""
    return _ALIASES.get(name, name)


class Setter(NamedTuple):
    """One setter as its definition states it; texts are as written, without quotes.

    ``values`` are the definition's listValues, of a list setter; ``default`` and ``example`` are None where the
    definition has none; ``schema`` holds every OpenAPI keyword.
    """

    name: str
    value: str = ""
    values: tuple[str, ...] | None = None
    type: str = ""  # the keyword's own name
    description: str = ""
    required: bool = False
    is_set: bool = False
    set_by: str = ""
    default: str | None = None
    example: str | None = None
    enum_values: Mapping[str, str] = {}
    schema: Mapping[str, object] = {}
    file: str = ""
    line: int = 0

    @property
    def is_list(self) -> bool:
        """Whether the setter sets whole lists."""
        return self.type == "array"

    @property
    def shown(self) -> str:
        """The value as one text; the items of a list are in brackets."""
        return f"[{','.join(self.values)}]" if self.values else self.value

    @property
    def text(self) -> str:
        """What a field shows: the value, or what its name in ``enumValues`` stands for."""
        return self.enum_values.get(self.value, self.value)

    @property
    def texts(self) -> tuple[str, ...]:
        """The value as `set` takes it: the items of a list, or one text, which may be empty."""
        return (self.values or ()) if self.is_list else (self.value,)

    @property
    def must_be_set(self) -> bool:
        """Whether a value is required and none is there, whoever has set that."""
        return self.required and not self.has_value

    @property
    def has_value(self) -> bool:
        """Whether there is a value: a text or items."""
        return bool(self.values if self.is_list else self.value or self.values)

    def with_value(self, texts: Sequence[str]) -> "Setter":
        """Return the setter with another value: the items of a list, or the first text; none empties it."""
        if self.is_list:
            return self._replace(values=tuple(texts))
        return self._replace(value=next(iter(texts), ""))

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the value of this definition, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint, setter=self.name)


class Substitution(NamedTuple):
    """A pattern, and what each marker in it stands for."""

    name: str
    pattern: str
    markers: tuple[tuple[str, DefinitionRef | None], ...] = ()
    file: str = ""
    line: int = 0

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with this definition, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


class _Resolved(NamedTuple):
    """A substitution resolved: its text, the setters that it is made of, and how many are in one another."""

    text: str
    setters: frozenset[str]
    depth: int


class Definitions:
    """The definitions of one package directory, by name. They remember what each substitution was resolved to."""

    def __init__(
        self, setters: Mapping[str, Setter] = _NOTHING, substitutions: Mapping[str, Substitution] = _NOTHING
    ) -> None:
        self.setters = setters
        self.substitutions = substitutions
        self._resolved: dict[str, _Resolved] = {}
        self._work = 0

    def resolve(self, reference: DefinitionRef) -> Setter | Substitution | None:
        """Find what a comment refers to; the short form finds a setter before a substitution of the same name."""
        if reference.kind != "substitution" and reference.name in self.setters:
            return self.setters[reference.name]
        if reference.kind != "setter":
            return self.substitutions.get(reference.name)
        return None

    def expand(self, definition: Setter | Substitution) -> str:
        """Return the text that a setter has here, or that a substitution yields now.

        Raises `InputError` where a marker refers to nothing, for a substitution that contains itself or too many others
        within one another, and for a text that is too long.
        """
        if isinstance(definition, Setter):
            return self.setters[definition.name].text
        text = self._resolve(definition).text
        self._count(definition, len(text))
        return text

    def setters_of(self, definition: Setter | Substitution) -> frozenset[str]:
        """Return the names of all setters that a definition's text is made of; raises as `expand` does."""
        if isinstance(definition, Setter):
            return frozenset((definition.name,))
        return self._resolve(definition).setters

    def with_setters(self, changed: Mapping[str, Setter]) -> "Definitions":
        """Return these definitions with some setters replaced."""
        return Definitions({**self.setters, **changed}, self.substitutions)

    def _resolve(self, substitution: Substitution, within: tuple[str, ...] = ()) -> _Resolved:
        """Resolve a substitution after those that it is made of, each once.

        Raises the first fault that 3.8.7 meets, which reads a substitution from its first marker to its last.
        """
        name = substitution.name
        if name in self._resolved:
            return self._resolved[name]
        if name in within:
            raise InputError(substitution.problem(f"cyclic substitution detected with name {name}"))
        if len(within) == _DEEPEST:
            raise InputError(self._too_deep(self.substitutions.get(within[0], substitution)))
        text, setters, depth = substitution.pattern, frozenset[str](), 1
        for marker, reference in substitution.markers:
            target = self.resolve(reference) if reference else None
            if target is None:
                what = f"{reference.kind} {reference.name!r}, which is not defined" if reference else "nothing"
                message = f"marker {marker!r} of substitution {name!r} refers to {what}"
                raise InputError(substitution.problem(message))
            if isinstance(target, Setter):
                new, setters = target.text, setters | {target.name}
            else:
                below = self._resolve(target, (*within, name))
                new, setters, depth = below.text, setters | below.setters, max(depth, below.depth + 1)
            length = len(text) + text.count(marker) * (len(new) - len(marker))
            if length > _LONGEST:
                raise InputError(substitution.problem(f"substitution {name} yields more than {_LONGEST} characters"))
            self._count(substitution, length)
            text = text.replace(marker, new)
        if depth > _DEEPEST:
            raise InputError(self._too_deep(substitution))
        self._resolved[name] = _Resolved(text, setters, depth)
        return self._resolved[name]

    def _too_deep(self, substitution: Substitution) -> Problem:
        message = f"substitution {substitution.name} holds more than {_DEEPEST - 1} others, one within another"
        return substitution.problem(message, "write out what some of them stand for")

    def _count(self, substitution: Substitution, length: int) -> None:
        """Count the characters of all texts, and refuse too many: one long text may stand in many fields."""
        self._work += length
        if self._work > _MOST_WORK:
            message = f"fields have more than {_MOST_WORK} characters by substitutions, {substitution.name} among them"
            raise InputError(substitution.problem(message))
