"""Which objects a patch is for: ``target`` of a kustomization, each word a regular expression for the whole text.

They are Go's, as kustomize's are, and matched in linear time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from packyard.errors import InputError
from packyard.setters import regexp

#: The words of a target.
WORDS = ("group", "version", "kind", "name", "namespace")


def fault(pattern: str) -> str:
    """Say what is wrong with a pattern; an empty text where nothing is."""
    found = regexp.fault(_anchored(pattern))
    return f"{pattern!r} must be a regular expression: {found}" if found else ""


def selects(target: Mapping[str, str], identity: tuple[str, str, str, str]) -> bool:
    """Say whether a target is for an object with this apiVersion, kind, namespace and name."""
    group, _, version = identity[0].rpartition("/")
    found = {"group": group, "version": version, "kind": identity[1], "namespace": identity[2], "name": identity[3]}
    return all(_matches(pattern, found[word]) for word, pattern in target.items())


@lru_cache(4096)
def _matches(pattern: str, text: str) -> bool:
    if pattern.replace("-", "").isalnum():
        return pattern == text
    try:
        return regexp.matches(_anchored(pattern), text)
    except regexp.PatternError as error:
        raise InputError(f"target {pattern!r}: {error}") from error


def _anchored(pattern: str) -> str:
    return f"^(?:{pattern})$"
