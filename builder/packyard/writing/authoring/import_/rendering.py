"""Two renderings of one chart: scalars that differ become setters, with the values of the first.

    instance: a        instance: b            instance: a # {"$openapi":"INSTANCE"}           INSTANCE: a, b
    name: a-web        name: b-web      ->    name: a-web # {"$openapi":"NAME"}               NAME: ${INSTANCE}-web
    replicas: 1        replicas: 3            replicas: 1 # {"$openapi":"REPLICAS"}           REPLICAS: 1, 3

What differs in more than scalars stays as the first has it, and is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from packyard.core.kubernetes.fieldtypes import Step
from packyard.core.yaml import make
from packyard.core.yaml.edit import PLAIN_TYPES
from packyard.core.yaml.node import Document, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import type_of
from packyard.using.kustomize import selector
from packyard.using.setters.fields import path_text
from packyard.writing.authoring.import_.meaning import Word, named_for, typed
from packyard.writing.authoring.import_.note import LOST, Note

#: What tells the items of a list apart.
_KEYS = ("name", "mountPath", "containerPort", "port", "key")
_TOKEN = re.compile(r"[\w.]+|[^\w.]")
_DIGEST = re.compile(r"[0-9a-f]{32,}")
_SHORT = 3  # characters of a text that may be the same by chance


@dataclass(frozen=True, slots=True)
class Difference:
    """A scalar that differs: the object that it is in, its path there, and both nodes."""

    owner: str
    path: tuple[Step, ...]
    first: Scalar
    second: Scalar

    @property
    def texts(self) -> tuple[str, str]:
        """What the first has, and what the second has."""
        return self.first.value, self.second.value

    @property
    def type(self) -> str:
        """The type of both."""
        return type_of(self.first)

    @property
    def core(self) -> tuple[str, str]:
        """The words that differ, without those before and behind them that are the same."""
        one, other = map(_TOKEN.findall, self.texts)
        while one and other and one[0] == other[0]:
            one, other = one[1:], other[1:]
        while one and other and one[-1] == other[-1]:
            one, other = one[:-1], other[:-1]
        return "".join(one), "".join(other)


@dataclass(slots=True)
class Compared:
    """Names by the identities of the first's scalars, what they stand for, and what the second has for the setters."""

    bound: dict[int, str] = field(default_factory=dict)
    words: dict[str, Word] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)


def compare(first: Sequence[Document], second: Sequence[Document], notes: list[Note]) -> Compared:
    """Find what differs between two renderings."""
    compared = Compared()
    differences = [each for each in _objects(first, second, notes) if _is_settable(each, notes)]
    texts = [each for each in differences if each.type not in PLAIN_TYPES]
    cores = _cores(texts)
    names: dict[object, str] = {}
    for difference in sorted(differences, key=lambda each: len(each.first.value)):
        one, other = difference.texts
        core = next((core for core in cores if difference in texts and _replaced(one, core) == other), (one, other))
        is_telling = core in cores or (difference in texts and len(core[0]) > _SHORT)
        key = core if is_telling else (core, difference.type, difference.path[-1:])
        if key not in names:
            name = names[key] = named_for(difference.path, compared.words)
            description = f"{path_text(difference.path)} of {difference.owner}."
            schema = (make.entry("description", make.scalar(description, "")), *typed({difference.type}))
            compared.words[name] = Word(name, core[0], is_setter=True, schema=schema)
            compared.others[name] = core[1]
        name = names[key]
        if core != (one, other):
            pattern = one.replace(core[0], f"${{{name}}}")
            if pattern not in names:
                names[pattern] = named_for(difference.path, compared.words)
                compared.words[names[pattern]] = Word(names[pattern], pattern, is_setter=False)
            name = names[pattern]
        compared.bound[id(difference.first)] = name
    return compared


def _cores(texts: Iterable[Difference]) -> list[tuple[str, str]]:
    """Return what differs alike in several texts, the longest first."""
    by_core: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for each in texts:
        by_core.setdefault(each.core, set()).add(each.texts)
    several = [core for core, some in by_core.items() if len(some) > 1 and all(core) and len(core[0]) > 1]
    return sorted(several, key=lambda core: -len(core[0]))


def _replaced(text: str, core: tuple[str, str]) -> str:
    return "" if "${" in text else text.replace(*core)


