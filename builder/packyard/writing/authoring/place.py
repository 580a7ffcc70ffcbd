"""Where the comment that binds a field is written, and how it is removed again.

    replicas: 3                  replicas: 3 # {"$openapi":"N"}      behind a scalar
    replicas: 3 # why three      # why three                         a note moves above, and stays
                                 replicas: 3 # {"$openapi":"N"}
    args: [a, b]                 # {"$openapi":"N"}                  above a flow list, and above a block scalar
                                 args: [a, b]
    args:                        args: # {"$openapi":"N"}            behind the key of a block list
    - a                          - a
    {a: 1, b: 2}                 {a: 1, # {"$openapi":"N"}           inside brackets the line is broken
                                   b: 2}

These are the places that kustomize 3.8.7 reads back. Where there is none, the edit is refused.
"""

import re
from collections.abc import Callable

from packyard.core.errors import InputError
from packyard.core.yaml import proof
from packyard.core.yaml.edit import Edit, replace_comment
from packyard.core.yaml.node import Child, Comment, Document, Entry, Scalar, SequenceNode, Source
from packyard.core.yaml.span import line_break, line_end, next_line
from packyard.using.setters import comment as comments
from packyard.using.setters.packages import PackageFiles

_LINE_START = re.compile(r"[ \t]*(?:[-?][ \t]+)*\Z")
_BLANKS = re.compile(r"[ \t]*")


def rewrite(
    package: PackageFiles, is_meant: Callable[[bytes], bool], change: Callable[[Document], list[Edit]]
) -> dict[str, bytes]:
    """Return the resource files that ``change`` edits, of those that may be meant."""
    meant = {path: data for path, data in package.resources.items() if is_meant(data)}
    files = {path: proof.rewrite(data, package.where + path, change) for path, data in meant.items()}
    return {path: data for path, data in files.items() if data != meant[path]}


def bind(child: Child, text: str) -> list[Edit]:
    """Put the comment ``text`` where it binds a part's scalar; a comment that binds it otherwise is replaced."""
    value = child.value
    assert isinstance(value, Scalar)
    old = value.comment
    if old is None:
        if value.style in "|>":
            return [_alone_above(child, text)]
        return [_behind(child, value, text)]
    if is_binding(old.text):
        return [replace_comment(old, text)]
    if old.start < value.start:
        raise InputError(value.problem("a comment stands between the key and its value", "move it above the key"))
    return [_above(child, old.text), replace_comment(old, text)]


def bind_list(entry: Entry, text: str) -> list[Edit]:
    """Put the comment ``text`` where it binds an entry's list."""
    value = entry.value
    assert isinstance(value, SequenceNode)
    if value.flow:
        locate, old = value.source.locate, entry.head[-1] if entry.head else None
        if old and is_binding(old.text) and locate(old.start)[0] + 1 == locate(entry.start)[0]:
            return [replace_comment(old, text)]
        return [_alone_above(entry, text)]
    source = value.source
    colon = source.text.find(":", entry.key.end, value.start)
    end = line_end(source, entry.key.end)
    if not entry.key.end <= colon < end:
        raise InputError(entry.key.problem("no comment can be put behind this key"))
    end = len(source.text[:end].rstrip(" \t"))
    return [Edit(end, end, f" {text}", entry, comments=[text])]


def take_out(source: Source, comment: Comment) -> Edit:
    """Remove a comment with the blanks before it, or with its line where it is alone there."""
    start = len(source.text[: comment.start].rstrip(" \t"))
    if not comment.own_line:
        return Edit(start, comment.end, "", comment=comment)
    return Edit(source.line_start(comment.start), next_line(source, comment.end), "", comment=comment)


def is_binding(text: str) -> bool:
    """Say whether a comment binds a field: a setter comment of either version, not a note of somebody's."""
    return comments.parse(text) is not None or '"x-kustomize"' in text


def _behind(child: Child, value: Scalar, text: str) -> Edit:
    """Insert behind a scalar; inside brackets behind its comma, and what follows goes to a new line."""
    source = value.source
    end = value.end
    after = _skip_blanks(source, end)
    if source.text.startswith(",", after):
        end, after = after + 1, _skip_blanks(source, after + 1)
    following = source.text[after : after + 1]
    if following in ("", "\r", "\n"):
        return Edit(end, end, f" {text}", child, comments=[text])
    if end == value.end and following not in "]}":
        raise InputError(value.problem("no comment can be put behind this value"))
    indent = _BLANKS.match(source.text, source.line_start(value.start))
    assert indent is not None
    return Edit(end, after, f" {text}{line_break(source)}{indent.group()}  ", child, comments=[text])


def _above(child: Child, text: str) -> Edit:
    source = child.value.source
    start = source.line_start(child.start)
    before = source.text[start : child.start]
    if not _LINE_START.match(before):
        hint = "give it a line of its own, or no note"
        raise InputError(child.value.problem("no comment can be put above this field", hint))
    indent = before[: len(before) - len(before.lstrip(" \t"))]
    return Edit(start, start, f"{indent}{text}{line_break(source)}", child, comments=[text])


def _alone_above(child: Child, text: str) -> Edit:
    """Insert above a part, where a comment binds only if no other is on the line above it."""
    edit = _above(child, text)
    source = child.value.source
    before = source.text[: edit.start].rstrip("\r\n")
    above = source.text[source.line_start(len(before)) : len(before)]
    if edit.start - len(before) <= 2 and above.lstrip().startswith("#"):
        hint = "leave a blank line between"
        raise InputError(child.value.problem("a comment above this field would not bind it below another", hint))
    return edit


def _skip_blanks(source: Source, position: int) -> int:
    match = _BLANKS.match(source.text, position)
    assert match is not None
    return match.end()
