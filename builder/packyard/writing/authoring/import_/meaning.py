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
from dataclasses import dataclass, field, replace

from packyard.core.kubernetes.fieldtypes import Step
from packyard.core.yaml.content import Text, Tree, block, double, in_brackets
from packyard.core.yaml.edit import PLAIN_TYPES
from packyard.core.yaml.node import Entry, MappingNode
from packyard.core.yaml.values import to_value
from packyard.using.setters.comment import SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.using.setters.definition import Setter, Substitution
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.refusal import faults_of_keywords
from packyard.writing.authoring import schemafile
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note
from packyard.writing.source.words import MARKER

#: What package.yaml gives each package a value of, unless it says another.
GIVEN = ("MODEL_NAME", "RUN_NAME")
_KRMFILE = ["apiVersion: config.k8s.io/v1alpha1", "kind: Krmfile", "openAPI:", "  definitions:"]
_SMALL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ORDER = ("description", "type")
_REQUIRED = '`value: ""`, `required: true` and an `example`'


@dataclass(frozen=True, slots=True)
class Word:
    """A setter with its value, or a substitution with its pattern; ``schema`` are the other keys of its definition."""

    name: str
    value: str
    is_setter: bool
    values: tuple[str, ...] | None = None
    schema: Mapping[str, object] = field(default_factory=dict)
    required: bool = False
    enum: tuple[tuple[str, str], ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether it is a setter whose value is the text of its fields."""
        return self.is_setter and self.values is None and not self.enum

    def valued(self, text: str) -> Word:
        """Return the setter with another value."""
        return replace(self, value=text, required=self.required and not text)

    def text(self) -> str:
        """Write the definition."""
        body: dict[str, Tree] = {"name": Text(self.name)}
        if self.values is not None:
            body["listValues"] = [double(text) for text in self.values]
        else:
            body["value" if self.is_setter else "pattern"] = double(self.value)
        if self.enum:
            body["enumValues"] = {key: double(text) for key, text in self.enum}
        if self.required:
            body["required"] = "true"
        kind, prefix = ("setter", SETTER_PREFIX) if self.is_setter else ("substitution", SUBSTITUTION_PREFIX)
        keywords = {key: schemafile.to_tree(value) for key, value in self.schema.items()}
        definition = {**keywords, "x-k8s-cli": in_brackets({kind: body})}
        return "\n".join(f"    {line}" for line in block({prefix + self.name: definition}))


def krmfile(words: Iterable[Word]) -> bytes:
    """Write definitions: setters, then what follows from them."""
    ordered = sorted(words, key=lambda word: (not word.is_setter, word.name))
    return "".join(f"{line}\n" for line in [*_KRMFILE, *(word.text() for word in ordered)]).encode()


def read(krmfile: Krmfile, notes: list[Note]) -> dict[str, Word]:
    """Return what a Krmfile defines, as far as we can write it."""
    words: dict[str, Word] = {}
    entries = {entry.name: entry for entry in krmfile.entries}
    for name, setter in krmfile.definitions.setters.items():
        words[name] = _setter(setter, entries[SETTER_PREFIX + name], notes)
    for name, substitution in krmfile.definitions.substitutions.items():
        pattern = _pattern(substitution)
        if name in words:
            todo = "rename one of them, and bind its fields again"
            notes.append(Note(LOST, "substitutions with the name of a setter", todo, (_at(substitution),)))
        elif pattern is not None:
            words[name] = Word(name, pattern, is_setter=False)
    return words


def names(word: Word) -> list[str]:
    """Return the names in a substitution's pattern."""
    return [] if word.is_setter else MARKER.findall(word.value)


def reached(wanted: Iterable[str], words: Mapping[str, Word]) -> dict[str, Word]:
    """Return the words that some names need."""
    needed: dict[str, Word] = {}
    todo = list(wanted)
    while todo:
        name = todo.pop()
        if name not in needed and name in words:
            needed[name] = words[name]
            todo += names(words[name])
    return needed


def flat(name: str, words: Mapping[str, Word]) -> str:
    """Return the pattern of a word in setters alone."""
    word = words[name]
    if word.is_setter:
        return f"${{{name}}}"
    return MARKER.sub(lambda match: flat(match[1], words) if match[1] in words else match[0], word.value)


def expand(name: str, words: Mapping[str, Word]) -> list[str]:
    """Return the texts that the fields of a word show."""
    word = words[name]
    if word.values is not None:
        return list(word.values)
    values = {name: dict(word.enum).get(word.value, word.value) for name, word in words.items() if word.is_setter}
    return [MARKER.sub(lambda match: values.get(match[1], match[0]), flat(name, words))]


def typed(types: Collection[str]) -> dict[str, str]:
    """Return the schema of a setter whose fields all have one type that is not text."""
    kind = next(iter(types)) if len(types) == 1 else ""
    return {"type": kind} if kind in (*PLAIN_TYPES, "array") else {}


def named_for(path: Sequence[Step], taken: Collection[str]) -> str:
    """Name a word for its field: ``IMAGE``, or where that is taken for what the field is in as well."""
    texts = (_SMALL.sub("_", step.rpartition("/")[2]).upper() for step in path if isinstance(step, str))
    steps = [step for text in texts if (step := re.sub(r"[^A-Z0-9]+", "_", text).strip("_"))] or ["VALUE"]
    candidates = ["_".join(steps[-length:]) for length in range(1, len(steps) + 1)]
    candidates += [f"{candidates[-1]}_{number}" for number in range(2, len(taken) + 3)]
    return next(name for name in candidates if name not in taken)


def _pattern(substitution: Substitution) -> str | None:
    """Return a pattern in which ``${NAME}`` is what stands for NAME; None where ours cannot say it."""
    pieces = {}
    pattern = substitution.pattern
    for number, (marker, reference) in enumerate(substitution.markers):
        if reference is None:
            return None
        pieces[f"\0{number}\0"] = f"${{{reference.name}}}"
        pattern = pattern.replace(marker, f"\0{number}\0") if marker else pattern
    if MARKER.search(pattern):
        return None
    return re.sub("\0[0-9]+\0", lambda match: pieces[match[0]], pattern)


def _setter(setter: Setter, entry: Entry, notes: list[Note]) -> Word:
    """Return a setter; what is not taken over of it is noted."""
    broken = {path[0]: message for path, message in faults_of_keywords(setter.schema)}
    cases = tuple(f"{_at(setter)}: {key}: {message}" for key, message in broken.items())
    notes += [Note(LOST, "keywords that mean nothing", "write them anew", (case,)) for case in cases]
    is_explained = bool(setter.example or setter.description)
    if setter.required and (setter.has_value or not is_explained):
        what = "required setters that ship a value" if setter.has_value else "required setters without a description"
        notes.append(Note(DOUBTFUL, what, f"write what each user has to set with {_REQUIRED}", (_at(setter),)))
    definition = entry.value
    assert isinstance(definition, MappingNode)
    value = to_value(definition)
    assert isinstance(value, dict)
    keywords = {key: value[key] for key in (*_ORDER, *value) if key in value and key not in {"x-k8s-cli", *broken}}
    if setter.description:
        keywords = {"description": setter.description, **keywords}
    return Word(
        setter.name,
        setter.value,
        is_setter=True,
        values=setter.values or () if setter.is_list else None,
        schema=keywords,
        required=setter.required and not setter.has_value and is_explained,
        enum=tuple(setter.enum_values.items()),
    )


def _at(definition: Setter | Substitution) -> str:
    return f"{definition.file}:{definition.line}: {definition.name}"