def _is_settable(each: Difference, notes: list[Note]) -> bool:
    """Say whether a setter can make the difference, or note why not."""
    place = f"{each.owner}: {path_text(each.path)}"
    if type_of(each.first) != type_of(each.second):
        notes.append(_note("values of another type", "choose one type for both", place))
    elif any("\n" in text for text in each.texts):
        todo = "make a use case of the second rendering, if you need its text"
        notes.append(_note("texts of several lines", todo, place))
    elif all(map(_DIGEST.fullmatch, each.texts)):
        todo = "leave them out, or compute them before you apply"
        notes.append(_note("digests, which the chart computes", todo, place))
    else:
        return True
    return False


def _note(what: str, todo: str, place: str) -> Note:
    return Note(LOST, f"differences that are no setters: {what}", todo, (place,))


def _objects(first: Sequence[Document], second: Sequence[Document], notes: list[Note]) -> Iterator[Difference]:
    """Compare objects: those that are called alike, and the others of a kind in their order."""
    rest = [each.root for each in second if isinstance(each.root, MappingNode)]
    roots = [each.root for each in first if isinstance(each.root, MappingNode)]
    named = {selector.identity(root): root for root in rest}
    pairs = [(root, named[selector.identity(root)]) for root in roots if selector.identity(root) in named]
    rest = [root for root in rest if not any(root is other for _, other in pairs)]
    for root in roots:
        if any(root is one for one, _ in pairs):
            continue
        other = next((each for each in rest if selector.identity(each)[:2] == selector.identity(root)[:2]), None)
        if other is None:
            notes.append(_only("first", _owner(root)))
            continue
        rest = [each for each in rest if each is not other]
        pairs.append((root, other))
    notes += [_only("second", _owner(root)) for root in rest]
    for one, other in pairs:
        yield from _compare(one, other, _owner(one), (), notes)


def _owner(root: MappingNode) -> str:
    return f"{root.text('kind')} {selector.identity(root)[3]}"


def _only(which: str, place: str) -> Note:
    todo = "add it by an option or a use case of its own, where users need it"
    return Note(LOST, f"what only the {which} rendering has", todo, (place,))


def _compare(one: Node, other: Node, owner: str, path: tuple[Step, ...], notes: list[Note]) -> Iterator[Difference]:
    if isinstance(one, MappingNode) and isinstance(other, MappingNode):
        for entry in one.entries:
            beside = other.get(entry.name)
            if beside is None:
                notes.append(_only("first", f"{owner}: {path_text((*path, entry.name))}"))
            else:
                yield from _compare(entry.value, beside, owner, (*path, entry.name), notes)
        names = {entry.name for entry in one.entries}
        more = (entry.name for entry in other.entries if entry.name not in names)
        notes += [_only("second", f"{owner}: {path_text((*path, name))}") for name in more]
    elif isinstance(one, SequenceNode) and isinstance(other, SequenceNode):
        for at, number in _items(one, other, owner, path, notes):
            yield from _compare(one.items[at].value, other.items[number].value, owner, (*path, at), notes)
    elif isinstance(one, Scalar) and isinstance(other, Scalar):
        if (one.value, type_of(one)) != (other.value, type_of(other)):
            yield Difference(owner, path, one, other)
    else:
        notes.append(_note("values of another type", "choose one type for both", f"{owner}: {path_text(path)}"))


def _items(
    one: SequenceNode, other: SequenceNode, owner: str, path: tuple[Step, ...], notes: list[Note]
) -> Sequence[tuple[int, int]]:
    """Return which items are compared: by a key that tells them apart, or in their order where there are as many."""
    for key in _KEYS:
        names, others = ([item.value.text(key) for item in each.items] for each in (one, other))
        apart = all(names) and all(others) and len(set(names)) == len(names) and len(set(others)) == len(others)
        if apart and (len(names) != len(others) or set(names) == set(others)):
            here = [_only("first", f"{owner}: {path_text(path)}: {name}") for name in names if name not in others]
            there = [_only("second", f"{owner}: {path_text(path)}: {name}") for name in others if name not in names]
            notes += [*here, *there]
            return [(at, others.index(name)) for at, name in enumerate(names) if name in others]
    if len(one.items) == len(other.items):
        return [(at, at) for at in range(len(one.items))]
    place = f"{owner}: {path_text(path)}: {len(one.items)} items, or {len(other.items)}"
    todo = "make a use case of the second rendering, if you need its list"
    notes.append(_note("lists of another length", todo, place))
    return []
