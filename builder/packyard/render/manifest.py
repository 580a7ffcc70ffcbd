"""Objects as YAML that every reader reads alike: kustomize, kubectl, and libraries of YAML 1.1.

Keys stay in the order of their file. Text that anybody could take for something else is quoted; text of several lines
is written as a block, so that a script stays readable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packyard.yaml.scalar import double_quoted, is_plain_text
from packyard.yaml.strict import Plain, Value, read_plain


def write(roots: Iterable[Value]) -> bytes:
    """Write a document per object."""
    return "---\n".join("".join(f"{line}\n" for line in _lines(root, "")) for root in roots).encode()


def _lines(value: Value, indent: str) -> Iterator[str]:
    """Write a collection that is not empty."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _member(f"{indent}{_inline(key)}:", member, indent)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict | list) and item:
                first, *rest = _lines(item, indent + "  ")
                yield f"{indent}- {first[len(indent) + 2 :]}"
                yield from rest
            else:
                yield from _member(f"{indent}-", item, indent)


def _member(start: str, value: Value, indent: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield start
        yield from _lines(value, indent + "  ")
    elif isinstance(value, list) and value:
        yield start
        yield from _lines(value, indent)
    elif isinstance(value, dict | list):
        yield f"{start} {'{}' if isinstance(value, dict) else '[]'}"
    elif isinstance(value, str) and _fits_block(value):
        body = value.rstrip("\n")
        ends = len(value) - len(body)
        yield f"{start} |{'-' if not ends else '' if ends == 1 else '+'}"
        yield from (f"{indent}  {line}" if line else "" for line in body.split("\n"))
        yield from [""] * (ends - 1)
    else:
        yield f"{start} {_inline(value)}"


def _fits_block(text: str) -> bool:
    """Say whether a literal block needs neither escapes nor an indentation indicator."""
    if "\n" not in text or text[0] in " \t\n":
        return False
    return "\\" not in double_quoted(text.replace("\n", "").replace("\\", "").replace('"', ""))


def _inline(value: Plain) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if is_plain_text(value) and read_plain(value) == value else double_quoted(value)
    return repr(value)
