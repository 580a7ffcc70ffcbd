"""Giving the tagged fields of objects new values: the edits, and what each field showed and shows now.

This is what kpt's apply-setters does: a field is set if its pattern has a name that is given; names that are not given
keep what they stand for in the field now. A field keeps its style, its indentation, and the comment that tags it:

a: "x" # C      a: "y" # C          b: | # C        b: | # C        l: # C          l: [] # C
                                      x               y             - a
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.yaml import items
from packyard.core.yaml.content import Written, block, flow_text
from packyard.core.yaml.document import items as nodes
from packyard.core.yaml.document import parse_text, walk
from packyard.core.yaml.edit import AS_IS, Edit, Reading, set_text
from packyard.core.yaml.node import Collection, Item, Node, Scalar, SequenceNode, Source
from packyard.core.yaml.span import expanded
from packyard.core.yaml.values import double_quoted, implicit_type, is_null, meaning, type_of
from packyard.using.setters.fields import path_text, type_at
from packyard.using.setters.kpt.tags import Pattern, Place, find


@dataclass(frozen=True, slots=True)
class Setting:
    """One field that was given a value, which may be the one that it had; a list's texts are in brackets.

    ``shows`` is what it has to show once the ``edits`` are made: the text, or what is read in the list.
    """

    path: str
    pattern: Pattern
    node: Node
    old: str
    new: str
    shows: Reading
    edits: Sequence[Edit]


def apply(
    root: Node | None,
    new_values: Mapping[str, str],
    *,
    known: Mapping[str, str] | None = None,
    keep_types: bool = False,
) -> list[Setting]:
    """Set every field below ``root`` whose pattern has one of the names of ``new_values``, lists before what is below.

    ``known`` are values for other names of those patterns; without one a name keeps its text in the field.
    ``keep_types`` lets text stay text where kpt lets it become a number, and sets fields in items that stay in a list
    that is set. Raises `InputError` with every fault.
    """
    values = {**(known or {}), **new_values}
    settings: list[Setting] = []
    problems: list[Problem] = []
    removed: set[int] = set()  # the ids of what was in a list that is set
    for field in find(root):
        if id(field.node) in removed or new_values.keys().isdisjoint(field.pattern.names):
            continue
        try:
            if isinstance(field.node, Scalar):
                text = field.pattern.expand(values, field.node.value)
                known_type = type_at(root, field.path)
                edits = set_scalar(field.node, text, known=known_type, flow=field.flow, keep_type=keep_types)
                path = path_text(field.path)
                settings.append(Setting(path, field.pattern, field.node, field.node.value, text, text, edits))
            else:
                settings.append(_list(field, field.node, new_values))
                gone = (child.value for edit in settings[-1].edits for child in edit.gone if isinstance(child, Item))
                removed |= {id(below) for node in (gone if keep_types else [field.node]) for below in walk(node)}
        except InputError as error:
            problems += (field.node.problem(item.message, item.hint) for item in error.problems)  # in kpt's own words
    refuse(problems)
    return settings


def _list(field: Place, node: SequenceNode, values: Mapping[str, str]) -> Setting:
    name = field.pattern.sole_name
    if name is None:
        raise InputError(f"invalid setter pattern for array node: {double_quoted(field.pattern.text)}")
    new = parse_list(values[name])
    edits = _new_items(field, node, new)
    return Setting(path_text(field.path), field.pattern, node, flow_text(node), values[name], new or [], edits)


def set_scalar(old: Scalar, new: str, *, known: str | None, flow: bool, keep_type: bool) -> list[Edit]:
    """Return the edit that makes a scalar show ``new``: none where it does already.

    A field that Kubernetes types as text, ``known`` being string, is quoted where it has to be. With ``keep_type`` any
    other plain text stays text too; without, as kpt does it, plain text becomes what ``new`` is read as.
    """
    if old.value == new and not (known == "string" and type_of(old) not in ("string", "null")):
        return []
    read_as = None if known == "int-or-string" else known
    if not keep_type and not (known == "string" and new and implicit_type(new) != "string"):
        read_as = AS_IS
    return set_text(old, new, read_as, flow=flow)


def roots_of(text: str) -> list[Node]:
    """Read a setter's value as YAML, which it may not be: then it has no root."""
    try:
        return [document.root for document in parse_text(Source("value", text)) if document.root is not None]
    except InputError:
        return []


def sorted_texts(node: SequenceNode) -> list[str]:
    """Return the texts of a list's items, sorted; an item that is not a scalar has an empty one."""
    return sorted(item.value.value if isinstance(item.value, Scalar) else "" for item in node.items)


def parse_list(text: str) -> SequenceNode | None:
    """Read the value of a list setter: None for an empty one, `InputError` for anything but a list."""
    if not text:
        return None
    roots = roots_of(text)
    if len(roots) != 1 or not isinstance(roots[0], SequenceNode):
        shown = double_quoted(text)
        message = f"input to array setter must be an array of values, but found {shown}"
        raise InputError(Problem(message, hint="a list is written [a, b]"))
    root = expanded(roots[0])
    if any(isinstance(node, Scalar | Collection) and node.anchor for node in walk(root)):
        return parse_list(flow_text(root, plain=True))  # an anchor could be one of the file that it comes into
    return root if root.items else None


def _new_items(field: Place, node: SequenceNode, new: SequenceNode | None) -> list[Edit]:
    """Return the edits that give a list new items, in brackets or a line each as it is written now.

    A block without items has no form of its own: it becomes ``[]``, with the comment behind. Items that stay keep
    their lines, quotes and comments.
    """
    entries = [Written(flow_text(item), item, _item_lines(item)) for item in nodes(new)]
    old = [meaning(item) for item in nodes(expanded(node))]
    same = items.match(old, [meaning(item) for item in nodes(new)])
    return items.replace(node, entries, same, field.entry)


def block_text(new: SequenceNode) -> str:
    """Write items a line each."""
    return "\n".join(block([Written("", "", _item_lines(item.value)) for item in new.items]))


def _item_lines(node: Node) -> list[str]:
    """Return the lines of an item behind its dash."""
    if isinstance(node, Scalar) and node.style in "|>":
        return [double_quoted(node.value)]
    column = node.start - node.source.line_start(node.start)
    first, *rest = re.split(r"\r\n?|\n", node.lexeme.rstrip("\r\n"))
    return [first, *(line[column:] if line.strip() else "" for line in rest)]


def config_text(node: Node) -> str:
    """Return the text of a configuration's value: a scalar's, empty for null, or a list in brackets."""
    if isinstance(node, Scalar):
        return "" if is_null(node) else node.value
    return flow_text(node)
