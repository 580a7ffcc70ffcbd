"""The definitions of an imported use case, and how our Krmfiles write them: no `values`, no marks of who set what.

io.k8s.cli.setters.NFS_PATH:                            io.k8s.cli.setters.NFS_PATH:
  description: nfs path                                   description: nfs path
  x-k8s-cli:                                    ->        x-k8s-cli: {setter: {name: NFS_PATH, value: "/nfs"}}
    setter:
      name: NFS_PATH
      value: /nfs
      isSet: true
      setBy: model-builder
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count

from packyard.core.kubernetes.fieldtypes import Step
from packyard.core.yaml.content import block, double, in_brackets
from packyard.core.yaml.edit import PLAIN_TYPES
from packyard.using.setters.comment import DefinitionRef
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.refusal import faults_of_keywords
from packyard.writing.authoring.definition import entries
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note
from packyard.writing.source import closure
from packyard.writing.source.words import MARKER, named

#: What package.yaml gives each package a value of, unless it says another.
GIVEN = ("MODEL_NAME", "RUN_NAME")
Definition = Setter | Substitution
#: What a note says of a pattern whose markers lead nowhere, and what to do.
TO_NOTHING = ("substitutions that lead to nothing", "write the pattern anew, and bind the field")
_SMALL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ORDER = ("description", "type")
_REQUIRED = '`value: ""`, `required: true` and an `example`'


def krmfile(definitions: Iterable[Definition]) -> bytes:
    """Write definitions: setters, then what follows from them."""
    ordered = sorted(definitions, key=lambda definition: (isinstance(definition, Substitution), definition.name))
    return closure.write("", {"": {definition.name: text(definition) for definition in ordered}})


def text(definition: Definition) -> str:
    """Write a definition."""
    if isinstance(definition, Substitution):
        definition = definition._replace(markers=())
    else:
        first = {key: definition.schema[key] for key in _ORDER if key in definition.schema}
        definition = definition._replace(schema={**first, **definition.schema}, set_by="")
    ((key, tree),) = entries(definition, double).items()
    lines = block({key: {name: below if name != "x-k8s-cli" else in_brackets(below) for name, below in tree.items()}})
    return "\n".join(f"    {line}" for line in lines)


def read(krmfile: Krmfile, notes: list[Note]) -> Definitions:
    """Return what a Krmfile defines, as far as we can write it."""
    known = krmfile.definitions
    substitutions: dict[str, Substitution] = {}
    for name, old in known.substitutions.items():
        pattern = _pattern(old)
        if name in known.setters:
            todo = "rename one of them, and bind its fields again"
            notes.append(Note(LOST, "substitutions with the name of a setter", todo, (_at(old),)))
        elif pattern is None:
            notes.append(Note(LOST, *TO_NOTHING, (_at(old),)))
        else:
            substitutions[name] = substitution(name, pattern)
    return Definitions({name: _setter(setter, notes) for name, setter in known.setters.items()}, substitutions)


def substitution(name: str, pattern: str) -> Substitution:
    """Return a substitution in whose pattern ``${NAME}`` is what stands for NAME."""
    markers = ((f"${{{inner}}}", DefinitionRef("", inner)) for inner in dict.fromkeys(MARKER.findall(pattern)))
    return Substitution(name, pattern, tuple(markers))


def reachable(names: Iterable[str], known: Definitions) -> dict[str, Definition]:
    """Return the definitions that some names need."""
    patterns = {name: substitution.pattern for name, substitution in known.substitutions.items()}
    needed = named(names, lambda name: patterns.get(name, ""))
    every: dict[str, Definition] = {**known.substitutions, **known.setters}
    return {name: definition for name, definition in every.items() if name in needed}


def texts(definition: Definition, known: Definitions) -> list[str]:
    """Return the texts that the fields of a definition show."""
    if isinstance(definition, Substitution):
        return [known.expand(definition)]
    return list(definition.values or ()) if definition.is_list else [definition.text]


def flat(definition: Definition, known: Definitions) -> str:
    """Return the pattern of a definition in setters alone."""
    named_by_itself = {name: Setter(name, f"${{{name}}}") for name in known.setters}
    return Definitions(named_by_itself, known.substitutions).expand(definition)


def typed(types: Collection[str]) -> dict[str, str]:
    """Return the schema of a setter whose fields all have one type that is not text."""
    kind = next(iter(types)) if len(types) == 1 else ""
    return {"type": kind} if kind in PLAIN_TYPES else {}


def named_for(path: Sequence[Step], known: Collection[str]) -> str:
    """Name a definition for its field: ``IMAGE``, or where that is taken for what the field is in as well."""
    texts = (_SMALL.sub("_", step.rpartition("/")[2]).upper() for step in path if isinstance(step, str))
    steps = [step for text in texts if (step := re.sub(r"[^A-Z0-9]+", "_", text).strip("_"))] or ["VALUE"]
    return next(name for name in names(steps, "_") if name not in known)


def names(steps: Sequence[str], joint: str) -> Iterator[str]:
    """Yield names for what is below some steps: the last one, with more of them, with a number."""
    yield from (joint.join(steps[-length:]) for length in range(1, len(steps) + 1))
    yield from (f"{joint.join(steps)}{joint}{number}" for number in count(2))


def _pattern(substitution: Substitution) -> str | None:
    """Return a pattern in which ``${NAME}`` is what stands for NAME; None where ours cannot say it."""
    references = {marker: reference for marker, reference in reversed(substitution.markers) if marker}
    markers = re.compile("|".join(re.escape(marker) for marker, _ in substitution.markers if marker) or "(?!)")
    names = {marker: f"${{{reference.name}}}" for marker, reference in references.items() if reference}
    if len(names) < len(references) or MARKER.search(markers.sub("\0", substitution.pattern)):
        return None
    return markers.sub(lambda match: names[match[0]], substitution.pattern)


def _setter(setter: Setter, notes: list[Note]) -> Setter:
    """Return a setter; what is not taken over of it is noted."""
    broken = {path[0]: message for path, message in faults_of_keywords(setter.schema)}
    cases = tuple(f"{_at(setter)}: {key}: {message}" for key, message in broken.items())
    notes += [Note(LOST, "keywords that mean nothing", "write them anew", cases)] if cases else []
    is_explained = bool(setter.example or setter.description)
    if setter.required and (setter.has_value or not is_explained):
        what = "required setters that ship a value" if setter.has_value else "required setters without a description"
        notes.append(Note(DOUBTFUL, what, f"write what each user has to set with {_REQUIRED}", (_at(setter),)))
    schema = {key: value for key, value in setter.schema.items() if key not in broken}
    schema |= {"description": setter.description} if setter.description else {}
    return setter._replace(schema=schema, required=setter.required and not setter.has_value and is_explained)


def _at(definition: Definition) -> str:
    return f"{definition.file}:{definition.line}: {definition.name}"
