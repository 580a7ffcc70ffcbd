"""Options as their user has them: the Component in ``options/NAME`` of an untarred use case, read without its sources.

What an option may do is what `packyard enable` can take out again: add, replace, remove and test of RFC 6902, and
objects of its own. Anything else is refused by file and line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packyard.errors import InputError, Problem, refuse, suggest
from packyard.files.paths import reserved
from packyard.files.tree import Tree
from packyard.setters.definition import Setter
from packyard.setters.krmfile import parse_krmfile
from packyard.setters.rules import rule
from packyard.setters.rules.rule import Rule
from packyard.source.option import DEFINITIONS, DIRECTORY
from packyard.text.document import decode, parse_one
from packyard.text.node import Entry, Node, Part, Scalar, Source
from packyard.text.node import Mapping as MappingNode
from packyard.text.node import Sequence as SequenceNode

KUSTOMIZATION = "kustomization.yaml"
_OPERATIONS = ("add", "replace", "remove", "test")
_SELECTORS = ("group", "kind", "labelSelector")
_FIELDS = ("apiVersion", "kind", "resources", "patches")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: where it leads, and the part of the option's file whose value it brings (None for ``remove``)."""

    name: str
    steps: tuple[str, ...]
    part: Part | None
    node: Node

    @property
    def pointer(self) -> str:
        """The JSON pointer as RFC 6901 writes it."""
        return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in self.steps)

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the operation, by the place where it begins."""
        return self.node.problem(message, hint)


@dataclass(frozen=True, slots=True)
class Patch:
    """The operations of one file, and the labels, group and kind of the objects that they are for."""

    group: str
    kind: str
    labels: Mapping[str, str]
    operations: tuple[Operation, ...]
    node: Node

    def fits(self, root: Node | None) -> bool:
        """Whether a document is such an object."""
        if not isinstance(root, MappingNode) or root.text("kind") != self.kind:
            return False
        if self.group and root.text("apiVersion").rpartition("/")[0] != self.group:
            return False
        labels = root.mapping("metadata", "labels")
        return all(labels is not None and labels.text(key) == text for key, text in self.labels.items())


@dataclass(frozen=True, slots=True)
class Component:
    """An option: the names of the files that it adds, its patches, and what its Krmfile.option says.

    ``definitions`` are its entries, ``setters`` what those among them say that define one.
    """

    name: str
    description: str
    resources: tuple[str, ...]
    patches: tuple[Patch, ...]
    definitions: tuple[Entry, ...]
    setters: Mapping[str, Setter]
    rules: tuple[Rule, ...]

    @property
    def folder(self) -> str:
        """Where its files are, below the use case."""
        return f"{DIRECTORY}/{self.name}"


def names(tree: Tree) -> list[str]:
    """Return the names of a use case's options."""
    if not tree.has(DIRECTORY):
        return []
    folders = next(tree.walk(DIRECTORY))[1]
    return [name for name in folders if tree.has_file(f"{DIRECTORY}/{name}/{KUSTOMIZATION}")]


def describe(tree: Tree, name: str) -> str:
    """Return what the comment that begins the option's kustomization says."""
    lines = []
    for line in tree.read(f"{DIRECTORY}/{name}/{KUSTOMIZATION}").decode("utf-8", "replace").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").strip())
    return " ".join(lines)


def read(tree: Tree, name: str) -> Component:
    """Read an option; one that is not there is refused with the list of those that are."""
    known = names(tree)
    if name not in known:
        raise InputError(_unknown(tree, name, known))
    folder = f"{DIRECTORY}/{name}"
    root = _root(tree, f"{folder}/{KUSTOMIZATION}")
    problems = [
        entry.key.problem(f"an option with {entry.name} cannot be folded in", "add it as a component instead")
        for entry in root.entries
        if entry.name not in _FIELDS
    ]
    if root.text("kind") != "Component":
        problems.append(root.problem("an option is of kind Component"))
    refuse(problems)
    patches = tuple(_patch(tree, folder, item) for item in _items(root, "patches"))
    resources = tuple(_name(item) for item in _items(root, "resources"))
    path = f"{folder}/{DEFINITIONS}"
    if not tree.has_file(path):
        return Component(name, describe(tree, name), resources, patches, (), {}, ())
    krmfile = parse_krmfile(Source(tree.prefix + path, decode(tree.read(path), tree.prefix + path)[1]))
    definitions = tuple(krmfile.entries)
    rules = tuple(rule.read(krmfile.root))
    return Component(name, describe(tree, name), resources, patches, definitions, krmfile.definitions.setters, rules)


