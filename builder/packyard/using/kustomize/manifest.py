"""Objects as YAML that every reader reads alike: kustomize, kubectl, and libraries of YAML 1.1.

Keys stay in the order of their file. Text that anybody could take for something else is quoted; text of several lines
is written as a block, so that a script stays readable.
"""

from collections.abc import Iterable

from packyard.core.yaml.content import Tree, block, literal, tree
from packyard.core.yaml.strict import Plain, Value, read_plain
from packyard.core.yaml.values import double_quoted, is_plain_text


def write(roots: Iterable[Value]) -> bytes:
    """Write a document per object."""
    return "---\n".join("".join(f"{line}\n" for line in block(tree(root, _leaf), _inline)) for root in roots).encode()


def _leaf(value: Plain) -> Tree:
    return (literal(value) if isinstance(value, str) else None) or _inline(value)


def _inline(value: Plain) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if is_plain_text(value) and read_plain(value) == value else double_quoted(value)
    return repr(value or 0)  # -0.0 is written as 0
