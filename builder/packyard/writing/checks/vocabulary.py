"""Faults of what setters mean: without a type or a description, and fields that one forgot."""

from collections.abc import Iterator
from contextlib import suppress

from packyard.core.errors import InputError
from packyard.core.kubernetes.dependencies import NAMES
from packyard.core.kubernetes.fieldtypes import field_type
from packyard.core.kubernetes.kinds import names as named
from packyard.core.yaml.document import entries, walk
from packyard.core.yaml.node import Child, Entry, Node, Scalar
from packyard.using.setters.comment import SETTER_PREFIX, parse
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject
from packyard.writing.checks.variables import data_of

#: A text as short as a number or a letter is the same in two places by chance.
_SHORTEST = 4
#: A text as long as this is the value of a setter, and not a word that both use.
_DISTINCT = 12
#: Fields of numbers that mean one port, user or group.
_NUMBERED = ("containerPort", "port", "targetPort", "runAsUser", "runAsGroup", "fsGroup")
_PLAIN = ("integer", "number", "boolean")
#: Lists whose items have names that only their object knows: a volume may be called as the claim in it.
_LOCAL = ("volumes", "volumeMounts", "volumeDevices", "containers", "initContainers", "ports", "env")


def check(subject: Subject) -> Iterator[Finding]:
    """Find setters that mislead their users."""
    if subject.krmfile is None:
        return
    entries = {entry.name.removeprefix(SETTER_PREFIX): entry for entry in subject.krmfile.entries}
    for name, setter in subject.definitions.setters.items():
        if not setter.description.strip():
            message = f"setter {name} has no description, which every list of parameters shows"
            yield breach("no-description", entries[name], message, "say what it is in a sentence")
    yield from _typed(subject, entries)
    yield from _alike(subject)
    yield from _half_bound(subject)
    yield from _keys(subject)


def _typed(subject: Subject, entries: dict[str, Entry]) -> Iterator[Finding]:
    """Find a setter without a type whose field is a number or a switch: any text is taken for it."""
    types = dict[str, str]()
    for root, bound in subject.bound:
        definition = subject.definitions.resolve(bound.reference)
        if isinstance(definition, Setter) and not definition.type and not definition.schema.get("enum"):
            expected = field_type(root.text("apiVersion"), root.text("kind"), bound.path) if root else None
            if expected in _PLAIN:
                types.setdefault(definition.name, expected)
    for name, expected in types.items():
        message = f"setter {name} takes any text, and a field of it has to be of type {expected}"
        yield breach("untyped-setter", entries[name], message, f"add type: {expected}")


def _keys(subject: Subject) -> Iterator[Finding]:
    """Find a key of a ConfigMap that is like a setter, which no set changes."""
    for entry in (entry for root in subject.objects for entry in data_of(root)):
        setter, node = subject.definitions.setters.get(entry.name), entry.value
        is_same = setter and isinstance(node, Scalar) and node.value and node.value == setter.text
        if is_same and not subject.changed_by(node) and not _is_commented(node):
            message = f"{entry.name} has the value of setter {entry.name}, and no set changes it"
            yield breach("forgotten-field", node, message, "bind it, or remove the key")


def _alike(subject: Subject) -> Iterator[Finding]:
    """Find the fields that are like a bound one, or have the value of a setter."""
    bound = {
        (_key(field.part), field.node.value): field for _, field in subject.bound if isinstance(field.node, Scalar)
    }
    names = dict(_texts(subject.definitions))
    every = [entry for document in subject.documents for node in walk(document.root) for entry in entries(node)]
    local = {id(name) for entry in every if entry.name in _LOCAL for name in named(entry.value)}
    for entry in every:
        value = entry.value
        if not isinstance(value, Scalar) or len(value.value) < _SHORTEST or id(value) in local:
            continue
        same, name = bound.get((entry.name, value.value)), names.get(value.value)
        if not (same or name) or subject.changed_by(value) or _is_commented(value):
            continue
        if same and same.node is not value and subject.changed_by(same.node):
            line = same.node.source.locate(same.node.start)[0]
            place = f"line {line} of {same.node.source.name}"
            message = f"{entry.name} is {value.value}, as at {place}, but no set changes it here"
            yield breach("forgotten-field", value, message, f"bind it to {same.reference.name} as well")
        elif name and not same and _is_distinct(entry):
            message = f"{entry.name} has the value of {name}, {value.value}, and no set changes it"
            yield breach("forgotten-field", value, message, f"bind it to {name}")


def _half_bound(subject: Subject) -> Iterator[Finding]:
    """Find a Job of as many pods at once as in all, of which a set changes one number alone."""
    for root in subject.objects:
        for holder in walk(root):
            completions, at_once = holder.scalar("completions"), holder.scalar("parallelism")
            if not completions or not at_once or completions.value != at_once.value:
                continue
            is_half = bool(subject.changed_by(completions)) != bool(subject.changed_by(at_once))
            if holder.text("completionMode") == "Indexed" and is_half:
                fixed, bound = (at_once, completions) if subject.changed_by(completions) else (completions, at_once)
                names = ", ".join(sorted(subject.changed_by(bound)))
                message = f"completions and parallelism are {completions.value}, and {names} changes one of them alone"
                yield breach("forgotten-field", fixed, message, f"bind it to {names} as well")


def _texts(definitions: Definitions) -> Iterator[tuple[str, str]]:
    """Yield the texts that setters and substitutions make, with their names."""
    both: list[Setter | Substitution] = [*definitions.setters.values(), *definitions.substitutions.values()]
    for definition in both:
        with suppress(InputError):  # which `setters` reports
            yield definitions.expand(definition), definition.name


def _is_distinct(entry: Entry) -> bool:
    """Say whether a field does not have the text of a setter by chance."""
    is_reference = entry.name in (*NAMES, "volumeName")  # which `references` judges
    return entry.name in _NUMBERED or (len(entry.text) >= _DISTINCT and not is_reference)


def _is_commented(node: Node) -> bool:
    return node.comment is not None and parse(node.comment.text) is not None


def _key(part: Child) -> str:
    return part.name if isinstance(part, Entry) else ""
