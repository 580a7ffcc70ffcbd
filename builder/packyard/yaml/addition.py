"""Adding nested entries to a mapping by splices, in the mapping's own form, indentation and line ends.

    openAPI:                       openAPI:
      definitions:                   definitions:
        a: 1                           a: 1
    # end                              io.k8s.cli.setters.N:        <- behind the last entry
                                         x-k8s-cli: {…}
                                   # end

What is on the way and missing, null or empty is made. Knows nothing of what the entries mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from packyard.errors import InputError
from packyard.yaml.edit import Edit, exchange
from packyard.yaml.node import Entry, MappingNode, Node
from packyard.yaml.scalar import double_quoted, fits_plain, is_plain_text, single_quoted
from packyard.yaml.span import line_break, line_end
from packyard.yaml.splice import Addition, append
from packyard.yaml.values import is_null


class Text(str):
    """A text that gets the quotes that it needs where it is written."""

    __slots__ = ()


class SingleQuoted(Text):
    """A text that is written in single quotes."""

    __slots__ = ()


class DoubleQuoted(Text):
    """A text that is written in double quotes."""

    __slots__ = ()


#: What is added, in mappings by key and in lists: texts, and other scalars as they are to be written.
Tree = Text | str | Mapping[str, "Tree"] | Sequence["Tree"]


def lexeme(text: str, *, flow: bool = False) -> str:
    """Write a text so that every reader takes it for that text: plain, double quoted if it looks like a number, say."""
    if is_plain_text(text, flow=flow):
        return text
    return double_quoted(text) if fits_plain(text, flow=flow) or not text else single_quoted(text)


def add(
    root: MappingNode, path: Sequence[str], entries: Mapping[str, Tree], *, quoted: Callable[[str], str] = lexeme
) -> list[Edit]:
    """Add entries to the mapping under ``path``; ``quoted`` writes keys."""
    node = root
    for depth, name in enumerate(path):
        entry = node.entry(name)
        if entry is None or _is_empty(entry.value):
            below: Tree = entries
            for key in reversed(path[depth + 1 :]):
                below = {key: below}
            return _insert(node, {name: below}, quoted) if entry is None else _fill(node, entry, below, quoted)
        if not isinstance(entry.value, MappingNode):
            raise InputError(entry.value.problem(f"{'.'.join(path[: depth + 1])} is no mapping"))
        node = entry.value
    return _insert(node, entries, quoted)


def _insert(node: MappingNode, entries: Mapping[str, Tree], quoted: Callable[[str], str]) -> list[Edit]:
    if node.flow:
        texts = [Addition(f"{quoted(key)}: {_flow(value, quoted)}", key, value) for key, value in entries.items()]
        if node.entries:
            return append(node, texts, set())
        brace = node.source.text.index("{", node.start)
        inside = ", ".join(item.text for item in texts)
        return [Edit(brace + 1, node.end - 1, inside, node, new=[(item.key, item.reads) for item in texts])]
    source = node.source
    first = node.entries[0].start
    newline = line_break(source) + " " * (first - source.line_start(first))
    texts = [Addition(newline.join(_block({key: value}, quoted)), key, value) for key, value in entries.items()]
    return append(node, texts, set())


def _fill(node: MappingNode, entry: Entry, below: Tree, quoted: Callable[[str], str]) -> list[Edit]:
    """Put a mapping in the place of an entry's value, which is null or empty."""
    old = entry.value
    source = old.source
    if node.flow:
        return exchange(old, _flow(below, quoted), below)
    colon = source.text.index(":", entry.key.end)
    if source.text[colon + 1 : old.start].strip() or old.lexeme[:1] in ("&", "!"):
        raise InputError(old.problem("nothing can be added where a comment, an anchor or a tag stands"))
    newline = line_break(source)
    indent = " " * (entry.start - source.line_start(entry.start) + 2)
    lines = "".join(f"{newline}{indent}{line}" for line in _block(below, quoted))
    end = line_end(source, old.end)
    return [Edit(colon + 1, end, source.text[old.end : end] + lines, old, reads=below)]


def _block(tree: Tree, quoted: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of a mapping or list, lists in the column of their key."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            if isinstance(value, str) or not value:
                yield f"{quoted(key)}: {_leaf(value)}"
            else:
                yield f"{quoted(key)}:"
                indent = "  " if isinstance(value, Mapping) else ""
                yield from (indent + line for line in _block(value, quoted))
    else:
        for value in tree:
            if isinstance(value, str) or not value:
                yield f"- {_leaf(value)}"
            else:
                yield from (f"{'  ' if number else '- '}{line}" for number, line in enumerate(_block(value, quoted)))


def _leaf(tree: Tree, *, flow: bool = False) -> str:
    if isinstance(tree, SingleQuoted):
        return single_quoted(tree)
    if isinstance(tree, DoubleQuoted):
        return double_quoted(tree)
    if isinstance(tree, Text):
        return lexeme(tree, flow=flow)
    if isinstance(tree, str):
        return tree
    return "{}" if isinstance(tree, Mapping) else "[]"


def _flow(tree: Tree, quoted: Callable[[str], str]) -> str:
    if isinstance(tree, str):
        return _leaf(tree, flow=True)
    if isinstance(tree, Mapping):
        return "{" + ", ".join(f"{quoted(key)}: {_flow(value, quoted)}" for key, value in tree.items()) + "}"
    return "[" + ", ".join(_flow(value, quoted) for value in tree) + "]"


def _is_empty(node: Node) -> bool:
    return is_null(node) or (isinstance(node, MappingNode) and not node.entries)
