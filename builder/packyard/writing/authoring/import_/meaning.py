"""The definitions of an imported use case as our Krmfiles write them: no `values`, no marks of who set what.

io.k8s.cli.setters.NFS_PATH:                            io.k8s.cli.setters.NFS_PATH:
  description: nfs path                                   description: nfs path
  x-k8s-cli:                                    ->        x-k8s-cli: {setter: {name: NFS_PATH, value: "/nfs"}}
    setter:
      name: NFS_PATH
      value: /nfs
      isSet: true
      setBy: model-builder
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes.fieldtypes import Step
from packyard.core.yaml import layout, make
from packyard.core.yaml.edit import PLAIN_TYPES
from packyard.core.yaml.node import Entry, Item, MappingNode, Node
from packyard.core.yaml.values import double_quoted
from packyard.using.setters.comment import SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.using.setters.definition import Setter, Substitution
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.refusal import faults_of_keywords
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note
from packyard.writing.source.words import MARKER

_INDENT = "    "  # below `definitions`
_SMALL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ORDER = ("description", "type")
_REQUIRED = '`value: ""`, `required: true` and an `example`'


#: What package.yaml gives each package a value of, unless it says another.
GIVEN = ("MODEL_NAME", "RUN_NAME")


@dataclass(frozen=True, slots=True)
class Word:
    """A setter with its value, or a substitution with its pattern; ``schema`` are the other keys of its definition."""

    name: str
    value: str
    is_setter: bool
    values: tuple[str, ...] | None = None
    schema: tuple[Entry, ...] = ()
    required: bool = False
    enum: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> list[str]:
        """The words in a substitution's pattern."""
        return [] if self.is_setter else MARKER.findall(self.value)

    @property
    def type(self) -> str:
        """The declared type."""
        return next((layout_text([entry]).partition(": ")[2] for entry in self.schema if entry.name == "type"), "")

    def text(self, value: str | None = None) -> str:
        """Write the definition, with another value if one is given."""
        value = self.value if value is None else value
        body: dict[str, Node | str] = {"name": self.name}
        if self.values is not None:
            body["listValues"] = _flow_list(self.values)
        elif self.is_setter:
            body["value"] = make.scalar(value, "", double_quoted(value))
        else:
            body["pattern"] = make.scalar(value, "", double_quoted(value))
        if self.enum:
            body["enumValues"] = _flow({key: make.scalar(text, "", double_quoted(text)) for key, text in self.enum})
        if self.required:
            body["required"] = make.scalar("true", "", "true")
        kind, prefix = ("setter", SETTER_PREFIX) if self.is_setter else ("substitution", SUBSTITUTION_PREFIX)
        definition = make.mapping("", {})
        definition.children = [*self.schema, make.entry("x-k8s-cli", _flow({kind: _flow(body)}))]
        return layout_text([make.entry(prefix + self.name, definition)])

    @property
    def summary(self) -> str:
        """What an author is told of it in one line."""
        what = "setter" if self.is_setter else "substitution"
        words = [text.strip() for entry in self.schema for text in layout_text([entry]).splitlines()]
        return ", ".join([f"{what} {self.value!r}", *words])

    def is_but_for_value(self, other: Word) -> bool:
        """Say whether two setters are one with two values, which package.yaml can give."""
        is_plain_setter = self.is_setter and other.is_setter and self.values is None and other.values is None
        plain = "${" not in self.value + other.value and bool(self.value and other.value)
        return is_plain_setter and plain and self.text("") == other.text("")


def layout_text(entries: Iterable[Entry]) -> str:
    """Write entries as they stand below `definitions`."""
    return "\n".join(layout.lines(entries, _INDENT))


def read(krmfile: Krmfile, notes: list[Note]) -> dict[str, Word]:
    """Return what a Krmfile defines, as far as we can write it."""
    words: dict[str, Word] = {}
    entries = {entry.name: entry for entry in krmfile.entries}
    for name, setter in krmfile.definitions.setters.items():
        words[name] = _setter(setter, entries[SETTER_PREFIX + name])
    for name, substitution in krmfile.definitions.substitutions.items():
        pattern = pattern_of(substitution, notes)
        if name in words:
            todo = "rename one of them, and bind its fields again"
            notes.append(Note(LOST, "substitutions with the name of a setter", todo, (_at(substitution),)))
        elif pattern is not None:
            words[name] = Word(name, pattern, is_setter=False)
    return words


