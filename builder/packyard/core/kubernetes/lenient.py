"""Reading plain objects whose fields may hold anything: a field of another type counts as empty.

A setter that is still to be set ships as ``""`` and may stand in the place of a mapping or a list.
"""

from collections.abc import Mapping
from typing import Any

from packyard.core.yaml.node import Scalar

Object = Mapping[str, Any]
"""A mapping as YAML gives it."""

_OF_COLLECTOR = ("foregroundDeletion", "orphan")


def mapping(value: object) -> Object:
    """Return a mapping as it is, and anything else as an empty one."""
    return value if isinstance(value, (dict, Mapping)) else {}


def mappings(value: object) -> list[Object]:
    """Return the mappings in a list; nothing for any other value."""
    return [item for item in value if isinstance(item, (dict, Mapping))] if isinstance(value, list) else []


def text(value: object) -> str:
    """Return a text as it is, that of a scalar's node, and anything else as an empty one."""
    return value if isinstance(value, str) else value.text() if isinstance(value, Scalar) else ""


def texts_under(value: object, key: str) -> set[str]:
    """Return the texts that a key has, wherever it is in a value, but for empty ones."""
    if isinstance(value, (list, tuple)):
        return {member_text for item in value for member_text in texts_under(item, key)}
    below = {member_text for member in mapping(value).values() for member_text in texts_under(member, key)}
    return below | ({text(mapping(value).get(key))} - {""})


def type_of(item: Object) -> tuple[str, str]:
    """Return the apiVersion and the kind of an object."""
    return text(item.get("apiVersion")), text(item.get("kind"))


def name_of(item: Object) -> str:
    """Return the name of an object."""
    return text(mapping(item.get("metadata")).get("name"))


def labels_of(item: Object) -> Object:
    """Return the labels of an object, or of a template of pods."""
    return mapping(mapping(item.get("metadata")).get("labels"))


def owners_of(item: Object) -> list[Object]:
    """Return the references of an object to its owners."""
    return mappings(mapping(item.get("metadata")).get("ownerReferences"))


def is_ending(item: Object) -> bool:
    """Say whether an object is being deleted."""
    return bool(mapping(item.get("metadata")).get("deletionTimestamp"))


def finalizers(item: Object) -> list[str]:
    """Return who has to let go of an object before it is deleted, but for Kubernetes' own garbage collector."""
    named = mapping(item.get("metadata")).get("finalizers")
    return [name for name in map(text, named) if name not in ("", *_OF_COLLECTOR)] if isinstance(named, list) else []


def condition(item: Object, name: str) -> Object:
    """Return a condition of an object's status."""
    conditions = (part for part in mappings(mapping(item.get("status")).get("conditions")) if part.get("type") == name)
    return next(conditions, {})
