"""What the options that are in have replaced, kept in the Krmfile, which leaves keys that it does not know alone::

    options:
    - name: debug
      replaced:
      - file: job.yaml
        path: /spec/template/spec/containers/0/command
        lines:
        - ""
        - "        - python"

An option that replaced nothing is listed too: this is what says that it is in. kustomize 3.8.7 keeps all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packyard.errors import InputError
from packyard.setters import krmfile
from packyard.source.enabling.draft import Draft
from packyard.text.document import parse_shared
from packyard.text.node import Item, Node, Scalar, Source
from packyard.text.node import Mapping as MappingNode
from packyard.text.node import Sequence as SequenceNode
from packyard.text.scalar import double_quoted

_KEY = "options"


@dataclass(frozen=True, slots=True)
class Replaced:
    """What an option replaced or removed: where, its bytes, and for a part that was removed its place."""

    file: str
    path: str
    was: str
    index: int | None


def read(draft: Draft) -> dict[str, list[Replaced]]:
    """Return the options that are in, and what each replaced."""
    found = [item.value for item in draft.items(krmfile.NAME, _KEY)]
    return {item.text("name"): list(_replaced(item)) for item in found if isinstance(item, MappingNode)}


def note(draft: Draft, name: str, replaced: Sequence[Replaced]) -> None:
    """Note that an option is in."""
    draft.append(krmfile.NAME, _KEY, listed(_KEY, list(_lines(name, replaced))))


def forget(draft: Draft, name: str) -> None:
    """Take the note out that an option is in."""
    draft.drop(krmfile.NAME, _KEY, [lambda node: isinstance(node, MappingNode) and node.text("name") == name])


def listed(key: str, lines: Sequence[str]) -> list[Item]:
    """Return the items of a list as these lines write it."""
    if not lines:
        return []
    root = parse_shared(Source("", "\n".join([f"{key}:", *lines, ""])))[0].root
    assert isinstance(root, MappingNode)
    found = root.get(key)
    assert isinstance(found, SequenceNode)
    return found.items


def _replaced(item: MappingNode) -> Iterator[Replaced]:
    for node in _values(item, "replaced"):
        if not isinstance(node, MappingNode):
            raise InputError(node.problem("what was replaced is a mapping with file, path and lines"))
        index = node.text("index")
        was = "\n".join(map(_text, _values(node, "lines")))
        yield Replaced(node.text("file"), node.text("path"), was, int(index) if index else None)


def _values(node: MappingNode, key: str) -> list[Node]:
    value = node.get(key)
    return [item.value for item in value.items] if isinstance(value, SequenceNode) else []


def _text(node: Node) -> str:
    if not isinstance(node, Scalar):
        raise InputError(node.problem("a line that was replaced is a text"))
    return node.value


def _lines(name: str, replaced: Sequence[Replaced]) -> Iterator[str]:
    yield f"- name: {double_quoted(name)}"
    if replaced:
        yield "  replaced:"
    for one in replaced:
        yield f"  - file: {double_quoted(one.file)}"
        yield f"    path: {double_quoted(one.path)}"
        if one.index is not None:
            yield f"    index: {one.index}"
        yield "    lines:"
        yield from (f"    - {double_quoted(line)}" for line in one.was.split("\n"))
