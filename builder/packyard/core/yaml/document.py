"""Bytes of a YAML file to documents of positioned nodes, every comment beside the node that it belongs to.

Positions come from the marks of libyaml's events, which are exact in characters once a byte order mark is cut off.
A span holds a scalar's tag and anchor; a block scalar's holds its header's comment and the blank lines behind it.
"""

import codecs
import re
from collections.abc import Iterable, Iterator

import yaml

from packyard.core.work.memo import Memo

try:  # libyaml's parser alone: a loader makes as many objects again before the first event
    from yaml._yaml import CParser as Parser
except ImportError:
    from yaml import SafeLoader as Parser  # type: ignore[assignment]  # another class, but its events are the same

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.yaml.builder import Builder
from packyard.core.yaml.node import (
    Collection,
    Comment,
    Document,
    Entry,
    MappingNode,
    Node,
    Scalar,
    SequenceNode,
    Source,
)

#: What libyaml since PyYAML 6.0.4 says of a thousand levels, before the builder has seen any of them.
_TOO_DEEP = "exceeded maximum nesting depth"

#: What to do about what libyaml says, by how that begins.
_CURES = {
    "found character that cannot start": "put the value in quotes",
    "mapping values are not allowed": "put a text with ': ' in quotes, or begin a new line for the key",
    "did not find expected ',' or": "close the bracket before this place",
    "did not find expected alphabetic": "put the value in quotes",
    "did not find expected": "indent it as the lines that it belongs to",
    "found unknown escape": "put the value in single quotes",
    "found unexpected end of stream": "close the quotes",
}

#: The first line of what a merge leaves undecided.
_MARKER = r"(?ms)^<<<<<<< (?=.*^=======$.*^>>>>>>> )"


def decode(data: bytes, name: str) -> tuple[str, str]:
    """Return the byte order mark (or an empty text) and the text of a file, which has to be UTF-8."""
    mark = "\ufeff" if data.startswith(codecs.BOM_UTF8) else ""
    try:
        return mark, data.decode("utf-8")[len(mark) :]
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = Problem(f"not UTF-8: byte {data[error.start]:#04x}", file=name, line=line)
        if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            problem = Problem("is UTF-16, not UTF-8", file=name, hint="save it as UTF-8")
        raise InputError(problem) from error


def source_of(data: bytes, name: str) -> Source:
    """Return the text of a file without its byte order mark; ``name`` is what errors call it."""
    return Source(name, decode(data, name)[1])


def parse_file(data: bytes, name: str) -> list[Document]:
    """Parse every document of a file."""
    return parse_text(source_of(data, name))


def parse_one(data: bytes, name: str) -> Document:
    """Parse a file that has to hold exactly one document, with no key twice."""
    document = only(parse_file(data, name), name)
    check_keys(document)
    return document


def only(documents: Iterable[Document], name: str) -> Document:
    """Return the one document of a file that is not empty; none and several are refused."""
    filled = [document for document in documents if document.root is not None]
    if len(filled) != 1:
        raise InputError(Problem(f"holds {len(filled)} YAML documents where one is expected", file=name))
    return filled[0]


def parse_text(source: Source, *, is_part: bool = False) -> list[Document]:
    """Parse every document of a text and place its comments; `Builder` knows what ``is_part`` of one may lack."""
    try:
        return Builder(source, is_part=is_part).build(Parser(source.text).get_event)
    except yaml.MarkedYAMLError as error:
        if problem := unmerged(source.name, source.text):
            raise InputError(problem) from error
        mark = error.problem_mark or error.context_mark
        if error.problem == _TOO_DEEP and mark:  # the builder names the level that is one too many
            return parse_text(Source(source.name, source.text[: mark.index]), is_part=is_part)
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        message = error.problem or error.context or "is not YAML"
        hint = next((cure for text, cure in _CURES.items() if message.startswith(text)), "")
        hint = "indent by spaces" if mark and source.text[mark.index : mark.index + 1] == "\t" else hint
        raise InputError(Problem(message, file=source.name, line=line, column=column, hint=hint)) from error
    except yaml.YAMLError as error:  # the reader's, for example of a control character
        where = getattr(error, "position", None)
        line, column = source.locate(where) if isinstance(where, int) else (0, 0)
        reason = getattr(error, "reason", None) or str(error)
        raise InputError(Problem(str(reason), file=source.name, line=line, column=column)) from error


def unmerged(name: str, text: str) -> Problem | None:
    """Return where a merge left both sides for somebody to choose from, as `upgrade --conflicts markers` and git do."""
    if not (marker := re.search(_MARKER, text)):
        return None
    line = text.count("\n", 0, marker.start()) + 1
    hint = "keep one of the two sides, and delete the three lines with markers"
    return Problem("an undecided conflict begins here: <<<<<<<", file=name, line=line, hint=hint)


def parse_shared(source: Source, memo: Memo | None = None) -> list[Document]:
    """Parse as `parse_text` does, for a caller who changes no node; once for a memo."""
    return (memo or Memo()).once(("documents", source.name, source.text), lambda: parse_text(source))


def check_keys(document: Document) -> None:
    """Refuse a document in which one mapping has a key twice, as kustomize does."""
    problems = []
    for node in walk(document.root):
        if not isinstance(node, MappingNode):
            continue
        keys: set[str] = set()
        names = {entry.name for entry in node.entries}
        for entry in node.entries if len(names) < len(node.entries) else ():
            if isinstance(entry.key, Scalar) and entry.name in keys:
                message = f"key {entry.name!r} occurs twice in one mapping"
                problems.append(node.source.problem(entry.start, message, "keep one of them"))
            keys.add(entry.name)
    refuse(problems)


def walk(node: Node | None) -> Iterator[Node]:
    """Yield a node and all below it, in the order of the text; keys are not visited."""
    ahead = [node] if node is not None else []
    while ahead:
        here = ahead.pop()
        yield here
        if isinstance(here, Collection):
            ahead += [child.value for child in reversed(here.children)]


def find_comments(root: Node | None) -> Iterator[Comment]:
    """Yield every comment that belongs to a node, or to anything below it."""
    for node in walk(root):
        if node.comment:
            yield node.comment
        for child in node.children if isinstance(node, Collection) else ():
            yield from child.head
            yield from child.foot
            if child.comment:
                yield child.comment
            if isinstance(child, Entry) and child.key is not child.value and child.key.comment:
                yield child.key.comment


def all_comments(document: Document) -> Iterator[Comment]:
    """Yield every comment of a document, those first that belong to no node."""
    yield from document.head
    yield from document.tail
    yield from find_comments(document.root)


def items(node: Node | None) -> list[Node]:
    """Return what is in a list; nothing where it is something else."""
    return [item.value for item in node.items] if isinstance(node, SequenceNode) else []


def mappings(node: Node | None) -> list[MappingNode]:
    """Return the mappings in a list, as `items` does."""
    return [item for item in items(node) if isinstance(item, MappingNode)]


def scalars(node: Node | None) -> list[Scalar]:
    """Return the scalars in a list, as `items` does."""
    return [item for item in items(node) if isinstance(item, Scalar)]


def entries(node: Node | None) -> list[Entry]:
    """Return the entries of a mapping; none of something else."""
    return node.entries if isinstance(node, MappingNode) else []