def _name(node: Node) -> str:
    """Return the name of a file in the option's folder, which gets the same one in the use case's."""
    name = node.value if isinstance(node, Scalar) else ""
    if not name or "/" in name or name in (".", "..") or reserved(name):
        raise InputError(node.problem(f"{node.lexeme} must be the name of a file in this folder", "move it here"))
    return name


def _unknown(tree: Tree, name: str, known: Sequence[str]) -> Problem:
    where = tree.prefix + DIRECTORY
    if not known:
        return Problem(f"no option {name!r}: there are none", file=where)
    listed = "".join(f"\n  {option}: {describe(tree, option)}" for option in known)
    nearest = suggest(name, known)
    return Problem(
        f"no option {name!r}" + (f", {nearest}" if nearest else "") + f" The options are:{listed}", file=where
    )


def _root(tree: Tree, path: str) -> MappingNode:
    root = parse_one(tree.read(path), tree.prefix + path).root
    if not isinstance(root, MappingNode):
        raise InputError(Problem("its root is no mapping", file=tree.prefix + path, line=1))
    return root


def _items(root: MappingNode, key: str) -> list[Node]:
    value = root.get(key)
    if value is None:
        return []
    if not isinstance(value, SequenceNode):
        raise InputError(value.problem(f"{key} is no list"))
    return [item.value for item in value.items]


def _patch(tree: Tree, folder: str, node: Node) -> Patch:
    target = node.mapping("target") if isinstance(node, MappingNode) else None
    if not isinstance(node, MappingNode) or target is None or not node.text("path"):
        raise InputError(node.problem("a patch of an option has a path and a target"))
    problems = [
        entry.key.problem(f"{entry.name} cannot choose the objects of an option", f"use {', '.join(_SELECTORS)}")
        for entry in target.entries
        if entry.name not in _SELECTORS
    ]
    labels: dict[str, str] = {}
    for term in filter(None, target.text("labelSelector").split(",")):
        key, equals, text = term.replace("==", "=").partition("=")
        if not equals or key.endswith("!"):
            problems.append(target.problem(f"labelSelector {term!r} is no KEY=VALUE"))
        labels[key.strip()] = text.strip()
    refuse(problems)
    path = f"{folder}/{_name(node.get('path') or node)}"
    listed = parse_one(tree.read(path), tree.prefix + path).root
    if not isinstance(listed, SequenceNode):
        raise InputError(Problem("holds no list of operations", file=tree.prefix + path, line=1))
    operations = tuple(_operation(item.value) for item in listed.items)
    return Patch(target.text("group"), target.text("kind"), labels, operations, node)


def _operation(node: Node) -> Operation:
    if not isinstance(node, MappingNode):
        raise InputError(node.problem("an operation has to be a mapping with op and path"))
    name, pointer = node.text("op"), node.text("path")
    if name not in _OPERATIONS:
        raise InputError(node.problem(f"{name or 'no op'} cannot be folded in", f"use {', '.join(_OPERATIONS)}"))
    if not pointer.startswith("/"):
        raise InputError(node.problem(f"path {pointer!r} has to begin with /"))
    value = node.entry("value")
    if value is None and name != "remove":
        raise InputError(node.problem(f"{name} needs a value"))
    steps = tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))
    return Operation(name, steps, None if name == "remove" else value, node)
