"""Reading plain objects whose fields may hold anything: a field of another type counts as empty.

A setter that is still to be set ships as ``""`` and may stand in the place of a mapping or a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = Mapping[str, Any]
"""A mapping as YAML gives it."""


def mapping(value: object) -> Object:
    """Return a mapping as it is, and anything else as an empty one."""
    return value if isinstance(value, (dict, Mapping)) else {}


def mappings(value: object) -> list[Object]:
    """Return the mappings in a list; nothing for any other value."""
    return [item for item in value if isinstance(item, (dict, Mapping))] if isinstance(value, list) else []


def text(value: object) -> str:
    """Return a text as it is, and anything else as an empty one."""
    return value if isinstance(value, str) else ""
