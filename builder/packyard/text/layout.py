"""The one layout of the files that packyard writes anew, made from the lexemes of their sources.

Two blanks of indentation, dashes in the column of their key, one blank before a comment, no blank lines, block
collections (``[]`` and ``{}`` where they are empty). Scalars are written as they were: a value that went through a YAML
library would turn ``0644`` into 420.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packyard.errors import InputError
from packyard.text.node import Collection, Comment, Entry, Item, Mapping, Part, Scalar, Sequence
from packyard.text.scalar import double_quoted, is_plain_text


def write(root: Collection, *, head: Iterable[Comment] = (), tail: Iterable[Comment] = ()) -> bytes:
    """Write one document; anchors, aliases, tags and comments behind brackets are refused, by file and line."""
    written = [*(comment.text for comment in head), *_collection(root, ""), *(comment.text for comment in tail)]
    return ("\n".join(written) + "\n").encode()


def lines(entries: Iterable[Entry], indent: str = "") -> Iterator[str]:
    """Yield the lines of a mapping's entries, as they stand in a document at this indentation."""
    for entry in entries:
        yield from (indent + comment.text for comment in entry.head)
        if not isinstance(entry.key, Scalar) or "\n" in entry.key.lexeme:
            raise InputError(entry.key.problem("a key that is not text on one line cannot be composed"))
        yield from _value(f"{indent}{entry.key.lexeme}:", entry, indent, indent + "  ")
        yield from (f"{indent}{comment.text}" for comment in entry.foot)


def items(items: Iterable[Item], indent: str = "") -> Iterator[str]:
    """Yield the lines of a list's items, as they stand in a document at this indentation."""
    for item in items:
        yield from (indent + comment.text for comment in item.head)
        if isinstance(item.value, Collection) and item.value.parts and item.comment is None:
            below = _collection(item.value, indent + "  ")
            first = next(below)
            while first.lstrip().startswith("#"):  # a comment above the first key goes above the dash
                yield indent + first.lstrip()
                first = next(below)
            yield f"{indent}- {first.removeprefix(indent + '  ')}"
            yield from below
        else:
            yield from _value(f"{indent}-", item, indent, indent + "  ")
        yield from (f"{indent}{comment.text}" for comment in item.foot)


def _collection(node: Collection, indent: str) -> Iterator[str]:
    if isinstance(node, Mapping):
        _check(node)
        return lines(node.entries, indent)
    assert isinstance(node, Sequence)
    _check(node)
    return items(node.items, indent)


def _value(start: str, part: Part, indent: str, deeper: str) -> Iterator[str]:
    """Write what stands behind a key or a dash: on its line, or on the lines below."""
    value = part.value
    behind = f" {part.comment.text}" if part.comment else ""
    if isinstance(value, Scalar):
        first, *rest = _scalar(value, deeper)
        comment = value.comment or part.comment
        yield (f"{start} {first}" if first else start) + (f" {comment.text}" if comment else "")
        yield from rest
    elif isinstance(value, Collection):
        if not value.parts:
            _check(value)
            yield f"{start} {'{}' if isinstance(value, Mapping) else '[]'}{behind}"
            return
        yield start + behind
        inner = indent if isinstance(value, Sequence) and isinstance(part, Entry) else deeper
        yield from _collection(value, inner)
    else:
        raise InputError(value.problem("an alias cannot be composed", "write the value out"))


def _scalar(node: Scalar, indent: str) -> list[str]:
    """Return the lines of a scalar: the first goes behind its key, the others are indented already."""
    if node.tag is not None or node.anchor is not None:
        raise InputError(node.problem("tags and anchors cannot be composed", "write the value without"))
    lexeme = node.lexeme
    if node.style in "|>":
        return _block(node, indent)
    if "\n" in lexeme or "\r" in lexeme:  # text folded over several lines is always a string
        return [node.value if is_plain_text(node.value) else double_quoted(node.value)]
    return [lexeme]


def _block(node: Scalar, indent: str) -> list[str]:
    header, *lines = node.lexeme.splitlines()
    if "#" in header or any(character.isdigit() for character in header):
        hint = "leave the comment and the indentation indicator out"
        raise InputError(node.problem(f"a block scalar that begins {header!r} cannot be composed", hint))
    if "+" not in header:
        while lines and not lines[-1].strip():
            lines.pop()
    depth = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return [header.rstrip(), *(indent + line[depth:] if line.strip() else "" for line in lines)]


def _check(node: Collection) -> None:
    if node.tag is not None or node.anchor is not None:
        raise InputError(node.problem("tags and anchors cannot be composed", "write the value out"))
    if node.comment is not None and node.flow:
        hint = "write the collection without brackets, an item a line"
        raise InputError(node.problem("a comment behind brackets cannot be composed", hint))
