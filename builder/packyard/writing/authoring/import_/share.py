"""What several objects, or values, have in common, and what each of them adds to it.

    args: [-x, A, -v]   args: [-x, B, -v]     ->    args: [-x, -v]    add /args/1: A    add /args/1: B

What is common holds nothing that one of them lacks, so that each only adds; but where most have the same text, that is
common, and the others replace it. A list is taken apart only where that is shorter than to write it as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from packyard.core.yaml import layout, make
from packyard.core.yaml.node import Child, Collection, MappingNode, Node, Scalar, SequenceNode
from packyard.writing.authoring.import_.normal import bound_name, content

Path = tuple[str | int, ...]
#: Behind the last item of a list.
END = "-"
#: What tells the items of a list apart.
_KEYS = ("name", "mountPath", "containerPort", "key", "port")
_NAME, _NAMESPACE = ("metadata", "name"), ("metadata", "namespace")
_OPERATION = 2  # lines of an operation beside its value


@dataclass(frozen=True, slots=True)
class Addition:
    """What comes to a path: an entry of a mapping, or an item of a list before the one that is there.

    It replaces a text where it is not new.
    """

    path: Path
    child: Child
    is_new: bool = True

    @property
    def is_item(self) -> bool:
        """Whether it comes to a list."""
        return isinstance(self.path[-1], int) or self.path[-1] == END

    @property
    def lines(self) -> int:
        """How many lines it takes: an entry of a merge, or where lists are on its way an operation."""
        in_list = any(isinstance(step, int) or step == END for step in self.path)
        return lines(self.child.value) + (_OPERATION if in_list else 0)


@dataclass(frozen=True, slots=True)
class Shared:
    """What is common, None if it is nothing, and for each of the values what it adds."""

    node: Node | None
    additions: Sequence[Sequence[Addition]]


def is_name(each: Addition) -> bool:
    """Say whether an addition gives an object another name, or another namespace."""
    return each.path in (_NAME, _NAMESPACE)


def lines(node: Node) -> int:
    """Return how many lines a value takes."""
    return sum(1 for _ in layout.lines([make.entry("value", node)]))


def share(nodes: Sequence[Node]) -> Shared:
    """Take values apart."""
    return _share(nodes, [()] * len(nodes))


def _share(nodes: Sequence[Node], paths: Sequence[Path]) -> Shared:
    nothing: list[list[Addition]] = [[] for _ in nodes]
    first = nodes[0]
    if len({content(node) for node in nodes}) == 1:
        return Shared(first, nothing)
    usual = _usual(nodes)
    if paths[0] == _NAME or usual:  # an object keeps a name, so that patches find it
        common = usual or first
        return Shared(common, [_replaced(common, node, path) for node, path in zip(nodes, paths, strict=True)])
    if all(isinstance(node, MappingNode) for node in nodes):
        return _mappings([node for node in nodes if isinstance(node, MappingNode)], paths)
    if all(isinstance(node, SequenceNode) for node in nodes):
        shared = _sequences([node for node in nodes if isinstance(node, SequenceNode)], paths)
        apart = sum(_OPERATION + lines(node) for node in nodes)
        if shared.node is not None and lines(shared.node) + cost(shared.additions) <= apart:
            return shared
    return Shared(None, nothing)


def _usual(nodes: Sequence[Node]) -> Scalar | None:
    """Return the text that more than half of the values are, where all are texts of mappings."""
    counts = Counter(content(node) for node in nodes)
    most, number = counts.most_common(1)[0]
    usual = next(node for node in nodes if content(node) == most)
    enough = number * 2 > len(nodes) and all(isinstance(node, Scalar) for node in nodes)
    return usual if enough and isinstance(usual, Scalar) else None


def _replaced(common: Node, node: Node, path: Path) -> list[Addition]:
    same = content(node) == content(common)
    return [] if same else [Addition(path, make.entry(str(path[-1]), node), is_new=False)]


def cost(additions: Sequence[Sequence[Addition]]) -> int:
    """Return how many lines additions take."""
    return sum(each.lines for some in additions for each in some)


def _mappings(nodes: Sequence[MappingNode], paths: Sequence[Path]) -> Shared:
    additions: list[list[Addition]] = [[] for _ in nodes]
    common: list[Child] = []
    names: set[str] = set()
    for entry in nodes[0].entries:
        entries = [found for node in nodes if (found := node.entry(entry.name))]
        below = [(*path, entry.name) for path in paths]
        child = _child(entries, below, additions) if len(entries) == len(nodes) else None
        if child:
            common.append(child)
            names.add(entry.name)
    for node, path, some in zip(nodes, paths, additions, strict=True):
        some += [Addition((*path, each.name), each) for each in node.entries if each.name not in names]
    return Shared(_like(nodes[0], common), additions)


def _sequences(nodes: Sequence[SequenceNode], paths: Sequence[Path]) -> Shared:
    additions: list[list[Addition]] = [[] for _ in nodes]
    common: list[Child] = []
    keys = _item_keys(nodes)
    at = [0] * len(nodes)
    for key in _common(keys):
        places = [own.index(key, start) for own, start in zip(keys, at, strict=True)]
        inner: list[list[Addition]] = [[] for _ in nodes]
        below = [(*path, place) for path, place in zip(paths, places, strict=True)]
        child = _child([node.items[place] for node, place in zip(nodes, places, strict=True)], below, inner)
        if child is None:
            continue
        common.append(child)
        for number, (node, path) in enumerate(zip(nodes, paths, strict=True)):
            before = range(at[number], places[number])
            additions[number] += [Addition((*path, place), node.items[place]) for place in before]
            additions[number] += inner[number]
            at[number] = places[number] + 1
    for number, (node, path) in enumerate(zip(nodes, paths, strict=True)):
        additions[number] += [Addition((*path, END), item) for item in node.items[at[number] :]]
    return Shared(_like(nodes[0], common), additions)


def _child(children: Sequence[Child], paths: Sequence[Path], additions: Sequence[list[Addition]]) -> Child | None:
    """Return what entries or items have in common, and note what each adds; None where it is nothing."""
    shared = _share([child.value for child in children], paths)
    if shared.node is None or len({bound_name(child.comment) for child in children}) > 1:
        return None
    for some, more in zip(additions, shared.additions, strict=True):
        some += more
    node = shared.node
    return make.like(children[0], lambda _: node)


def _like(node: Collection, children: list[Child]) -> Node | None:
    if not children:
        return None
    copied = make.copy(node)
    copied.children = children
    return copied


def _item_keys(nodes: Sequence[SequenceNode]) -> list[list[Hashable]]:
    """Return what the items of lists are told apart by: a key that all have, or else their content."""
    for key in _KEYS:
        texts = [[item.value.text(key) for item in node.items] for node in nodes]
        if all(all(some) and len(set(some)) == len(some) for some in texts):
            return [list[Hashable](some) for some in texts]
    return [[hash(content(item.value)) for item in node.items] for node in nodes]


def _common(keys: Sequence[list[Hashable]]) -> list[Hashable]:
    """Return a sequence that all have, in this order."""
    common = keys[0]
    for other in keys[1:]:
        blocks = SequenceMatcher(None, common, other, autojunk=False).get_matching_blocks()
        common = [key for block in blocks for key in common[block.a : block.a + block.size]]
    return common
