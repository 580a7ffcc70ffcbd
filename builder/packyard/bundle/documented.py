"""What a README says of a package: its use cases, and each setter and each rule once, with the use cases that have it.

How that is written is up to the fragments and to `readme`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packyard.bundle import reasons
from packyard.setters.definition import Setter
from packyard.setters.listing import Row, RuleRow
from packyard.source.compose import Composed
from packyard.source.option import Option


@dataclass(frozen=True, slots=True)
class DocumentedUseCase:
    """What a README fragment may ask of a use case."""

    path: str
    axes: Mapping[str, str]
    setters: list[Row]
    rules: list[RuleRow]
    options: tuple[Option, ...]
    objects: list[tuple[str, str]]
    requirements: list[str]
    images: list[str]


@dataclass(frozen=True, slots=True)
class DocumentedParameter:
    """One line of a README's parameter table: a setter, and the use cases that have it (none named: all).

    ``places`` says the same shorter: ``multi-node/*`` for all of a directory, ``*/user-mounted-nfs`` for all of a name.
    """

    name: str
    value: str
    type: str
    required: bool
    description: str
    example: str
    use_cases: tuple[str, ...]
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentedRule:
    """One rule in a README, and the use cases that have it, as patterns (none: all)."""

    rule: str
    message: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentedLevel:
    """A Pod Security level below ``restricted`` in a README, its reason, and who needs it, as patterns (none: all)."""

    level: str
    reason: str
    option: str
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentedOption:
    """One option in a README: the setters that it brings, the use cases that have it, and these as patterns."""

    name: str
    description: str
    setters: list[Setter]
    use_cases: tuple[str, ...]
    places: tuple[str, ...]


def example(use_cases: Sequence[DocumentedUseCase]) -> DocumentedUseCase:
    """Return the use case that commands are shown with: of the matrix if there is one, with a claim if one has that."""
    found = [item for item in use_cases if item.axes] or use_cases
    return next((item for item in found if item.axes.get("storage") == "user-allocated-pvc"), found[0])


def parameters(use_cases: Sequence[DocumentedUseCase]) -> list[DocumentedParameter]:
    """Return one line per setter and default, sorted by name, with the use cases that it holds for."""
    found: dict[tuple[str, str], tuple[Row, list[str]]] = {}
    for use_case in use_cases:
        for row in use_case.setters:
            found.setdefault((row.name, row.value), (row, []))[1].append(use_case.path)
    everywhere = [use_case.path for use_case in use_cases]
    return [_parameter(*found[key], everywhere) for key in sorted(found)]


def rules(use_cases: Sequence[DocumentedUseCase]) -> list[DocumentedRule]:
    """Return every rule once, in the order of the use cases, with those that it holds for."""
    found: dict[tuple[str, str], list[str]] = {}
    for use_case in use_cases:
        for row in use_case.rules:
            found.setdefault((row.rule, row.message), []).append(use_case.path)
    everywhere = [use_case.path for use_case in use_cases]
    return [DocumentedRule(rule, message, _places(paths, everywhere)) for (rule, message), paths in found.items()]


def levels(composed: Sequence[Composed]) -> list[DocumentedLevel]:
    """Return why pods need a lower Pod Security level than ``restricted``, with the use cases that it holds for."""
    everywhere = [item.use_case.path for item in composed]
    return [
        DocumentedLevel(each.level, each.reason, each.option, _places(each.use_cases, everywhere))
        for each in reasons.merge(composed)
    ]


def options(use_cases: Sequence[DocumentedUseCase]) -> list[DocumentedOption]:
    """Return every option once, sorted by name, with the use cases that have it."""
    found: dict[str, list[tuple[str, Option]]] = {}
    for use_case in use_cases:
        for option in use_case.options:
            found.setdefault(option.name, []).append((use_case.path, option))
    everywhere = [use_case.path for use_case in use_cases]
    return [_option(found[name], everywhere) for name in sorted(found)]


def _option(found: Sequence[tuple[str, Option]], everywhere: Sequence[str]) -> DocumentedOption:
    paths = [path for path, _ in found]
    setters = {name: setter for _, option in found for name, setter in option.setters.items()}
    first = found[0][1]
    listed = [setters[name] for name in sorted(setters)]
    return DocumentedOption(first.name, first.description, listed, tuple(paths), _places(paths, everywhere))


def _parameter(row: Row, paths: Sequence[str], everywhere: Sequence[str]) -> DocumentedParameter:
    return DocumentedParameter(
        name=row.name,
        value=row.value,
        type=row.type or "string",
        required=row.required,
        description=row.description,
        example=row.example or "",
        use_cases=() if len(paths) == len(everywhere) else tuple(paths),
        places=_places(paths, everywhere),
    )


def _places(paths: Sequence[str], everywhere: Sequence[str]) -> tuple[str, ...]:
    return () if len(paths) == len(everywhere) else tuple(abbreviate(paths, everywhere))


def abbreviate(paths: Sequence[str], everywhere: Sequence[str]) -> list[str]:
    """Write paths as few patterns with one ``*``, each of which stands for nothing else among all paths."""
    first = {f"{path.split('/')[0]}/*": f"{path.split('/')[0]}/" for path in everywhere if "/" in path}
    last = {f"*/{path.split('/')[-1]}": f"/{path.split('/')[-1]}" for path in everywhere if "/" in path}
    groups = {pattern: {path for path in everywhere if path.startswith(start)} for pattern, start in first.items()}
    groups |= {pattern: {path for path in everywhere if path.endswith(end)} for pattern, end in last.items()}
    left, found = set(paths), []
    while left:
        fitting = [pattern for pattern, group in groups.items() if group <= set(paths) and len(group & left) > 1]
        if not fitting:
            break
        best = max(fitting, key=lambda pattern: len(groups[pattern] & left))
        found.append(best)
        left -= groups[best]
    return sorted([*found, *left])
