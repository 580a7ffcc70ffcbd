"""A list with other items: those that stay keep their lines, those that go take their own comments with them.

    args: # C             of a, q, r            args: # C
    - a # first                                 - a # first
    # about b                                   - q
    - b # second                                - r

Knows nothing of what the items mean, only how each is written and read.
"""

from collections.abc import Sequence

from packyard.core.errors import InputError
from packyard.core.yaml.content import Tree, block, flow, reading
from packyard.core.yaml.document import find_comments
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Child, Entry, Item, Node, Scalar, SequenceNode
from packyard.core.yaml.span import expanded, line_break, line_end, lines
from packyard.core.yaml.values import is_plain_text


def exchange(node: SequenceNode, new: Sequence[Tree], holder: Child | None) -> list[Edit]:
    """Return the edits that give a list of texts its new items; those that it has already stay, each at most once."""
    old = [_text_of(child.value) for child in expanded(node).children]
    return replace(node, new, match(old, [*map(reading, new)]), holder)


def replace(node: SequenceNode, new: Sequence[Tree], same: Sequence[int | None], holder: Child | None) -> list[Edit]:
    """Return the edits that give a list its new items; ``same[i]`` is the index of the old item, rising, or None.

    ``holder`` has the list as its value; a list on lines of its own that loses all items becomes ``[]`` behind its key.
    """
    if same == list(range(len(node.items))):
        return []
    if node.anchor or node.tag:
        raise InputError(node.problem("a list with an anchor or a tag cannot be replaced exactly"))
    if node.flow:
        return _in_brackets(node, new, same)
    return _on_lines(node, new, same) if new else _emptied(node, holder)


def match(old: Sequence[object], new: Sequence[object]) -> list[int | None]:
    """Return for each new item which old one it is: the next that is equal, behind that of the item before, or None."""
    same: list[int | None] = []
    behind = 0
    for item in new:
        place = old.index(item, behind) if item in old[behind:] else None
        same.append(place)
        behind = behind if place is None else place + 1
    return same


def _text_of(node: Node) -> str | None:
    """Return the text of a scalar that every reader takes for text, without a tag; None for others."""
    if not isinstance(node, Scalar) or node.tag is not None:
        return None
    return node.value if node.style != "plain" or is_plain_text(node.value) else None


def _in_brackets(node: SequenceNode, new: Sequence[Tree], same: Sequence[int | None]) -> list[Edit]:
    """Write a list in brackets anew; where comments stand inside, none of its items may stay."""
    inside = any(comment.start < node.end for comment in find_comments(node))
    if not inside or not any(at is not None for at in same):
        texts = [flow(item) if at is None else node.items[at].value.lexeme for item, at in zip(new, same, strict=True)]
        start = node.source.text.index("[", node.start)
        text = "[" + ", ".join(texts) + "]"
        return [Edit(start, node.end, text, node, new=[*map(reading, new)], gone=node.children)]
    raise InputError(
        node.problem("items of a list in brackets with comments inside cannot stay", "write an item a line")
    )


def _emptied(node: SequenceNode, child: Child | None) -> list[Edit]:
    """Write ``[]`` behind the key of a block list, with the comment that stands there behind it."""
    source = node.source
    if not isinstance(child, Entry):
        raise InputError(node.problem("the last item of a list in a list cannot be removed", "write it as []"))
    colon = source.text.find(":", child.key.end, node.start)
    if colon < 0:
        raise InputError(child.key.problem("the last item of this list cannot be removed", "write `key: []`"))
    end = lines(node.items[-1])[1]
    rest = source.text[colon + 1 : line_end(source, colon)]
    return [Edit(colon + 1, end, " []" + rest, node, reads=[], gone=node.items)]


def _on_lines(node: SequenceNode, new: Sequence[Tree], same: Sequence[int | None]) -> list[Edit]:
    source = node.source
    newline = line_break(source)
    indent = " " * (node.start - source.line_start(node.start))
    edits: list[Edit] = []
    places = [-1, *(at for at in same if at is not None), len(node.items)]
    runs: list[list[Tree]] = [[]]
    for item, at in zip(new, same, strict=True):
        if at is None:
            runs[-1].append(item)
        else:
            runs.append([])
    for run, before, after in zip(runs, places, places[1:], strict=False):
        removed = node.items[before + 1 : after]
        if run and removed:
            edits.append(
                Edit(*lines(removed[0]), _lines(run, indent, newline), node, new=[*map(reading, run)], gone=removed[:1])
            )
        elif run:
            at = _behind(node.items[before]) if before >= 0 else lines(node.items[0])[0]
            text = _lines(run, indent, newline)
            text = newline + text if before >= 0 else text + newline
            edits.append(Edit(at, at, text, node, new=[*map(reading, run)]))
        edits += [_without(node, old) for old in removed[1 if run else 0 :]]
    return edits


def _lines(new: Sequence[Tree], indent: str, newline: str) -> str:
    return newline.join(indent + line if line else "" for line in block(new))


def _behind(item: Item) -> int:
    """Return where the next item's line is put: behind an item's own lines, blank lines of a kept block included."""
    end = lines(item)[1]
    text = item.value.source.text
    stop = item.value.end
    if stop > end and text[stop - 1] in "\r\n":
        return stop - (2 if text[stop - 2 : stop] == "\r\n" else 1)
    return end


def _without(node: SequenceNode, item: Item) -> Edit:
    """Take an item out, with the line break before it: the last line of a file may have none behind."""
    text = node.source.text
    start, end = lines(item)
    start -= min(start, 2 if text[start - 2 : start] == "\r\n" else 1)
    return Edit(start, end, "", node, gone=[item])