def pattern_of(substitution: Substitution, notes: list[Note]) -> str | None:
    """Return a pattern in which ``${NAME}`` is what stands for NAME; None where ours cannot say it."""
    pieces = {}
    pattern = substitution.pattern
    for number, (marker, reference) in enumerate(substitution.markers):
        if reference is None:
            return None
        if marker not in pattern:
            todo = "put it into the pattern if it belongs there"
            where = f"{_at(substitution)}: {marker}"
            notes.append(Note(DOUBTFUL, "substitutions that list what their patterns lack", todo, (where,)))
        pieces[f"\0{number}\0"] = f"${{{reference.name}}}"
        pattern = pattern.replace(marker, f"\0{number}\0") if marker else pattern
    if MARKER.search(pattern):
        return None
    return re.sub("\0[0-9]+\0", lambda match: pieces[match[0]], pattern)


def reached(names: Iterable[str], words: Mapping[str, Word]) -> dict[str, Word]:
    """Return the words that these names need."""
    needed: dict[str, Word] = {}
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in needed and name in words:
            needed[name] = words[name]
            todo += words[name].names
    return needed


def review(setter: Setter) -> Iterable[Note]:
    """Say what we do not take over of a setter."""
    for path, message in faults_of_keywords(setter.schema):
        yield Note(LOST, "keywords that mean nothing", "write them anew", (f"{_at(setter)}: {path[0]}: {message}",))
    if setter.required and setter.has_value:
        todo = f"empty the value of those that each user has to set: {_REQUIRED}"
        yield Note(DOUBTFUL, "required setters that ship a value", todo, (f"{setter.name}: {setter.shown!r}",))
    elif setter.required and not _is_explained(setter):
        what, todo = "required setters without a description", f"say what they are: {_REQUIRED}"
        yield Note(DOUBTFUL, what, todo, (setter.name,))


def _is_explained(setter: Setter) -> bool:
    return bool(setter.example or setter.description)


def _setter(setter: Setter, entry: Entry) -> Word:
    broken = {path[0] for path, _ in faults_of_keywords(setter.schema)}
    required = setter.required and not setter.has_value and _is_explained(setter)
    definition = entry.value
    assert isinstance(definition, MappingNode)
    keywords = [make.like(each, make.clone) for each in definition.entries if each.name not in {"x-k8s-cli", *broken}]
    keywords.sort(key=lambda each: _ORDER.index(each.name) if each.name in _ORDER else len(_ORDER))
    for each in keywords:
        each.head, each.foot = [], []
    if setter.description and definition.get("description") is None:
        keywords.insert(0, make.entry("description", make.scalar(setter.description, "")))
    return Word(
        setter.name,
        setter.value,
        is_setter=True,
        values=setter.values if setter.is_list else None,
        schema=tuple(keywords),
        required=required,
        enum=tuple(setter.enum_values.items()),
    )


def _at(definition: Setter | Substitution) -> str:
    return f"{definition.file}:{definition.line}: {definition.name}"


def _flow(values: Mapping[str, Node | str]) -> MappingNode:
    mapping = make.mapping("", values)
    mapping.flow = True
    return mapping


def _flow_list(texts: Iterable[str]) -> Node:
    sequence = make.sequence("", [Item(make.scalar(text, "", double_quoted(text)), 0) for text in texts])
    sequence.flow = True
    return sequence


def typed(types: Collection[str]) -> tuple[Entry, ...]:
    """Return the schema of a setter whose fields all have one type that is not text."""
    kind = next(iter(types)) if len(types) == 1 else ""
    return (make.entry("type", make.scalar(kind, "")),) if kind in (*PLAIN_TYPES, "array") else ()


def named_for(path: Sequence[Step], taken: Collection[str]) -> str:
    """Name a word for its field: ``IMAGE``, or where that is taken for what the field is in as well."""
    texts = (_SMALL.sub("_", step.rpartition("/")[2]).upper() for step in path if isinstance(step, str))
    steps = [step for text in texts if (step := re.sub(r"[^A-Z0-9]+", "_", text).strip("_"))] or ["VALUE"]
    names = ["_".join(steps[-length:]) for length in range(1, len(steps) + 1)]
    names += [f"{names[-1]}_{number}" for number in range(2, len(taken) + 3)]
    return next(name for name in names if name not in taken)
