"""The objects of a namespace as the node sees them: found by kind and name, with the bytes that they carry."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

#: One object, or a part of one, as YAML gives it.
Object = dict[str, Any]


class RefusedError(Exception):
    """What a kubelet says of a pod that it does not start."""


class Objects:
    """What was applied to one namespace."""

    def __init__(self, objects: Iterable[Object] = ()) -> None:
        self._objects: dict[tuple[str, str], Object] = {}
        self.apply(objects)

    def apply(self, objects: Iterable[Object]) -> None:
        """Add objects; one of the same kind and name replaces the earlier one."""
        self._objects.update({(item["kind"], item["metadata"]["name"]): item for item in objects})

    def of_kind(self, kind: str) -> list[Object]:
        return [item for (each, _), item in self._objects.items() if each == kind]

    def data(self, kind: str, reference: Mapping[str, Any]) -> dict[str, bytes]:
        """Return the keys of a ConfigMap or a Secret; one that is absent is refused, unless it is optional."""
        name = reference.get("name") or reference.get("secretName")
        found = self._objects.get((kind, str(name)))
        if found is None:
            if reference.get("optional"):
                return {}
            raise RefusedError(f'{kind.lower()} "{name}" not found')
        return _data(found)


def _data(item: Object) -> dict[str, bytes]:
    coded = item.get("binaryData" if item["kind"] == "ConfigMap" else "data") or {}
    plain = item.get("data" if item["kind"] == "ConfigMap" else "stringData") or {}
    return {
        **{key: base64.b64decode(value) for key, value in coded.items()},
        **{key: value.encode() for key, value in plain.items()},
    }
