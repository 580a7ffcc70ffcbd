"""Adding entries to a mapping and removing them, by splices of its text in its own form, indentation and line ends."""

from __future__ import annotations

from collections.abc import Iterable

from packyard.dataclass import dataclass
from packyard.errors import InputError
from packyard.yaml.edit import Edit
from packyard.yaml.node import Entry, MappingNode
from packyard.yaml.span import line_break, lines, next_line

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from packyard.yaml.edit import Reading


@dataclass(frozen=True, slots=True)
class Addition:
    """An entry to be added to a mapping: how it is written, its key, and what its value reads."""

    text: str
    key: str
    reads: Reading


def take_out(mapping: MappingNode, keys: set[str]) -> list[Edit]:
    """Remove entries: the lines of each in a block mapping, the text and one comma in a flow mapping."""
    edits: list[Edit] = []
    kept: Entry | None = None
    for position, entry in enumerate(mapping.entries):
        if entry.name not in keys:
            kept = entry
        elif not mapping.flow:
            start, end = lines(entry)
            edits.append(Edit(start, next_line(mapping.source, end), "", mapping, gone=[entry]))
        elif kept:
            start = mapping.entries[position - 1].value.end
            edits.append(Edit(start, entry.value.end, "", mapping, gone=[entry]))
        else:
            following = mapping.entries[position + 1].start if position + 1 < len(mapping.entries) else entry.value.end
            edits.append(Edit(entry.start, following, "", mapping, gone=[entry]))
    return edits


def append(mapping: MappingNode, new: Iterable[Addition], gone: set[str]) -> list[Edit]:
    """Add entries behind the last one that stays, in the mapping's own form, indentation and line ends."""
    new = list(new)
    if not new:
        return []
    source = mapping.source
    kept = [entry for entry in mapping.entries if entry.name not in gone]
    if not kept:
        raise InputError(mapping.problem("nothing can be added to a mapping that is empty"))
    children = [(item.key, item.reads) for item in new]
    end = kept[-1].value.end
    if mapping.flow:
        return [Edit(end, end, "".join(f", {item.text}" for item in new), mapping, new=children)]
    first = kept[0]
    before = source.text[source.line_start(first.start) : first.start]
    if before.strip(" -"):
        message = "nothing can be added to a mapping whose first key shares its line with '?', an anchor or a tag"
        raise InputError(first.key.problem(message, "write `key: value`, a line for each"))
    indent = " " * len(before)
    newline = line_break(source)
    at = end if source.text[end - 1] in "\r\n" else next_line(source, end)  # a block scalar ends behind its line
    text = "".join(f"{indent}{item.text}{newline}" for item in new)
    if at == len(source.text) and source.text[at - 1] not in "\r\n":  # no line break at the end of the file
        return [Edit(at, at, newline + text.removesuffix(newline), mapping, new=children)]
    return [Edit(at, at, text, mapping, new=children)]
