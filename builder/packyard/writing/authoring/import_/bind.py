"""The objects of documents, with the comments that bind their fields, and the words that these reach.

A comment that cannot mean what it says is left out and noted: one that names nothing, one where nothing is bound, one
that yields another text than its field has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from packyard.core.errors import InputError, Problem
from packyard.core.yaml import aliases
from packyard.core.yaml.node import Document, MappingNode, Scalar, SequenceNode, Source
from packyard.using.kustomize import selector
from packyard.using.setters import comment, fields
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.fields import Binding
from packyard.using.setters.kpt import tagged
from packyard.using.setters.krmfile import Krmfile
from packyard.writing.authoring.import_ import kpt, meaning, normal
from packyard.writing.authoring.import_.meaning import Word
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note


def documents(source: Source) -> list[Document]:
    """Return the documents of a text that are not empty, with aliases followed."""
    return [each for each in aliases.read(source) if each.root is not None]


def bind(
    documents: Sequence[Document], krmfile: Krmfile | None, notes: list[Note]
) -> tuple[tuple[MappingNode, ...], dict[str, Word]]:
    """Return objects as we write them, and the words that their comments reach; what binds nothing is left out."""
    words = meaning.read(krmfile, notes) if krmfile else {}
    definitions = krmfile.definitions if krmfile else Definitions()
    bound: dict[int, str] = {}
    for document in documents:
        faults: dict[int, Note] = {}
        kept: set[int] = set()
        for binding in fields.find(document):
            fault = _fault(binding, definitions, words)
            if fault:
                faults.setdefault(binding.comment.start, fault)
            else:
                kept.add(binding.comment.start)
                bound[id(binding.node)] = binding.reference.name
        # a comment may stand for a list and for its items
        notes += [fault for start, fault in faults.items() if start not in kept]
    of_kpt = kpt.read(documents, notes)
    bound |= of_kpt.bound
    needed = {**of_kpt.words, **meaning.reached(bound.values(), words)}
    if krmfile:
        notes += _unused(krmfile, words.keys() - needed.keys())
        setters = (definitions.setters[name] for name in needed if name in definitions.setters)
        notes += [note for setter in setters for note in meaning.review(setter)]
    return tuple(objects(documents, bound)), needed


def _unused(krmfile: Krmfile, names: Iterable[str]) -> Iterable[Note]:
    file = krmfile.source.name
    for name in sorted(names):
        todo = "bind the fields that they were meant for"
        yield Note(LOST, "definitions that no field uses", todo, (f"{file}: {name}",))
    if krmfile.root.get("rules") is not None:
        yield Note(LOST, "rules between setters", "write them into the Krmfile of the package", (file,))


def objects(documents: Iterable[Document], bound: Mapping[int, str]) -> Iterable[MappingNode]:
    """Yield the objects of documents as we write them, with comments that bind the fields of ``bound``."""
    for document in documents:
        root = document.root
        version, kind, _, name = selector.identity(root) if isinstance(root, MappingNode) else ("", "", "", "")
        if not isinstance(root, MappingNode) or not (version and kind and name):
            place = root.source.locate(root.start)[0] if root else 1
            message = "is not a Kubernetes object: apiVersion, kind and metadata.name are needed"
            raise InputError(Problem(message, file=document.source.name, line=place))
        written = normal.write(root, bound, is_reference)
        assert isinstance(written, MappingNode)
        yield written


def is_reference(text: str) -> bool:
    """Say whether a comment binds a field, as kustomize or kpt write it."""
    return comment.parse(text) is not None or tagged.parse(text) is not None


def _fault(binding: Binding, definitions: Definitions, words: Mapping[str, Word]) -> Note | None:
    """Say why a comment cannot bind its field; None where it can."""
    name, node = binding.reference.name, binding.node
    place = f"{node.source.name}:{node.source.locate(node.start)[0]}: {fields.path_text(binding.path)}: {name}"
    definition = definitions.resolve(binding.reference)
    if definition is None:
        what = "setter comments with names that nothing defines"
        return Note(LOST, what, "define the name, and bind the field", (place,))
    if not fields.sets(definition, node):
        return Note(LOST, "setter comments where they bind nothing", "nothing, unless a whole list was meant", (place,))
    missing = [each for found in meaning.reached([name], words).values() for each in found.names if each not in words]
    if name not in words or missing:
        return Note(LOST, "substitutions that lead to nothing", "write the pattern anew, and bind the field", (place,))
    shown, stands = _texts(definition, definitions), _stands(node)
    if shown != stands:
        what = "setter comments that yield another text than their field has: setting them changed more than a value"
        todo = "decide which of the two is right, and bind the field again"
        return Note(DOUBTFUL, what, todo, (f"{place} yields {', '.join(shown)!r}, not {', '.join(stands)!r}",))
    return None


def _texts(definition: Setter | Substitution, definitions: Definitions) -> list[str]:
    """Return what a definition yields."""
    if isinstance(definition, Setter):
        return list(definition.values or ()) if definition.is_list or definition.values else [definition.text]
    return [definitions.expand(definition)]


def _stands(node: Scalar | SequenceNode) -> list[str]:
    """Return the texts of a field."""
    if isinstance(node, Scalar):
        return [node.value]
    return [item.value.value for item in node.items if isinstance(item.value, Scalar)]
