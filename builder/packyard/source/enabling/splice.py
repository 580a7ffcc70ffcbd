"""An operation as a splice: whole lines that come, or one value that is another, and all other bytes as they were.

    tolerations: []        add /tolerations/-        tolerations:
                           {operator: Exists}        - operator: Exists

What is there goes back by the same rules. A list or mapping in brackets is refused unless it is empty: it has no lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packyard.errors import InputError, Problem
from packyard.setters import comment
from packyard.source.enabling.component import Operation
from packyard.source.patch import clone, scalar
from packyard.text import layout
from packyard.text.edit import Edit
from packyard.text.node import Collection, Comment, Entry, Item, Node, Part, Scalar, Source
from packyard.text.node import Mapping as MappingNode
from packyard.text.node import Sequence as SequenceNode
from packyard.text.plain import to_value
from packyard.text.span import line_break


@dataclass(frozen=True, slots=True)
class Splice:
    """A text after a change: what is new in it, from ``start`` to ``end``, and what it replaced, where it did.

    ``index`` is the place of a part that was removed.
    """

    text: str
    start: int
    end: int
    was: str | None = None
    index: int | None = None

    def edit(self, before: str) -> Edit:
        """Return the change as an edit of the text before."""
        end = len(before) - (len(self.text) - self.end)
        return Edit(self.start, end, self.text[self.start : self.end], free=True)


def fold(root: MappingNode, operation: Operation) -> Splice:
    """Do what an operation asks for in the text of a document."""
    holder, parent = _parent(root, operation)
    last = operation.steps[-1]
    part = _child(parent, last)
    if operation.name != "add" and part is None:
        raise InputError(operation.problem(f"path {operation.pointer} does not exist in {root.source.name}"))
    if operation.name == "test":
        return _tested(parent, part, operation)
    if operation.name == "remove":
        assert part is not None
        return _remove(parent, parent.parts.index(part))
    assert operation.part is not None
    if part is not None and (operation.name == "replace" or isinstance(parent, MappingNode)):
        return _exchange(parent, part, operation.part)
    if isinstance(parent, MappingNode):
        return _insert(holder, parent, [operation], len(parent.entries))
    size = len(parent.parts)
    if last != "-" and not (last.isdigit() and int(last) <= size):
        raise InputError(operation.problem(f"path {operation.pointer} does not exist: the list has {size} items"))
    return _insert(holder, parent, [operation], size if last == "-" else int(last))


def append(root: MappingNode, operations: Sequence[Operation]) -> Splice:
    """Do at once what operations ask for that all add to the end of one list, or new keys to one mapping."""
    holder, parent = _parent(root, operations[0])
    return _insert(holder, parent, operations, len(parent.parts))


def unfold(root: MappingNode, operation: Operation, was: str | None, index: int | None) -> Splice:
    """Take back what `fold` did; what is not as it was put there, but for values of setters, is refused by its line."""
    holder, parent = _parent(root, operation)
    if operation.name == "remove":
        assert was is not None
        assert index is not None
        return _put_back(parent, was, index)
    assert operation.part is not None
    if isinstance(parent, SequenceNode) and was is None:
        fitting = [item for item in parent.items if difference(item, operation.part) is None]
        if not fitting:
            raise InputError(_by_hand(parent.items[-1] if parent.items else None, parent, operation))
        return _take_out_last(holder, parent, fitting[-1])
    part = _child(parent, operation.steps[-1])
    if part is None or difference(part, operation.part) is not None:
        raise InputError(_by_hand(part, parent, operation))
    if was is None:
        return _take_out_last(holder, parent, part)
    start, end = _value_span(part)
    return _spliced(root.source, start, end, was)


def take_out(root: MappingNode, steps: Sequence[str], last: Iterable[str]) -> list[Edit]:
    """Return the edits that take out the parts ``last`` of the collection at a path, whatever they say.

    If that was all, the collection goes as well.
    """
    trail: list[tuple[Collection, Sequence[Part]]] = []
    node: Node = root
    for step in steps:
        trail.append(_children(node, [step]))
        node = trail[-1][1][0].value
    trail.append(_children(node, last))
    while len(trail) > 1 and len(trail[-1][0].parts) == len(trail[-1][1]):
        trail.pop()
    parent, parts = trail[-1]
    return [_take_out(parent, part).edit(root.source.text) for part in parts]


def difference(actual: Part, wanted: Part, *, at_end: bool = True) -> Node | None:
    """Return the first node that is not as it was put there; what has the same setter comment may have any value."""
    value, model = actual.value, wanted.value
    behind = _text(value.comment or actual.comment)
    if behind != _text(model.comment or wanted.comment):
        return value
    if isinstance(model, Scalar):
        if not isinstance(value, Scalar):
            return value
        return None if comment.parse(behind) or to_value(value) == to_value(model) else value
    if type(value) is not type(model) or not isinstance(value, Collection) or not isinstance(model, Collection):
        return value
    if isinstance(model, SequenceNode) and comment.parse(behind):
        return None
    if len(value.parts) != len(model.parts):
        return value
    for number, (one, other) in enumerate(zip(value.parts, model.parts, strict=True), 1):
        final = at_end and number == len(model.parts)
        if isinstance(one, Entry) and isinstance(other, Entry) and one.name != other.name:
            return one.key
        if _texts(one.head) != _texts(other.head) or not (final or _texts(one.foot) == _texts(other.foot)):
            return one.key if isinstance(one, Entry) else one.value
        found = difference(one, other, at_end=final)
        if found is not None:
            return found
    return None


def _text(found: Comment | None) -> str:
    return found.text if found else ""


def _texts(found: Sequence[Comment]) -> list[str]:
    return [one.text for one in found]


def _by_hand(part: Part | None, parent: Collection, operation: Operation) -> Problem:
    node = difference(part, operation.part) if part is not None and operation.part is not None else None
    where = node or parent
    message = f"{operation.pointer} is not as the option put it there: it was changed by hand"
    return where.problem(message, "take your change out, then disable the option; nothing was changed")


def _parent(root: MappingNode, operation: Operation) -> tuple[Part | None, Collection]:
    holder: Part | None = None
    node: Collection = root
    for position, step in enumerate(operation.steps[:-1], 1):
        holder = _child(node, step)
        if holder is None or not isinstance(holder.value, Collection):
            reached = "/" + "/".join(operation.steps[:position])
            where = f"{root.source.name}:{root.source.locate(node.start)[0]}"
            message = f"path {operation.pointer} does not exist: there is no list or mapping at {reached} ({where})"
            raise InputError(operation.problem(message))
        node = holder.value
    if node.flow and node.parts:
        raise InputError(node.problem("an option cannot be folded in between brackets", "write it an item a line"))
    return holder, node


def _child(node: Node, step: str) -> Part | None:
    if isinstance(node, MappingNode):
        return node.entry(step)
    if isinstance(node, SequenceNode) and step.isdigit() and int(step) < len(node.items):
        return node.items[int(step)]
    return None


def _children(node: Node, steps: Iterable[str]) -> tuple[Collection, list[Part]]:
    """Return a collection, and those of its parts that are known to be there."""
    assert isinstance(node, Collection)
    found = [_child(node, step) for step in steps]
    return node, [part for part in found if part is not None]


def _tested(parent: Collection, part: Part | None, operation: Operation) -> Splice:
    assert part is not None
    assert operation.part is not None
    if to_value(part.value) != to_value(operation.part.value):
        raise InputError(operation.problem(f"test failed: {operation.pointer} is not the value given"))
    return Splice(parent.source.text, 0, 0)


def _lines(key: Node | None, value: Part, indent: str) -> list[str]:
    if key is None:
        item = Item(clone(value.value), 0)
        item.comment = value.comment
        return list(layout.items([item], indent))
    entry = Entry(key, clone(value.value), 0)
    entry.comment = value.comment
    return list(layout.lines([entry], indent))


def _insert(holder: Part | None, parent: Collection, operations: Sequence[Operation], index: int) -> Splice:
    source = parent.source
    newline = line_break(source)
    if parent.parts:
        lines = _added(parent, operations, _indent(parent))
        before = _line_end(parent.parts[index - 1]) if index else _line_break_before(parent.parts[0])
        return _spliced(source, before, before, "".join(newline + line for line in lines))
    if not isinstance(holder, Entry):
        raise InputError(parent.problem("nothing can be added to what is empty here"))
    colon = _value_span(holder)[0]
    if source.text[colon : parent.end] not in (" []", " {}"):
        raise InputError(parent.problem("an empty list or mapping is written [] or {} here", "then enable the option"))
    column = holder.start - source.line_start(holder.start)
    lines = _added(parent, operations, " " * (column + (2 if isinstance(parent, MappingNode) else 0)))
    end = _line_end(holder)
    new = source.text[parent.end : end] + "".join(newline + line for line in lines)
    return Splice(source.text[:colon] + new + source.text[end:], colon, colon + len(new))


def _added(parent: Collection, operations: Sequence[Operation], indent: str) -> list[str]:
    found: list[str] = []
    for operation in operations:
        assert operation.part is not None
        key = scalar(operation.steps[-1], operation.node) if isinstance(parent, MappingNode) else None
        found += _lines(key, operation.part, indent)
    return found


def _take_out_last(holder: Part | None, parent: Collection, part: Part) -> Splice:
    """Take a part out; where it was the only one, brackets say that nothing is left."""
    if len(parent.parts) > 1 or not isinstance(holder, Entry):
        return _take_out(parent, part)
    start, end = _value_span(holder)
    empty = " []" if isinstance(parent, SequenceNode) else " {}"
    rest = parent.source.text[start : _line_break_before(part)]
    return _spliced(parent.source, start, end, empty + rest)


def _take_out(parent: Collection, part: Part) -> Splice:
    if len(parent.parts) == 1:
        raise InputError(part.value.problem("this is all that there is, and cannot be taken out"))
    return _spliced(parent.source, _line_break_before(part), _line_end(part), "")


def _remove(parent: Collection, index: int) -> Splice:
    """Take a part out with what stands between it and the one before, or the one after the first."""
    part = parent.parts[index]
    if len(parent.parts) == 1:
        raise InputError(part.value.problem("this is all that there is, and cannot be taken out"))
    if index:
        start, end = _line_end(parent.parts[index - 1]), _line_end(part)
    else:
        start, end = _line_break_before(part), _line_break_before(parent.parts[1])
    text = parent.source.text
    return Splice(text[:start] + text[end:], start, start, text[start:end], index)


def _put_back(parent: Collection, was: str, index: int) -> Splice:
    index = min(index, len(parent.parts))
    before = _line_end(parent.parts[index - 1]) if index else _line_break_before(parent.parts[0])
    return _spliced(parent.source, before, before, was)


def _exchange(parent: Collection, part: Part, value: Part) -> Splice:
    source = part.value.source
    start, end = _value_span(part)
    indent = " " * (start - 1 - source.line_start(start)) if isinstance(part, Item) else _indent(parent)
    lines = _lines(part.key if isinstance(part, Entry) else None, value, indent)
    key = len(part.key.lexeme) if isinstance(part, Entry) else 0
    new = line_break(source).join(lines)[len(indent) + key + 1 :]
    return _spliced(source, start, end, new)


def _spliced(source: Source, start: int, end: int, new: str) -> Splice:
    text = source.text
    was = text[start:end] if end > start else None
    return Splice(text[:start] + new + text[end:], start, start + len(new), was)


def _indent(parent: Collection) -> str:
    """Return the blanks before a collection's keys, or before its dashes."""
    first = parent.entries[0].start if isinstance(parent, MappingNode) else parent.start
    return " " * (first - parent.source.line_start(first))


