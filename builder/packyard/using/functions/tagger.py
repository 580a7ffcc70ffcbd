"""Finds the fields that show values of setters, and writes a kpt setter comment behind each.

    image: nginx:1.7 of image=nginx, tag=1.7    ->    image: nginx:1.7 # kpt-set: ${image}:${tag}

A list that a list setter equals, in any order, is tagged behind its key. A list in brackets gets a line for each item
where it, or an item, needs a comment.
"""

from collections.abc import Mapping

from packyard.core.errors import InputError
from packyard.core.yaml.document import scalars
from packyard.core.yaml.edit import Edit, replace_comment
from packyard.core.yaml.node import Comment, Entry, Node, Scalar, SequenceNode
from packyard.core.yaml.span import header_end, line_break
from packyard.core.yaml.values import double_quoted
from packyard.using.functions.resourcelist import ResourceItem, Result
from packyard.using.setters.fields import path_text
from packyard.using.setters.kpt.apply import roots_of, sorted_texts
from packyard.using.setters.kpt.tags import PREFIX, Cover, Place, places

#: How an orchestrator's own annotations begin, which are gone when it writes the file.
_RESERVED = ("internal.config.", "config.k8s.io/", "config.kubernetes.io/index", "config.kubernetes.io/path")


class Tagger:
    """Looks for the values of setters in objects: ``edits`` write the comments, ``results`` say which, and where."""

    def __init__(self, values: Mapping[str, str]) -> None:
        """Take the configuration: a value that is a list in YAML is a list setter, a mapping is nothing."""
        if not values:
            raise InputError("config map cannot be empty")
        self.edits: list[Edit] = []
        self.results: list[Result] = []
        texts: dict[str, str] = {}
        self._lists: dict[tuple[str, ...], str] = {}  # the names of lists by their sorted values
        for name, text in values.items():
            if not (roots := roots_of(text)):
                raise InputError("parsing error")
            if isinstance(roots[0], SequenceNode):
                self._lists.setdefault(tuple(sorted_texts(roots[0])), name)
            elif isinstance(roots[0], Scalar):
                texts[name] = text
        self._cover = Cover(texts)

    def tag(self, item: ResourceItem) -> None:
        """Find what to tag in an object, and how."""
        on_lines: set[int] = set()  # the ids of items that get a line each, and their comments with it
        for place in places(item.root):
            if place.path[:2] == ("metadata", "annotations") and str(place.path[2]).startswith(_RESERVED):
                continue
            if isinstance(place.node, SequenceNode):
                on_lines |= self._list(item, place, place.node)
            elif (pattern := self._pattern(place.node)) is None:
                continue
            elif place.flow and id(place.node) not in on_lines:
                self._leave_out(item, place)
            else:
                self._note(item, place, place.node.value, pattern)
                at = header_end(place.node) if place.node.style in "|>" else place.node.end
                self.edits += [] if place.flow else [_comment_edit(place.comment, at, pattern, place.node)]

    def _note(self, item: ResourceItem, place: Place, value: str, pattern: str) -> None:
        message = f'Added line comment "kpt-set: {pattern}" for field with value "{value}"'
        self.results.append(Result(message=message, item=item, field_path=path_text(place.path)))

    def _leave_out(self, item: ResourceItem, place: Place) -> None:
        message = "a field inside brackets cannot carry a comment"
        self.results.append(Result(message, "warning", item, path_text(place.path)))

    def _pattern(self, node: Scalar) -> str | None:
        return None if "\n" in node.value else self._cover.pattern(node.value)

    def _list(self, item: ResourceItem, place: Place, node: SequenceNode) -> set[int]:
        """Tag a list; return the ids of its items where it is written anew, with their comments."""
        texts = tuple(sorted_texts(node))
        name, entry = self._lists.get(texts), place.entry
        if entry is None or (name is None and not (node.flow and any(map(self._cover.pattern, texts)))):
            return set()
        if place.flow or node.anchor or node.tag:
            self._leave_out(item, place)
            return set()
        if name is not None:
            self._note(item, place, f"[{' '.join(texts)}]", f"${{{name}}}")
        if node.flow and node.items and not _has_comments(node):
            self.edits += self._on_lines(entry, node, name)
            return {id(child.value) for child in node.items}
        if name is not None:
            at = node.end if node.flow else entry.key.source.text.index(":", entry.key.end) + 1
            self.edits.append(_comment_edit(place.comment, at, f"${{{name}}}", entry))
        return set()

    def _on_lines(self, entry: Entry, node: SequenceNode, name: str | None) -> list[Edit]:
        """Write a list in brackets a line each, two columns behind its key, so that every item can have its comment.

        An orchestrator copies a comment that stood behind the bracket to the wrong line; so such a list is left as it
        is.
        """
        source = node.source
        newline = line_break(source) + " " * (entry.start - source.line_start(entry.start) + 2)
        at = source.text.index(":", entry.key.end) + 1
        edits = [] if name is None else [_comment_edit(None, at, f"${{{name}}}", entry)]
        lines, texts, comments = [""], [], []
        for value in scalars(node):
            line = "- " + (value.lexeme if "\n" not in value.lexeme else double_quoted(value.value))
            pattern = self._pattern(value)
            if pattern is not None:
                comments.append(PREFIX + pattern)
                line += f" {comments[-1]}"
            lines.append(line)
            texts.append(value.value)
        return [*edits, Edit(at, node.end, newline.join(lines), node, reads=texts, comments=comments)]


def _comment_edit(old: Comment | None, at: int, text: str, owner: Node | Entry) -> Edit:
    """Put a comment in place of the one that is there, or behind what ends at ``at``."""
    new = PREFIX + text
    return replace_comment(old, new) if old else Edit(at, at, f" {new}", owner, comments=[new])


def _has_comments(node: SequenceNode) -> bool:
    """Say whether a list in brackets has a comment behind or in it, or an item that is more than a scalar."""
    return node.comment is not None or any(
        item.head or item.foot or item.comment or item.value.comment or not isinstance(item.value, Scalar)
        for item in node.items
    )
