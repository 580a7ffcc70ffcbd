"""Which objects a patch is for: ``target`` of a kustomization, each word a regular expression for the whole text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

#: The words of a target.
WORDS = ("group", "version", "kind", "name", "namespace")
_PLAIN = re.compile(r"[-A-Za-z0-9]*")


def fault(pattern: str) -> str:
    """Say what is wrong with a pattern; an empty text where nothing is."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"{pattern!r} is no regular expression: {error}"
    return ""


def selects(target: Mapping[str, str], identity: tuple[str, str, str, str]) -> bool:
    """Say whether a target is for an object with this apiVersion, kind, namespace and name."""
    group, _, version = identity[0].rpartition("/")
    found = {"group": group, "version": version, "kind": identity[1], "namespace": identity[2], "name": identity[3]}
    return all(_matches(pattern, found[word]) for word, pattern in target.items())


@lru_cache(4096)
def _matches(pattern: str, text: str) -> bool:
    if _PLAIN.fullmatch(pattern):
        return pattern == text
    return re.fullmatch(pattern, text) is not None
