"""Which objects a patch is for: the words of ``target``, each of which an object has to fit.

    {kind: ConfigMap, labelSelector: app.kubernetes.io/component=environment}

Kind, name and their like are regular expressions for the whole text, as in kustomize. Selectors are those of
Kubernetes: ``a=b``, ``a!=b``, ``a in (b, c)``, ``a notin (b)``, ``a``, ``!a``, with commas between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from packyard.errors import BeyondError, InputError, refuse, suggest
from packyard.source import selector
from packyard.text.node import Mapping as MappingNode
from packyard.text.node import Node, Scalar

_SELECTORS = ("labelSelector", "annotationSelector")
_WORDS = (*selector.WORDS, *_SELECTORS)

_TERM = re.compile(
    r"\s*(?:(?P<no>!)\s*)?(?P<key>[A-Za-z0-9][-A-Za-z0-9_./]*)\s*"
    r"(?:(?P<sign>==?|!=)\s*(?P<value>[-A-Za-z0-9_.]*)\s*|(?P<word>in|notin)\s*\((?P<values>[-A-Za-z0-9_.,\s]*)\)\s*)?"
    r"(?:,|\Z)"
)


def parse(node: Node) -> dict[str, str]:
    """Read a target; a word that nobody knows, or a pattern that is none, is refused by its line."""
    if not isinstance(node, MappingNode):
        raise InputError(node.problem("target is no mapping"))
    problems = []
    found: dict[str, str] = {}
    for entry in node.entries:
        if entry.name not in _WORDS:
            hint = suggest(entry.name, _WORDS) or f"known are {', '.join(_WORDS)}"
            problems.append(entry.key.problem(f"target has no word {entry.name!r}", hint))
        elif not isinstance(entry.value, Scalar):
            problems.append(entry.value.problem(f"{entry.name} is no text"))
        elif entry.name in _SELECTORS:
            list(_terms(entry.value.value, entry.value))
            found[entry.name] = entry.value.value
        elif fault := selector.fault(entry.value.value) if entry.value.value else "":
            problems.append(entry.value.problem(f"{entry.name} {fault}"))
        elif entry.value.value:
            found[entry.name] = entry.value.value
    refuse(problems)
    return found


def selects(
    words: Mapping[str, str],
    identity: tuple[str, str, str, str],
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
) -> bool:
    """Say whether a target is for an object with this apiVersion, kind, namespace and name, and these labels."""
    plain = {word: text for word, text in words.items() if word not in _SELECTORS}
    return (
        selector.selects(plain, identity)
        and all(_holds(term, labels) for term in _terms(words.get("labelSelector", "")))
        and all(_holds(term, annotations) for term in _terms(words.get("annotationSelector", "")))
    )


def _terms(text: str, node: Node | None = None) -> Iterator[re.Match[str]]:
    """Yield the terms of a selector; ``node`` is where one that cannot be read is refused."""
    position = 0
    while text.strip() and position < len(text):
        term = _TERM.match(text, position)
        if term is None or (term["no"] and (term["sign"] or term["word"])):
            message = f"{text!r} is no selector that packyard's own build can read"
            raise BeyondError(node.problem(message, "KEY=VALUE, with commas between")) if node else BeyondError(message)
        yield term
        position = term.end()


def _holds(term: re.Match[str], found: Mapping[str, str]) -> bool:
    value = found.get(term["key"])
    if term["word"]:
        listed = [text.strip() for text in term["values"].split(",")]
        return (value in listed) if term["word"] == "in" else value not in listed
    if term["sign"]:
        return (value == term["value"]) is (term["sign"] != "!=")
    return (value is None) is bool(term["no"])
