"""Finds the fields that show values of setters, and writes a kpt setter comment behind each.

    image: nginx:1.7 of image=nginx, tag=1.7    ->    image: nginx:1.7 # kpt-set: ${image}:${tag}

A list that a list setter equals, in any order, is tagged behind its key. A list in brackets gets a line for each item
where it, or an item, needs a comment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from packyard.core.errors import InputError
from packyard.core.kubernetes.fieldtypes import Step
from packyard.core.yaml.edit import Edit, replace_comment
from packyard.core.yaml.node import Comment, Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.span import header_end, line_break
from packyard.core.yaml.values import double_quoted
from packyard.using.setters.fields import path_text
from packyard.using.setters.kpt.apply import roots_of, sorted_texts
from packyard.using.setters.kpt.tagged import Cover, list_comment, scalar_comment, write_comment

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
    scalars: dict[str, str] = {}
    lists: dict[tuple[str, ...], str] = {}
    for name, text in values.items():
        roots = roots_of(text)
        if not roots:
            raise InputError("parsing error")
        if isinstance(roots[0], SequenceNode):
            lists.setdefault(tuple(sorted_texts(roots[0])), name)
        elif isinstance(roots[0], Scalar):
            scalars[name] = text
    return Wanted(Cover(scalars), lists)


def tag(root: Node | None, wishes: Wanted) -> Tags:
    """Find what to tag below ``root``, and how."""
    tags = Tags()
    _visit(root, (), wishes, tags, flow=False)
    return tags


def _visit(node: Node | None, path: tuple[Step, ...], wishes: Wanted, tags: Tags, *, flow: bool) -> None:
    if isinstance(node, MappingNode):
        flow = flow or node.flow
        broken = {}
        for entry in node.entries:
            if isinstance(entry.value, SequenceNode):
                broken[id(entry)] = _list(entry, entry.value, (*path, entry.name), wishes, tags, flow)
        for entry in node.entries:
            items = broken.get(id(entry))
            if items is not None:
                tags.tags += items
            elif not _is_reserved(path, entry):
                _visit(entry.value, (*path, entry.name), wishes, tags, flow=flow)
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            _visit(item.value, (*path, index), wishes, tags, flow=flow or node.flow)
    elif isinstance(node, Scalar):
        _scalar(node, path, wishes, tags, flow)


def _is_reserved(path: tuple[Step, ...], entry: Entry) -> bool:
    """Say whether an entry is one of an orchestrator's own annotations, which are gone when it writes the file."""
    wire = ("internal.config.", "config.k8s.io/", "config.kubernetes.io/index", "config.kubernetes.io/path")
    return path == ("metadata", "annotations") and entry.name.startswith(wire)


def _scalar(node: Scalar, path: tuple[Step, ...], wishes: Wanted, tags: Tags, flow: bool) -> None:
    pattern = None if "\n" in node.value else wishes.texts.pattern(node.value)
    if pattern is None:
        return
    if flow:
        tags.left_out.append(path_text(path))
        return
    tags.tags.append((path_text(path), node.value, pattern))
    at = header_end(node) if node.style in "|>" else node.end
    tags.edits.append(_comment_edit(scalar_comment(node), at, pattern, node))


def _comment_edit(old: Comment | None, at: int, text: str, owner: Node | Entry) -> Edit:
    """Put a comment in place of the one that is there, or behind what ends at ``at``."""
    new = write_comment(text)
    return replace_comment(old, new) if old else Edit(at, at, f" {new}", owner, comments=[new])


def _list(
    entry: Entry, node: SequenceNode, path: tuple[Step, ...], wishes: Wanted, tags: Tags, flow: bool
) -> list[Tag] | None:
    """Tag a list; where it is written anew, with its items' comments, return the tags of the items."""
    texts = tuple(sorted_texts(node))
    name = wishes.lists.get(texts)
    if name is None and not (node.flow and any(map(wishes.texts.pattern, texts))):
        return None
    if flow or node.anchor or node.tag:
        tags.left_out.append(path_text(path))
        return None
    if name is not None:
        tags.tags.append((path_text(path), f"[{' '.join(texts)}]", f"${{{name}}}"))
    if node.flow and node.items and not _has_comments(node):
        edits, items = _broken(entry, node, path, name, wishes)
        tags.edits += edits
        return items
    if name is not None:
        at = node.end if node.flow else entry.key.source.text.index(":", entry.key.end) + 1
        tags.edits.append(_comment_edit(list_comment(entry, node), at, f"${{{name}}}", entry))
    return None


def _has_comments(node: SequenceNode) -> bool:
    """Say whether a list in brackets has a comment behind or in it, or an item that is more than a scalar."""
    return node.comment is not None or any(
        item.head or item.foot or item.comment or item.value.comment or not isinstance(item.value, Scalar)
        for item in node.items
    )


def _broken(
    entry: Entry, node: SequenceNode, path: tuple[Step, ...], name: str | None, wishes: Wanted
) -> tuple[list[Edit], list[Tag]]:
    """Write a list in brackets a line each, two columns behind its key, so that every item can have its comment.

    An orchestrator copies a comment that stood behind the bracket to the wrong line; so such a list is left as it is.
    """
    source = node.source
    newline = line_break(source) + " " * (entry.start - source.line_start(entry.start) + 2)
    at = source.text.index(":", entry.key.end) + 1
    edits = [] if name is None else [_comment_edit(None, at, f"${{{name}}}", entry)]
    tags = []
    lines, texts, comments = [""], [], []
    for index, item in enumerate(node.items):
        value = item.value
        assert isinstance(value, Scalar)
        line = "- " + (value.lexeme if "\n" not in value.lexeme else double_quoted(value.value))
        pattern = None if "\n" in value.value else wishes.texts.pattern(value.value)
        if pattern is not None:
            tags.append((path_text((*path, index)), value.value, pattern))
            comments.append(write_comment(pattern))
            line += f" {comments[-1]}"
        lines.append(line)
        texts.append(value.value)
    return [*edits, Edit(at, node.end, newline.join(lines), node, reads=texts, comments=comments)], tags
