"""Fields that have another text than their setter comments yield: either the field's text counts, or the setter's.

    tag: 1.23 # {"$openapi":"TAG"}          TAG: "1.28" in its definition

    fields       TAG gets 1.23, and the object is what it was
    setters      the field gets 1.28, as the next `set` of TAG had written it

Where the fields of one setter have several texts, that of most of them is its value. A field that yields another text
still is bound no more, and is listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from packyard.core.yaml import make
from packyard.core.yaml.document import scalars
from packyard.core.yaml.edit import PLAIN_TYPES
from packyard.core.yaml.node import Scalar
from packyard.core.yaml.values import fits_plain, implicit_type, quoted, type_of
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.fields import Binding, path_text
from packyard.writing.authoring.import_ import meaning
from packyard.writing.authoring.import_.meaning import Word
from packyard.writing.authoring.import_.normal import Bound
from packyard.writing.authoring.import_.note import DOUBTFUL, Note
from packyard.writing.source.words import MARKER

FIELDS, SETTERS = TAKES = ("fields", "setters")
_TAKEN = {
    FIELDS: (
        "setters that yield another text than their fields have: what the fields have counts",
        "look whether that is right, or import again with --take setters",
    ),
    SETTERS: (
        "fields that have another text than their setters yield: what the setters yield counts",
        "look whether that is right, or import again with --take fields",
    ),
}
_TORN = (
    "setter comments that yield another text than their field has: setting them changed more than a value",
    "decide which of the two is right, and bind the field again",
)


def settle(
    bindings: Sequence[Binding], definitions: Definitions, words: dict[str, Word], bound: Bound, take: str
) -> list[Note]:
    """Bind fields, and make words and fields agree; ``words`` get the values that count."""
    yields = {id(each): _texts(definitions, each) for each in bindings}
    drifted = [each for each in bindings if yields[id(each)] != _stands(each)]
    if take == FIELDS:
        _take_fields(bindings, drifted, definitions, words)
        torn = [each for each in bindings if _now(each, words, definitions) != _stands(each)]
    else:
        torn = [each for each in drifted if not isinstance(each.node, Scalar)]
        for each in drifted:
            if isinstance(each.node, Scalar):
                text = yields[id(each)][0]
                bound.instead[id(each.node)] = _scalar(each.node, text, words[each.reference.name].type)
    bound.names |= {id(each.node): each.reference.name for each in bindings if each not in torn}
    cases = [(each, _case(each, yields[id(each)])) for each in bindings if each in drifted or each in torn]
    return [Note(DOUBTFUL, *(_TORN if each in torn else _TAKEN[take]), (case,)) for each, case in cases]


def _take_fields(
    bindings: Sequence[Binding], drifted: Iterable[Binding], definitions: Definitions, words: dict[str, Word]
) -> None:
    """Give setters what their fields have: those that they alone are the text of first, then those of patterns.

    A setter that some field agrees with keeps its value, unless more fields that it is the whole text of have another.
    """
    drifted = list(drifted)
    agreed = {each.reference.name for each in bindings if each not in drifted}
    values = {name: words[name].value for name in meaning.reached(agreed, words) if words[name].is_setter}
    counts: dict[str, Counter[str]] = {}
    for each in bindings:
        if isinstance(each.node, Scalar) and _is_plain(words[each.reference.name], definitions):
            counts.setdefault(each.reference.name, Counter())[each.node.value] += 1
    for name, texts in counts.items():
        value = words[name].value
        if texts.most_common(1)[0][1] > texts[value]:
            words[name] = _valued(words[name], texts.most_common(1)[0][0])
    values |= {name: words[name].value for name in counts}
    for binding in drifted:
        if isinstance(binding.node, Scalar) and not words[binding.reference.name].is_setter:
            pattern = _flat(binding.reference.name, words)
            for name, text in _solved(pattern, binding.node.value, values).items():
                if name in words and _is_plain(words[name], definitions):
                    words[name] = _valued(words[name], text)
                    values[name] = text


def _valued(word: Word, text: str) -> Word:
    return replace(word, value=text, required=word.required and not text)


def _is_plain(word: Word, definitions: Definitions) -> bool:
    setter = definitions.setters.get(word.name)
    return word.is_setter and word.values is None and setter is not None and not setter.enum_values


def _flat(name: str, words: Mapping[str, Word]) -> str:
    """Return a pattern in setters alone."""
    word = words[name]
    inner = {each: _flat(each, words) for each in word.names if each in words and not words[each].is_setter}
    return MARKER.sub(lambda match: inner.get(match[1], match[0]), word.value)


def _solved(pattern: str, text: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return what setters that are not known have to be worth, so that a pattern yields a text."""
    pieces = []
    groups: dict[str, str] = {}
    for number, piece in enumerate(MARKER.split(pattern)):
        if number % 2 == 0 or piece in values:
            pieces.append(re.escape(piece if number % 2 == 0 else values[piece]))
        elif piece in groups:
            pieces.append(f"(?P={groups[piece]})")
        else:
            groups[piece] = f"g{number}"
            pieces.append(f"(?P<g{number}>.+?)")
    match = re.fullmatch("".join(pieces), text, re.DOTALL)
    return {name: match[group] for name, group in groups.items()} if match else {}


def _now(binding: Binding, words: Mapping[str, Word], definitions: Definitions) -> list[str]:
    """Return what a field's comment yields with the values that count."""
    word = words[binding.reference.name]
    if word.is_setter:
        return [word.value] if _is_plain(word, definitions) else _texts(definitions, binding)
    flat = _flat(word.name, words)
    return [MARKER.sub(lambda match: _shown(words.get(match[1]), match[0]), flat)]


def _shown(word: Word | None, text: str) -> str:
    return dict(word.enum).get(word.value, word.value) if word else text


def _texts(definitions: Definitions, binding: Binding) -> list[str]:
    """Return what the comment of a field yields."""
    definition = definitions.resolve(binding.reference)
    if isinstance(definition, Setter):
        return list(definition.values or ()) if definition.is_list or definition.values else [definition.text]
    assert isinstance(definition, Substitution)
    return [definitions.expand(definition)]


def _stands(binding: Binding) -> list[str]:
    """Return the texts of a field."""
    return [binding.node.value] if isinstance(binding.node, Scalar) else [item.value for item in scalars(binding.node)]


def _scalar(node: Scalar, text: str, kind: str) -> Scalar:
    """Return a field with another text, of the type of its setter, or of its own."""
    is_plain = (kind or type_of(node)) in PLAIN_TYPES and implicit_type(text) in PLAIN_TYPES and fits_plain(text)
    return make.scalar(text, node.source.name, text if is_plain else quoted(text))


def _case(binding: Binding, texts: Sequence[str]) -> str:
    place = f"{binding.node.place}: {path_text(binding.path)}"
    return f"{place}: {binding.reference.name} yields {', '.join(texts)!r}, not {', '.join(_stands(binding))!r}"
