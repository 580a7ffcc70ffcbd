"""The objects of a package as they would be applied, for what judges values: schemas, and rules that are rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from packyard.core.errors import InputError
from packyard.core.kubernetes import pods
from packyard.core.kubernetes.lenient import Object
from packyard.core.kubernetes.pods import Path, Pod
from packyard.core.yaml.document import parse_text
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import MappingNode, Node, Scalar, SequenceNode, Source
from packyard.core.yaml.values import to_value
from packyard.using.setters.check import is_refused
from packyard.using.setters.fields import FieldEdits
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.subject import Subject, findings
from packyard.writing.checks.variables import is_filled_in


@dataclass(frozen=True)
class AppliedObject:
    """An object as it would be applied, and as it is written in its file.

    ``waiting`` are the fields that wait for a setter without an example, by their nodes.
    """

    root: MappingNode
    value: dict[str, Any]
    waiting: frozenset[int]

    @property
    def kind(self) -> str:
        """``batch/v1 Job``."""
        return f"{self.value.get('apiVersion')} {self.value.get('kind')}"

    @cached_property
    def pods(self) -> list[Pod[Object]]:
        """Its pods."""
        return pods.find(self.value)

    @cached_property
    def plain(self) -> Any:
        """Its value without nulls, as an API server keeps it."""
        return _without_nulls(self.value)

    @cached_property
    def later(self) -> list[Path]:
        """The paths of its values that come later."""
        return list(self._later(self.root, ()))

    def is_later(self, node: Node) -> bool:
        """Say whether a value comes later, by a setter or by what others fill in."""
        return id(node) in self.waiting or (isinstance(node, Scalar) and is_filled_in(node.value))

    def _later(self, node: Node, path: Path) -> Iterator[Path]:
        if isinstance(node, MappingNode):
            for entry in node.entries:
                yield from self._later(entry.value, (*path, entry.name))
        elif isinstance(node, SequenceNode):
            for number, item in enumerate(node.items):
                yield from self._later(item.value, (*path, number))
        elif self.is_later(node):
            yield path


class Applied:
    """All objects, each with its values once the examples of setters are set.

    ``unreadable`` is what is wrong with objects that have no value.
    """

    def __init__(self, subject: Subject) -> None:
        examples = _examples(subject)
        waiting = _waiting(subject, examples)
        self.objects: list[AppliedObject] = []
        self.unreadable: list[Finding] = []
        try:
            filled = _filled(subject, examples)
        except InputError:  # broken definitions, which other checks report
            filled = {}
        for root in subject.objects:
            try:
                value = to_value(root, filled)
                assert isinstance(value, dict)
                self.objects.append(AppliedObject(root, value, waiting))
            except InputError as refused:
                self.unreadable += findings(refused)


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _filled(subject: Subject, examples: Mapping[str, str]) -> dict[int, object]:
    """Return the values of the fields that the examples change, by their nodes."""
    setters = {name: subject.definitions.setters[name].with_value([text]) for name, text in examples.items()}
    fields = FieldEdits(subject.definitions.with_setters(setters), setters)
    changed = {id(root) for root, bound in subject.bound if subject.changed_by(bound.node) & setters.keys()}
    edits, _ = fields.visit(document for document in subject.documents if id(document.root) in changed)
    return {id(edit.node): _read(edit) for edit in edits if edit.reads is not None}


def _read(edit: Edit) -> object:
    """Return what the text that an edit writes is read as."""
    if not isinstance(edit.reads, str):
        return edit.reads
    (document,) = parse_text(Source("", edit.replacement))
    return to_value(document.root)


def _examples(subject: Subject) -> dict[str, str]:
    """Return the example of every setter that has to be set."""
    return {
        setter.name: setter.example
        for setter in subject.definitions.setters.values()
        if setter.must_be_set and setter.example is not None and not is_refused(setter, [setter.example])
    }


def _waiting(subject: Subject, examples: Mapping[str, str]) -> frozenset[int]:
    """Return the fields that wait for a setter without an example, by their nodes: all if no setter can be read."""
    if subject.krmfile is None:
        return frozenset(subject.reached)
    names = {setter.name for setter in subject.definitions.setters.values() if setter.must_be_set} - examples.keys()
    return frozenset(node for node, changed_by in subject.reached.items() if not names.isdisjoint(changed_by))
