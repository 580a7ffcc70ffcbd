"""Finds the fields that show values of setters, and writes a kpt setter comment behind each.

    image: nginx:1.7 of image=nginx, tag=1.7    ->    image: nginx:1.7 # kpt-set: ${image}:${tag}

A list that a list setter equals, in any order, is tagged behind its key. A list in brackets gets a line for each item
where it, or an item, needs a comment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from packyard.core.errors import InputError
from packyard.core.yaml.document import scalars
from packyard.core.yaml.edit import Edit, replace_comment
from packyard.core.yaml.node import Comment, Entry, Node, Scalar, SequenceNode
from packyard.core.yaml.span import header_end, line_break
from packyard.core.yaml.values import double_quoted
from packyard.using.setters.fields import path_text
from packyard.using.setters.kpt.apply import roots_of, sorted_texts
from packyard.using.setters.kpt.tags import Cover, Place, places, write_comment

#: How an orchestrator's own annotations begin, which are gone when it writes the file.
_RESERVED = ("internal.config.", "config.k8s.io/", "config.kubernetes.io/index", "config.kubernetes.io/path")
#: A comment for one field: its path, what it shows (a list as kpt prints one), and the pattern.
Tag = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The setters to look for: those that are texts, and the names of lists by their sorted values."""

    texts: Cover
    lists: Mapping[tuple[str, ...], str]


@dataclass(slots=True)
class Tags:
    """What was found in one object: the edits, the tags, and paths of fields that cannot carry a comment."""

    edits: list[Edit] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def read_wanted(values: Mapping[str, str]) -> Wanted:
    """Read the configuration: a value that is a list in YAML is a list setter, a mapping is nothing."""
    if not values:
        raise InputError("config map cannot be empty")
    texts: dict[str, str] = {}
    lists: dict[tuple[str, ...], str] = {}
    for name, text in values.items():
        roots = roots_of(text)
        if not roots:
            raise InputError("parsing error")
        if isinstance(roots[0], SequenceNode):
            lists.setdefault(tuple(sorted_texts(roots[0])), name)
        elif isinstance(roots[0], Scalar):
            texts[name] = text
    return Wanted(Cover(texts), lists)


def tag(root: Node | None, wanted: Wanted) -> Tags:
    """Find what to tag below ``root``, and how."""
    tags = Tags()
    on_lines: set[int] = set()  # the ids of items that get a line each, and their comments with it
    for place in places(root):
        if place.path[:2] == ("metadata", "annotations") and str(place.path[2]).startswith(_RESERVED):
            continue
        if isinstance(place.node, SequenceNode):
            on_lines |= _list(place, place.node, wanted, tags)
        elif (pattern := _pattern(place.node, wanted)) is None:
            continue
        elif place.flow and id(place.node) not in on_lines:
            tags.left_out.append(path_text(place.path))
        else:
            tags.tags.append((path_text(place.path), place.node.value, pattern))
            at = header_end(place.node) if place.node.style in "|>" else place.node.end
            tags.edits += [] if place.flow else [_comment_edit(place.comment, at, pattern, place.node)]
    return tags


def _pattern(node: Scalar, wanted: Wanted) -> str | None:
    return None if "\n" in node.value else wanted.texts.pattern(node.value)


def _comment_edit(old: Comment | None, at: int, text: str, owner: Node | Entry) -> Edit:
    """Put a comment in place of the one that is there, or behind what ends at ``at``."""
    new = write_comment(text)
    return replace_comment(old, new) if old else Edit(at, at, f" {new}", owner, comments=[new])


def _list(place: Place, node: SequenceNode, wanted: Wanted, tags: Tags) -> set[int]:
    """Tag a list; return the ids of its items where it is written anew, with their comments."""
    texts = tuple(sorted_texts(node))
    name, entry = wanted.lists.get(texts), place.entry
    if entry is None or (name is None and not (node.flow and any(map(wanted.texts.pattern, texts)))):
        return set()
    if place.flow or node.anchor or node.tag:
        tags.left_out.append(path_text(place.path))
        return set()
    if name is not None:
        tags.tags.append((path_text(place.path), f"[{' '.join(texts)}]", f"${{{name}}}"))
    if node.flow and node.items and not _has_comments(node):
        tags.edits += _on_lines(entry, node, name, wanted)
        return {id(item.value) for item in node.items}
    if name is not None:
        at = node.end if node.flow else entry.key.source.text.index(":", entry.key.end) + 1
        tags.edits.append(_comment_edit(place.comment, at, f"${{{name}}}", entry))
    return set()


def _has_comments(node: SequenceNode) -> bool:
    """Say whether a list in brackets has a comment behind or in it, or an item that is more than a scalar."""
    return node.comment is not None or any(
        item.head or item.foot or item.comment or item.value.comment or not isinstance(item.value, Scalar)
        for item in node.items
    )


def _on_lines(entry: Entry, node: SequenceNode, name: str | None, wanted: Wanted) -> list[Edit]:
    """Write a list in brackets a line each, two columns behind its key, so that every item can have its comment.

    An orchestrator copies a comment that stood behind the bracket to the wrong line; so such a list is left as it is.
    """
    source = node.source
    newline = line_break(source) + " " * (entry.start - source.line_start(entry.start) + 2)
    at = source.text.index(":", entry.key.end) + 1
    edits = [] if name is None else [_comment_edit(None, at, f"${{{name}}}", entry)]
    lines, texts, comments = [""], [], []
    for value in scalars(node):
        line = "- " + (value.lexeme if "\n" not in value.lexeme else double_quoted(value.value))
        pattern = _pattern(value, wanted)
        if pattern is not None:
            comments.append(write_comment(pattern))
            line += f" {comments[-1]}"
        lines.append(line)
        texts.append(value.value)
    return [*edits, Edit(at, node.end, newline.join(lines), node, reads=texts, comments=comments)]
