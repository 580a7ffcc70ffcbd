"""Objects as YAML that every reader reads alike: kustomize, kubectl, and libraries of YAML 1.1.

Keys stay in the order of their file. Text that anybody could take for something else is quoted; text of several lines
is written as a block, so that a script stays readable.
"""

import json
from collections.abc import Iterable

from packyard.core.yaml.content import Tree, block, literal, tree
from packyard.core.yaml.strict import Plain, Value
from packyard.core.yaml.values import quoted


def write(roots: Iterable[Value]) -> bytes:
    """Write a document per object."""
    return "---\n".join("".join(f"{line}\n" for line in block(tree(root, _leaf), _inline)) for root in roots).encode()


def _leaf(value: Plain) -> Tree:
    return (literal(value) if isinstance(value, str) else None) or _inline(value)


def _inline(value: Plain) -> str:
    if isinstance(value, str):
        return quoted(value)
    return json.dumps((value or 0) if isinstance(value, float) else value)  # -0.0 is written as 0
