"""What a Krmfile defines: setters, substitutions, and what a substitution yields.

    io.k8s.cli.setters.TAG          {name: TAG, value: "1.7"}
    io.k8s.cli.substitutions.IMAGE  {pattern: "nginx:${TAG}", values: [{marker: "${TAG}", ref: …setters.TAG}]}

``Definitions.expand("IMAGE")`` is then ``nginx:1.7``. Markers are replaced in the order of the list, everywhere in the
pattern, by the setter's value or by the other substitution's text (kustomize 3.8.7, `setters2.substituteUtil`).
Each substitution is resolved once, after those that it is made of; depth and length have bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import dropwhile
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

    def with_value(self, texts: Sequence[str]) -> Setter:
        """Return the setter with another value: the items of a list, or the first text; none empties it."""
        if self.is_list:
            return self._replace(values=tuple(texts))
        return self._replace(value=next(iter(texts), ""))

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with this definition, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


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


class _Resolved:
    """A substitution resolved: what its markers stand for, its setters as bits, and its text once somebody has asked.

    ``targets`` are those of its markers, up to one that refers to nothing, and ``fault`` its own.
    """

    def __init__(self, targets: tuple[tuple[str, Setter | Substitution], ...], fault: Problem | None = None) -> None:
        self.targets = targets
        self.fault = fault
        self.is_broken = fault is not None  # or by that of a target
        self.bits = 0
        self.depth = 1
        self.text: str | None = None

    @property
    def below(self) -> list[Substitution]:
        """The substitutions among the targets."""
        return [target for _, target in self.targets if isinstance(target, Substitution)]


class Definitions:
    """The definitions of one package directory, by name. They remember what each substitution was resolved to."""

    def __init__(
        self, setters: Mapping[str, Setter] = _NOTHING, substitutions: Mapping[str, Substitution] = _NOTHING
    ) -> None:
        self.setters = setters
        self.substitutions = substitutions
        self._bits: dict[str, int] = {}
        self._resolved: dict[str, _Resolved] = {}
        self._faults: dict[str, Problem] = {}
        self._work = 0

    def resolve(self, reference: DefinitionRef) -> Setter | Substitution | None:
        """Find what a comment refers to; the short form finds a setter before a substitution of the same name."""
        if reference.kind != "substitution" and reference.name in self.setters:
            return self.setters[reference.name]
        if reference.kind != "setter":
            return self.substitutions.get(reference.name)
        return None

    def expand(self, substitution: Substitution) -> str:
        """Return the text that a substitution yields now.

        Raises `InputError` where a marker refers to nothing, for a substitution that contains itself or too many others
        within one another, and for a text that is too long.
        """
        self._resolve(substitution)
        text: str | None = None
        todo = [substitution]
        while todo:
            current = todo[-1]
            resolved = self._resolved[current.name]
            missing = [target for target in resolved.below if self._resolved[target.name].text is None]
            if resolved.text is None and missing:
                todo += missing
                continue
            if resolved.text is None:
                resolved.text = self._write(current, resolved)
            text = resolved.text
            todo.pop()
        assert text is not None
        self._count(substitution, len(text))
        return text

    def setters_of(self, definition: Setter | Substitution) -> frozenset[str]:
        """Return the names of all setters that a definition's text is made of; raises as `expand` does."""
        if isinstance(definition, Setter):
            return frozenset((definition.name,))
        bits = self._resolve(definition).bits
        return frozenset(name for name, bit in self._bits.items() if bits & bit)

    def reached(self, definition: Setter | Substitution, names: Collection[str]) -> list[str]:
        """Return those of some setters that a definition's text is made of; raises as `expand` does."""
        if isinstance(definition, Setter):
            return [definition.name] if definition.name in names else []
        bits = self._resolve(definition).bits
        return [name for name in names if bits & self._bits.get(name, 0)]

    def with_setters(self, changed: Mapping[str, Setter]) -> Definitions:
        """Return these definitions with some setters replaced."""
        return Definitions({**self.setters, **changed}, self.substitutions)

    def _resolve(self, substitution: Substitution) -> _Resolved:
        """Resolve a substitution after those that it is made of, each once; raises the first fault of any of them."""
        todo = [substitution]
        within: set[str] = set()
        while todo:
            current = todo[-1]
            resolved = self._resolved.get(current.name)
            if resolved is None:
                resolved = self._resolved[current.name] = self._find_targets(current)
                within.add(current.name)
                below = resolved.below
                resolved.is_broken = resolved.is_broken or any(target.name in within for target in below)
                todo += [target for target in below if target.name not in self._resolved]
                continue
            if current.name in within:
                self._join(current, resolved)
            within.discard(current.name)
            todo.pop()
        resolved = self._resolved[substitution.name]
        if resolved.is_broken:
            raise InputError(self._fault(substitution))
        return resolved

    def _find_targets(self, substitution: Substitution) -> _Resolved:
        """Find what each marker stands for."""
        targets: list[tuple[str, Setter | Substitution]] = []
        for marker, reference in substitution.markers:
            target = self.resolve(reference) if reference else None
            if target is None:
                what = f"{reference.kind} {reference.name!r}, which is not defined" if reference else "nothing"
                message = f"marker {marker!r} of substitution {substitution.name!r} refers to {what}"
                return _Resolved(tuple(targets), substitution.problem(message))
            targets.append((marker, target))
        return _Resolved(tuple(targets))

    def _join(self, substitution: Substitution, resolved: _Resolved) -> None:
        """Join the setters, the depths and the faults of the targets of a substitution."""
        for _, target in resolved.targets:
            if isinstance(target, Setter):
                resolved.bits |= self._bits.setdefault(target.name, 1 << len(self._bits))
                continue
            below = self._resolved[target.name]
            resolved.bits |= below.bits
            resolved.depth = max(resolved.depth, below.depth + 1)
            resolved.is_broken = resolved.is_broken or below.is_broken
        if resolved.depth > _DEEPEST and not resolved.is_broken:
            message = f"substitution {substitution.name} holds more than {_DEEPEST - 1} others, one within another"
            resolved.fault = substitution.problem(message, "write out what some of them stand for")
            resolved.is_broken = True

    def _fault(self, substitution: Substitution) -> Problem:
        """Return the first fault that 3.8.7 meets, which reads a substitution from its first marker to its last.

        All that lie on the way to it have the same one; in a circle each has one that names itself.
        """
        way: dict[str, Substitution] = {}
        current = substitution
        while current.name not in way and current.name not in self._faults:
            way[current.name] = current
            resolved = self._resolved[current.name]
            broken = next((target for target in resolved.below if self._resolved[target.name].is_broken), None)
            if broken is None:
                assert resolved.fault is not None
                self._faults[current.name] = resolved.fault
            else:
                current = broken
        if current.name not in self._faults:
            for link in dropwhile(lambda link: link.name != current.name, way.values()):
                self._faults[link.name] = link.problem(f"cyclic substitution detected with name {link.name}")
        for name in way:
            self._faults.setdefault(name, self._faults[current.name])
        return self._faults[substitution.name]

    def _write(self, substitution: Substitution, resolved: _Resolved) -> str:
        """Replace the markers of a pattern by the texts of their targets, which are known."""
        text = substitution.pattern
        for marker, target in resolved.targets:
            new = target.text if isinstance(target, Setter) else self._resolved[target.name].text
            assert new is not None
            length = len(text) + text.count(marker) * (len(new) - len(marker))
            if length > _LONGEST:
                raise InputError(
                    substitution.problem(f"substitution {substitution.name} yields more than {_LONGEST} characters")
                )
            self._count(substitution, length)
            text = text.replace(marker, new)
        return text

    def _count(self, substitution: Substitution, length: int) -> None:
        """Count the characters of all texts, and refuse too many: one long text may stand in many fields."""
        self._work += length
        if self._work > _MOST_WORK:
            message = f"fields have more than {_MOST_WORK} characters by substitutions, {substitution.name} among them"
            raise InputError(substitution.problem(message))
