"""What a YAML text says: its structure, and every scalar with its type, however it is quoted and laid out."""

from __future__ import annotations

import yaml
from yaml.events import DocumentEndEvent, DocumentStartEvent, ScalarEvent

from packyard.core.yaml.values import implicit_type


def content(text: str) -> list[tuple[str, ...]]:
    """Return a text's events, by PyYAML; the types of plain scalars are those of kustomize."""
    return [
        (event.value, implicit_type(event.value) if event.implicit[0] else "string")
        if isinstance(event, ScalarEvent)
        else (type(event).__name__,)
        for event in yaml.parse(text, Loader=yaml.CBaseLoader)
        if not isinstance(event, DocumentStartEvent | DocumentEndEvent)
    ]
