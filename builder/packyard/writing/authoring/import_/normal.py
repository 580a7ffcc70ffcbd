"""Objects as our sources write them: comments in one form and place, no anchors, tags or merge keys.

# {"$openapi":"NAME"}                     name: x # {"$openapi":"NAME"}
name: x                          ->
port: !!str 80                            port: "80"
<<: *common                               what common has
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from packyard.core.errors import InputError
from packyard.core.yaml import make
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import Child, Collection, Comment, Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.span import header_comment
from packyard.core.yaml.values import double_quoted, is_merge, is_plain_text, type_of
from packyard.using.setters import comment

_STRING = "tag:yaml.org,2002:str"
_NEEDLESS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "bool", "null", "map", "seq"))

#: Says of a comment whether it binds a field.
IsReference = Callable[[str], bool]


@dataclass(slots=True)
class Bound:
    """Names by the identities of the scalars and lists that they bind, and what stands instead of scalars."""

    names: dict[int, str] = field(default_factory=dict)
    instead: dict[int, Scalar] = field(default_factory=dict)

    def touches(self, node: Node) -> bool:
        """Say whether a node, or one below it, is bound."""
        return any(id(each) in self.names or id(each) in self.instead for each in walk(node))


def write(node: Node, bound: Bound, is_reference: IsReference) -> Node:
    """Return a copy of a node, with comments where it is bound."""
    if isinstance(node, Scalar):
        scalar = _scalar(bound.instead.get(id(node), node))
        prose = None if node.comment and is_reference(node.comment.text) else node.comment
        scalar.comment = _reference(bound.names[id(node)]) if id(node) in bound.names else prose
        return scalar
    assert isinstance(node, Collection)
    if node.tag not in (None, *_NEEDLESS):
        raise InputError(node.problem(f"the tag {node.tag} cannot be composed", "write the value without"))
    copied = make.copy(node)
    copied.anchor = copied.tag = copied.comment = None
    children = _merged(node) if isinstance(node, MappingNode) else node.children
    copied.children = [_child(child, bound, is_reference) for child in children]
    return copied


def _child(child: Child, bound: Bound, is_reference: IsReference) -> Child:
    copied = make.like(child, lambda value: write(value, bound, is_reference))
    copied.head = [each for each in child.head if not is_reference(each.text)]
    copied.foot = [each for each in child.foot if not is_reference(each.text)]
    behind = child.comment or (child.value.comment if isinstance(child.value, Collection) else None)
    copied.comment = behind if behind and not is_reference(behind.text) else None
    if isinstance(child.value, Collection) and id(child.value) in bound.names:
        copied.comment = _reference(bound.names[id(child.value)])
    if isinstance(copied.value, Collection) and copied.comment:
        copied.value.flow = False
    if isinstance(copied, Entry):
        copied.key = _key(copied.key)
    return copied


def _scalar(node: Scalar) -> Scalar:
    name = node.source.name
    if node.tag is not None:
        if node.tag != _STRING and node.tag not in _NEEDLESS:
            raise InputError(node.problem(f"the tag {node.tag} cannot be composed", "write the value without"))
        return make.scalar(node.value, name, double_quoted(node.value) if node.tag == _STRING else node.value)
    if node.style in "|>" and (header_comment(node) or _has_indicator(node)):
        return make.literal(node.value, name)
    if node.anchor:
        text = node.value if node.style == "plain" else double_quoted(node.value)
        return make.literal(node.value, name) if node.style in "|>" else make.scalar(node.value, name, text)
    return make.copy(node)


def _has_indicator(node: Scalar) -> bool:
    return any(sign.isdigit() for sign in node.lexeme.partition("\n")[0])


def _key(key: Node) -> Node:
    if isinstance(key, Scalar) and (key.anchor or key.tag or (key.style != "plain" and is_plain_text(key.value))):
        return make.scalar(key.value, key.source.name)
    return key


def _merged(node: MappingNode) -> list[Entry]:
    """Return the entries of a mapping, and those that its merge keys bring."""
    merged = [entry for entry in node.entries if not is_merge(entry)]
    for entry in node.entries:
        if is_merge(entry):
            brought = entry.value.items if isinstance(entry.value, SequenceNode) else [entry]
            for other in (each.value for each in brought if isinstance(each.value, MappingNode)):
                names = {each.name for each in merged}
                merged += [each for each in _merged(other) if each.name not in names]
    return merged


def _reference(name: str) -> Comment:
    return Comment(comment.write(name), 0, 0, own_line=False)


def content(node: Node) -> object:
    """Return what is equal for nodes with equal values and bindings; prose and quotes do not count."""
    if isinstance(node, MappingNode):
        return "map", frozenset((each.name, bound_name(each.comment), content(each.value)) for each in node.entries)
    if isinstance(node, SequenceNode):
        return "list", tuple((bound_name(each.comment), content(each.value)) for each in node.items)
    assert isinstance(node, Scalar)
    return type_of(node), node.value, bound_name(node.comment)


def bound_name(behind: Comment | None) -> str:
    """Return the name that a comment binds to, an empty text for prose and for no comment."""
    reference = comment.parse(behind.text) if behind else None
    return reference.name if reference else ""
