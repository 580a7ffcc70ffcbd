"""The types of the fields of built-in kinds, and the keys by which a strategic merge joins their lists.

The table is the OpenAPI document of Kubernetes 1.17.0, by which kustomize 3.8.7 types fields
(``tests/tools/kubernetes_types.py`` makes it). Kinds are known by their exact apiVersion; custom resources are unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

#: One step of a field's path: a key, or an index in a list.
Step = str | int


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(__file__).with_name("fieldtypes.json").read_text("utf-8"))
    return table


def _shape(api_version: str, kind: str, path: Iterable[Step]) -> tuple[Any, str | None]:
    """Return the shape of a field, and the merge key of the last list field on the way."""
    table = _table()
    shape: Any = table["kinds"].get(f"{api_version} {kind}")
    merge_key: str | None = None
    for step in path:
        if isinstance(step, int):
            shape = shape.get("items") if isinstance(shape, dict) else None
        elif isinstance(shape, dict):
            shape = shape.get("values")
        elif isinstance(shape, int):
            merge_key = table["mergeKeys"].get(str(shape), {}).get(step)
            shape = table["fields"][shape].get(step)
        else:
            return None, None
    return shape, merge_key


def field_type(api_version: str, kind: str, path: Sequence[Step]) -> str | None:
    """Return string, integer, number, boolean or int-or-string; None where the field is not a known scalar."""
    shape, _ = _shape(api_version, kind, path)
    return shape if isinstance(shape, str) else None


def is_known(api_version: str, kind: str) -> bool:
    """Say whether the table has this kind."""
    return f"{api_version} {kind}" in _table()["kinds"]


def merge_key(api_version: str, kind: str, path: Sequence[Step]) -> str | None:
    """Return the key by which a strategic merge matches the elements of the list at ``path``.

    An empty text means a list of scalars that is merged as a set; None means that the list is replaced as a whole.
    """
    return _shape(api_version, kind, path)[1]


def joins(kind: str, path: Sequence[Step]) -> bool:
    """Say whether a strategic merge joins the items of the list at ``path`` in some version of a built-in kind."""
    versions = (name.split(" ")[0] for name in _table()["kinds"] if name.endswith(f" {kind}"))
    return any(merge_key(version, kind, path) is not None for version in versions)
