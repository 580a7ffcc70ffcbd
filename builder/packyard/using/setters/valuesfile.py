"""A values file: names of setters with what they are set to, and, in the comment that begins it, what it is for.

# Workers with 16 CPUs.
CPU_REQUEST: "14"
ARGUMENTS: [--verbose, --seed=1]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.yaml.content import flow
from packyard.core.yaml.document import items, parse_one
from packyard.core.yaml.node import MappingNode, Scalar, SequenceNode
from packyard.core.yaml.values import is_null, quoted


@dataclass(frozen=True, slots=True)
class Given:
    """The texts that a values file gives one setter, more than one for a list setter alone, and the place."""

    name: str
    texts: list[str]
    file: str
    line: int

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with what is given, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


@dataclass(frozen=True, slots=True)
class ValuesFile:
    """What a values file says."""

    description: str
    by_name: dict[str, Given]


def parse(data: bytes, file: str) -> ValuesFile:
    """Read a values file; all names without a text or a list of texts are reported at once."""
    root = parse_one(data, file).root
    if not isinstance(root, MappingNode):
        raise InputError(Problem("a values file must be a mapping of names to values", file=file))
    values = read(root, file)
    head = root.entries[0].head if root.entries else []
    return ValuesFile(" ".join(comment.text.removeprefix("#").strip() for comment in head), values)


def read(mapping: MappingNode, file: str) -> dict[str, Given]:
    """Read a mapping of names to values, as `parse` does."""
    problems: list[Problem] = []
    values: dict[str, Given] = {}
    for entry in mapping.entries:
        nodes = items(entry.value) if isinstance(entry.value, SequenceNode) else [entry.value]
        texts = [node.value for node in nodes if isinstance(node, Scalar)]
        if not nodes:
            texts = [""]  # no item, as NAME= on a command line
        item = values[entry.name] = Given(entry.name, texts, file, entry.key.source.locate(entry.start)[0])
        if nodes and len(texts) != len(nodes):
            problems.append(item.problem(f"{entry.name} needs a text or a list of texts"))
        elif any(map(is_null, nodes)):
            hint = f"{entry.name}: '' empties it, --unset {entry.name} takes it back"
            problems.append(item.problem(f"{entry.name} has no value", hint))
    refuse(problems)
    return values


def write(values: Mapping[str, str | Sequence[str]]) -> str:
    """Return the text of a values file from which `parse` reads these values, a list where a setter sets lists."""
    lines = [
        f"{_lexeme(name)}: {_lexeme(value) if isinstance(value, str) else flow([*map(_lexeme, value)])}\n"
        for name, value in values.items()
    ]
    return "".join(lines) or "{}\n"


def _lexeme(text: str) -> str:
    return quoted(text, flow=True)
