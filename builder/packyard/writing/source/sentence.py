"""The sentence that says what a use case is for: its author's, or the first one of the comment that begins its base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from packyard.using.kustomize.part import Part

if TYPE_CHECKING:
    from packyard.writing.source.package import UseCase


def of(use_case: UseCase, used: Sequence[Part]) -> str:
    """Return what a use case is for; where its name has several storages, that of the storage tells them apart."""
    purpose = use_case.description or first(used[0].description)
    storage = first(used[-1].description) if use_case.has_siblings else ""
    return " ".join(filter(None, (purpose, storage)))


def first(text: str) -> str:
    """Return the first sentence of a text, with its full stop."""
    head = text.partition(". ")[0].removesuffix(".")
    return f"{head}." if head else ""
