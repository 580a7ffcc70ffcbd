"""The types of the fields of built-in kinds, and the keys by which a strategic merge joins their lists.

Fields have the types that kustomize 3.8.7 gives them, by Kubernetes 1.17.0; lists are joined as kustomize 5 does, by
Kubernetes 1.21.2 (``tests/tools/kubernetes_types.py`` makes the table of both). Kinds are known by their exact
apiVersion; custom resources are unknown, and so are kinds that are newer.
"""

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


def _shape(table: dict[str, Any], api_version: str, kind: str, path: Iterable[Step]) -> tuple[Any, list[str] | None]:
    """Return the shape of a field, and the merge keys of the last list field on the way."""
    shape: Any = table["kinds"].get(f"{api_version} {kind}")
    keys: list[str] | None = None
    for step in path:
        if isinstance(step, int):
            shape = shape.get("items") if isinstance(shape, dict) else None
        elif isinstance(shape, dict):
            shape = shape.get("values")
        elif isinstance(shape, int):
            keys = table.get("mergeKeys", {}).get(str(shape), {}).get(step)
            shape = table["fields"][shape].get(step)
        else:
            return None, None
    return shape, keys


def field_type(api_version: str, kind: str, path: Sequence[Step]) -> str | None:
    """Return string, integer, number, boolean or int-or-string; None where the field is not a known scalar."""
    shape, _ = _shape(_table(), api_version, kind, path)
    return shape if isinstance(shape, str) else None


def merge_keys(api_version: str, kind: str, path: Sequence[Step]) -> list[str] | None:
    """Return the keys by which a strategic merge matches the elements of the list at ``path``.

    No key means a list of scalars that is merged as a set; None means that the list is replaced as a whole.
    """
    return _shape(_table()["merged"], api_version, kind, path)[1]
