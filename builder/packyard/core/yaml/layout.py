"""The one layout of the files that packyard writes anew, made from the lexemes of their sources.

Two blanks of indentation, dashes in the column of their key, one blank before a comment, no blank lines. Scalars are
written as they were: a value that went through a YAML library would turn ``0644`` into 420. Brackets stay brackets
where all of them fit on one line that kustomize 3.8.7 would not fold.
"""

import re
from collections.abc import Iterable, Iterator

from packyard.core.errors import InputError
from packyard.core.yaml.node import (
    Alias,
    Child,
    Collection,
    Comment,
    Entry,
    MappingNode,
    Node,
    Scalar,
    SequenceNode,
)
from packyard.core.yaml.span import children_below
from packyard.core.yaml.values import quoted

#: kustomize 3.8.7 breaks a line at the first blank of a text, or comma in brackets, behind this column.
WIDTH = 80
_ANCHOR = re.compile(r"\A&\S+(\s+|\Z)")


def write(root: Collection, *, head: Iterable[Comment] = ()) -> bytes:
    """Write one document; tags are refused, by file and line."""
    texts = [*(comment.text for comment in head), *_collection(root, "")]
    return ("\n".join(texts) + "\n").encode()


def lines(children: Iterable[Child], indent: str = "") -> Iterator[str]:
    """Yield the lines of a mapping's entries or of a list's items, as they stand in a document at this indentation."""
    for child in children:
        yield from (indent + comment.text for comment in child.head)
        if isinstance(child, Entry):
            yield from _value(f"{indent}{_key(child)}:", child, indent, indent + "  ")
        else:
            yield from _item(child, indent)
        yield from (indent + comment.text for comment in child.foot)


def _item(item: Child, indent: str) -> Iterator[str]:
    value, start = item.value, f"{indent}-"
    if not isinstance(value, Collection) or value.anchor or item.comment or _in_brackets(value, start):
        yield from _value(start, item, indent, indent + "  ")
        return
    below = _collection(value, indent + "  ")
    first = next(below)
    while first.lstrip().startswith("#"):  # a comment above the first key goes above the dash
        yield indent + first.lstrip()
        first = next(below)
    yield f"{indent}- {first.removeprefix(indent + '  ')}"
    yield from below


def _collection(node: Collection, indent: str) -> Iterator[str]:
    _check(node)
    return lines(node.children, indent)


def _value(start: str, child: Child, indent: str, deeper: str) -> Iterator[str]:
    """Write what stands behind a key or a dash: on its line, or on the lines below."""
    value = child.value
    comment = value.comment or child.comment
    behind = f" {comment.text}" if comment else ""
    if isinstance(value, Scalar):
        first, *rest = _scalar(value, deeper)
        yield (f"{start} {first}" if first else start) + behind
        yield from rest
    elif isinstance(value, Alias):
        yield f"{start} *{value.anchor}" + (f" {child.comment.text}" if child.comment else "")
    elif isinstance(value, Collection):
        if text := _in_brackets(value, start):
            yield f"{start} {text}{behind}"
            return
        yield (f"{start} &{value.anchor}" if value.anchor else start) + behind
        inner = indent if isinstance(value, SequenceNode) and isinstance(child, Entry) else deeper
        yield from _collection(value, inner)


def _in_brackets(node: Collection, start: str) -> str:
    """Return a collection on one line, or an empty text where it is written on lines of its own.

    It stands behind ``start`` and a blank.
    """
    if not node.children:
        return _anchored(node, "{}" if isinstance(node, MappingNode) else "[]")
    if not node.flow or not all(map(_fits_brackets, children_below(node))):
        return ""
    text = _flow(node)
    # It begins a new line before a word beyond the width; what the last one has behind it makes no other.
    return text if len(start) + 2 + text.rfind(" ") <= WIDTH else ""


def _fits_brackets(child: Child) -> bool:
    value = child.value
    if child.head or child.foot or child.comment or value.comment:
        return False
    return not isinstance(value, Scalar) or (value.style not in "|>" and "\n" not in value.lexeme)


def _flow(node: Node) -> str:
    """Write a node inside brackets."""
    if isinstance(node, Alias):
        return f"*{node.anchor}"
    if isinstance(node, Scalar):
        return _scalar(node, "")[0]
    assert isinstance(node, Collection)
    _check(node)
    if isinstance(node, MappingNode):
        return _anchored(node, "{" + ", ".join(f"{_key(entry)}: {_flow(entry.value)}" for entry in node.entries) + "}")
    return _anchored(node, "[" + ", ".join(_flow(child.value) for child in node.children) + "]")


def _anchored(node: Scalar | Collection, text: str) -> str:
    return f"&{node.anchor} {text}" if node.anchor else text


def _key(entry: Entry) -> str:
    if not isinstance(entry.key, Scalar) or "\n" in entry.key.lexeme or entry.key.anchor:
        raise InputError(entry.key.problem("a key that is not text on one line cannot be composed"))
    return entry.key.lexeme


def _scalar(node: Scalar, indent: str) -> list[str]:
    """Return the lines of a scalar: the first goes behind its key, the others are indented already."""
    _check(node)
    lexeme = _ANCHOR.sub("", node.lexeme, count=1)
    if node.style in "|>":
        first, *rest = _block(node, lexeme, indent)
        return [_anchored(node, first), *rest]
    if "\n" in lexeme or "\r" in lexeme:  # text folded over several lines is always a string
        lexeme = quoted(node.value)
    return [_anchored(node, lexeme)]


def _block(node: Scalar, lexeme: str, indent: str) -> list[str]:
    header, *lines = lexeme.splitlines()
    if "#" in header or any(character.isdigit() for character in header):
        hint = "leave the comment and the indentation indicator out"
        raise InputError(node.problem(f"a block scalar that begins {header!r} cannot be composed", hint))
    if "+" not in header:
        while lines and not lines[-1].strip():
            lines.pop()
    if header.rstrip() in ("|", ">") and not node.value.endswith("\n"):  # the file ends with it
        header = f"{header.rstrip()}-"
    depth = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return [header.rstrip(), *(indent + line[depth:] if line[depth:] else "" for line in lines)]


def _check(node: Scalar | Collection) -> None:
    if node.tag is not None:
        raise InputError(node.problem("tags cannot be composed", "write the value without"))