def _value_span(part: Part) -> tuple[int, int]:
    """Return where a value and the comment behind it stand: from behind the colon or dash to the end of the line."""
    source = part.value.source
    if isinstance(part, Entry):
        return source.text.index(":", part.key.end) + 1, _line_end(part)
    return _dash(part) + 1, _line_end(part)


def _dash(part: Part) -> int:
    """Return where an item's dash is: the last on its line before the value, with nothing but blanks between."""
    source = part.value.source
    dash = source.text.rfind("-", source.line_start(part.start), part.start)
    if dash < 0 or source.text[dash + 1 : part.start].strip():
        raise InputError(part.value.problem("an option cannot change this item where it stands"))
    return dash


def _line_end(part: Part) -> int:
    """Return the end of the last line of a part, before its line break."""
    text = part.value.source.text
    end = part.value.end
    if end > part.start and text[end - 1] == "\n":  # a block scalar ends behind its last line break
        end -= 1
    else:
        end = text.find("\n", end)
        end = len(text) if end < 0 else end
    return end - (text[end - 1 : end] == "\r")


def _line_break_before(part: Part) -> int:
    """Return the end of the line before a part."""
    source = part.value.source
    start = source.line_start(part.start)
    between = source.text[start : part.start]
    if between.strip(" -") or (isinstance(part, Item) and between.count("-") != 1) or start == 0:
        raise InputError(part.value.problem("an option cannot be folded in or out here"))
    if isinstance(part, Entry) and "-" in between:
        raise InputError(part.key.problem("an option cannot be folded in or out before the first key of an item"))
    start -= 1
    return start - (source.text[start - 1 : start] == "\r")
