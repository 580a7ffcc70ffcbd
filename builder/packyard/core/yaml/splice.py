"""Entries of a mapping added, replaced and removed by edits, in its own form, indentation and line ends.

    openAPI:                       openAPI:
      definitions:                   definitions:
        a: 1                           a: 1
    # end                              io.k8s.cli.setters.N:        <- behind the last entry
                                         x-k8s-cli: {…}
                                   # end

Items of lists are in `items`. Nothing here knows what the entries mean.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from packyard.core.errors import InputError
from packyard.core.yaml import items
from packyard.core.yaml.content import Text, Tree, Written, block, lexeme, reading
from packyard.core.yaml.content import flow as in_flow
from packyard.core.yaml.edit import Edit, exchange, properties, set_text
from packyard.core.yaml.node import Entry, MappingNode, Scalar, SequenceNode
from packyard.core.yaml.span import line_break, line_end, lines, next_line
from packyard.core.yaml.values import is_null


def change(mapping: MappingNode, values: Mapping[str, Tree | None]) -> list[Edit]:
    """Give entries other values: in place, or behind the last where one is missing; None removes one."""
    new = {key: tree for key, tree in values.items() if tree is not None}
    removed = values.keys() - new.keys()
    present = {key: entry for key in new if (entry := mapping.entry(key))}
    edits = [edit for key, entry in present.items() for edit in _replace(entry, new[key], flow=mapping.flow)]
    added = {key: tree for key, tree in new.items() if key not in present}
    return [*edits, *remove(mapping, removed), *append(mapping, added, gone=removed)]


def add(root: MappingNode, path: Sequence[str], entries: Mapping[str, Tree]) -> list[Edit]:
    """Add entries to the mapping under ``path``; what is missing, null or empty on the way is made."""
    node = root
    for depth, name in enumerate(path):
        entry = node.entry(name)
        if entry is None or is_null(entry.value) or (isinstance(entry.value, MappingNode) and not entry.value.entries):
            below: Tree = entries
            for step in reversed(path[depth + 1 :]):
                below = {step: below}
            return append(node, {name: below}) if entry is None else _fill(node, entry, below)
        if not isinstance(entry.value, MappingNode):
            raise InputError(entry.value.problem(f"{'.'.join(path[: depth + 1])} must be a mapping"))
        node = entry.value
    return append(node, entries)


def append(
    mapping: MappingNode,
    entries: Mapping[str, Tree],
    *,
    gone: Collection[str] = (),
    key: Callable[[str], str] = lexeme,
) -> list[Edit]:
    """Add entries behind the last one that is not ``gone``."""
    if not entries:
        return []
    source = mapping.source
    remaining = [entry for entry in mapping.entries if entry.name not in gone]
    new = [(name, reading(tree)) for name, tree in entries.items()]
    if mapping.flow and not mapping.entries:
        brace = source.text.index("{", mapping.start)
        return [Edit(brace + 1, mapping.end - 1, in_flow(entries, key)[1:-1], mapping, new=new)]
    if not remaining:
        raise InputError(mapping.problem("nothing can be added to a mapping that is empty"))
    end = remaining[-1].value.end
    if mapping.flow:
        return [Edit(end, end, f", {in_flow(entries, key)[1:-1]}", mapping, new=new)]
    first = remaining[0]
    before = source.text[source.line_start(first.start) : first.start]
    if before.strip(" -"):
        message = "nothing can be added to a mapping whose first key shares its line with '?', an anchor or a tag"
        raise InputError(first.key.problem(message, "write `key: value`, a line for each"))
    indent = " " * len(before)
    newline = line_break(source)
    at = end if source.text[end - 1] in "\r\n" else next_line(source, end)  # a block scalar ends behind its line
    text = "".join(f"{indent}{line}{newline}" for line in block(entries, key))
    if at == len(source.text) and source.text[at - 1] not in "\r\n":  # no line break at the end of the file
        return [Edit(at, at, newline + text.removesuffix(newline), mapping, new=new)]
    return [Edit(at, at, text, mapping, new=new)]


def remove(mapping: MappingNode, keys: Collection[str]) -> list[Edit]:
    """Remove entries: the lines of each in a block mapping, the text and one comma in a flow mapping."""
    edits: list[Edit] = []
    previous: Entry | None = None
    for position, entry in enumerate(mapping.entries):
        if entry.name not in keys:
            previous = entry
            continue
        if not mapping.flow:
            start, end = lines(entry)
            end = next_line(mapping.source, end)
        elif previous:
            start, end = mapping.entries[position - 1].value.end, entry.value.end
        else:
            following = mapping.entries[position + 1 : position + 2]
            start, end = entry.start, following[0].start if following else entry.value.end
        edits.append(Edit(start, end, "", mapping, gone=[entry]))
    return edits


def _replace(entry: Entry, tree: Tree, *, flow: bool) -> list[Edit]:
    """Write another scalar or list in the place of one; a list may stand in the place of null."""
    old = entry.value
    if isinstance(tree, str | Written) or is_null(old):
        if not isinstance(old, Scalar):
            shown = old.lexeme.splitlines()[0]
            raise InputError(old.problem(f"{entry.name} must be a text, and is written as {shown!r}"))
        if isinstance(tree, Text):
            return set_text(old, tree, "string", flow=flow, forced='"')
        return exchange(old, properties(old) + in_flow(tree), reading(tree))
    assert not isinstance(tree, Mapping)
    if not isinstance(old, SequenceNode):
        raise InputError(old.problem(f"{entry.name} must be a list"))
    return items.exchange(old, tree, entry)


def _fill(mapping: MappingNode, entry: Entry, below: Tree) -> list[Edit]:
    """Put a mapping in the place of an entry's value, which is null or empty."""
    old = entry.value
    source = old.source
    if mapping.flow:
        return exchange(old, in_flow(below), reading(below))
    colon = source.text.index(":", entry.key.end)
    if source.text[colon + 1 : old.start].strip() or old.lexeme[:1] in ("&", "!"):
        raise InputError(old.problem("nothing can be added where a comment, an anchor or a tag stands"))
    newline = line_break(source)
    indent = " " * (entry.start - source.line_start(entry.start) + 2)
    text = "".join(f"{newline}{indent}{line}" for line in block(below))
    end = line_end(source, old.end)
    return [Edit(colon + 1, end, source.text[old.end : end] + text, old, reads=reading(below))]
