"""How `kustomize cfg` reads YAML's values, and how a text is written so that every reader reads that text.

base: &b {cpu: 4}
job: {<<: *b, gpu: 1}      ->  {"base": {"cpu": 4}, "job": {"cpu": 4, "gpu": 1}}, and job.cpu stands in line 1

No Python library reads scalars as kustomize does (``yes`` and a date are text, ``08`` is 8, ``1e3`` is 1000), so the
table is ours, taken from the rules of the yaml.v3 that kustomize links and judged against the real program in the
tests. Merge keys are read; aliases only where `aliases` followed them before. Digits become numbers here alone: whole
numbers of at most 64 bits, beyond them what yaml.v3 makes of the digits.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from packyard.core.errors import InputError
from packyard.core.yaml.node import NULLS, Entry, MappingNode, Node, Scalar, SequenceNode

Read = TypeVar("Read")

BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_FLOAT_NAMES = frozenset(sign + name for name in (".inf", ".Inf", ".INF") for sign in ("", "+", "-")) | {
    ".nan",
    ".NaN",
    ".NAN",
}
_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
# Patterns of rare texts are compiled on first use, so that `set` starts without them.
_TIMESTAMP = (
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?\Z"
)
_NUMBER_START = frozenset("+-.0123456789")
_SEXAGESIMAL = r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?\Z"

#: Words that YAML 1.1 readers, kubectl among them, take for booleans although kustomize does not.
YAML11_BOOLEANS = frozenset(
    spelling for word in ("y", "n", "yes", "no", "on", "off") for spelling in (word, word.capitalize(), word.upper())
)

_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")
_FLOW_INDICATORS = frozenset(",[]{}:?")  # what yaml.v3 does not read back inside brackets
#: What cannot stand in single-quoted text on one line: controls, line breaks, surrogates, the mark.
_ESCAPED = r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
_ESCAPES = {"\0": "\\0", "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r",
            "\x1b": "\\e", "\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P", '"': '\\"', "\\": "\\\\"}  # fmt: skip

_DECIMAL = re.compile(r"[-+]?[0-9]+\Z")
_NOTHING: dict[int, object] = {}
_INFINITY = float("inf")
_TYPED = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))


def to_value(node: Node | None, instead: dict[int, object] = _NOTHING) -> object:
    """Return text, numbers, booleans, None, lists and dicts; ``instead`` has values for nodes, by their ids."""
    if id(node) in instead:
        return instead[id(node)]
    if isinstance(node, Scalar):
        typed = node.tag in _TYPED if node.tag is not None else node.style == "plain"
        return scalar_value(node.value) if typed else node.value
    if isinstance(node, SequenceNode):
        return [to_value(item.value, instead) for item in node.items]
    if not isinstance(node, MappingNode):
        return None
    value = {entry.name: to_value(entry.value, instead) for entry in node.entries if not is_merge(entry)}
    return merged(value, (to_value(entry.value, instead) for entry in node.entries if is_merge(entry)))


def meaning(node: Node) -> object:
    """Return types and texts of a node, in lists and mappings, whatever its quotes, brackets, comments and anchors."""
    if isinstance(node, MappingNode):
        return "mapping", tuple((meaning(entry.key), meaning(entry.value)) for entry in node.entries)
    if isinstance(node, SequenceNode):
        return "list", tuple(meaning(item.value) for item in node.items)
    if isinstance(node, Scalar):
        kind = node.tag or type_of(node)
        return kind, "" if kind == "null" else node.value
    return node.lexeme


def merged(value: dict[str, Read], sources: Iterable[object]) -> dict[str, Read]:
    """Give a mapping what merge keys bring, each a mapping or a list of them: the first one wins."""
    for inherited in sources:
        for source in inherited if isinstance(inherited, list) else [inherited]:
            for name, member in source.items() if isinstance(source, dict) else ():
                value.setdefault(name, member)
    return value


def is_merge(entry: Entry) -> bool:
    """Say whether an entry's key is ``<<``, without quotes."""
    return isinstance(entry.key, Scalar) and entry.key.value == "<<" and entry.key.style == "plain"


def is_null(node: Node | None) -> bool:
    """Say whether a node is a scalar that is null."""
    return isinstance(node, Scalar) and node.is_null


def flag(node: Node | None) -> bool | None:
    """Return what stands there as true or false, ``True`` and ``TRUE`` too; None for anything else."""
    return BOOLEANS.get(node.text()) if node else None


def listed(mapping: MappingNode, key: str) -> SequenceNode | None:
    """Return the list under a key, or None where that is missing or null; anything else is refused."""
    node = mapping.get(key)
    if node is None or is_null(node):
        return None
    if not isinstance(node, SequenceNode):
        raise InputError(node.problem(f"{key} must be a list"))
    return node


def type_of(scalar: Scalar) -> str:
    """Return the type that a scalar is read as, a string if it has quotes or a tag."""
    return implicit_type(scalar.value) if scalar.style == "plain" and scalar.tag is None else "string"


def nearest(root: Node, path: Sequence[str | int]) -> tuple[Entry | None, Node]:
    """Return the node at a path, and the entry that it is the value of; if it is missing, the nearest above."""
    entry: Entry | None = None
    node = root
    for step in path:
        if isinstance(step, int):
            inner = node.items[step : step + 1] if isinstance(node, SequenceNode) else []
            if not inner:
                break
            entry, node = None, inner[0].value
        else:
            inner_entry = _entry(node, step)
            if inner_entry is None:
                break
            entry, node = inner_entry, inner_entry.value
    return entry, node


def _entry(node: Node, name: str) -> Entry | None:
    """Return the entry of a mapping, or else the first that a merge key brings."""
    if not isinstance(node, MappingNode):
        return None
    own = next((entry for entry in node.entries if entry.name == name and not is_merge(entry)), None)
    if own is not None:
        return own
    merged = [entry.value for entry in node.entries if is_merge(entry)]
    flat = [item.value for source in merged if isinstance(source, SequenceNode) for item in source.items]
    inherited = (_entry(source, name) for source in (*merged, *flat))
    return next((entry for entry in inherited if entry is not None), None)


def scalar_value(text: str) -> object:
    """Return what plain ``text`` is read as."""
    kind = implicit_type(text)
    if kind == "integer":
        return integer(text)
    if kind == "number":
        return number(text)
    return None if kind == "null" else BOOLEANS.get(text, text)


def integer(text: str) -> int | float | str:
    """Return what the text of a whole number is read as: beyond 64 bits decimal ones are inexact, others stay text."""
    digits = text.replace("_", "")
    body = digits.lstrip("+-").lower()
    base = {"0x": 16, "0o": 8, "0b": 2}.get(body[:2], 8 if body[0] == "0" else 10)
    if base != 10 or len(body) < 21:  # digits; more are beyond 64 bits
        value = -int(body, base) if digits[0] == "-" else int(body, base)
        if -(1 << 63) <= value < (1 << 63) or (digits[0] not in "+-" and value < (1 << 64)):
            return value
    return number(text) if _DECIMAL.match(digits) else text


def number(text: str) -> float | str:
    """Return what a decimal number is read as, ``.inf`` and ``.nan`` among them; one that is too large is text."""
    digits = text.replace("_", "")
    bare = digits.lower().lstrip("+-")
    if bare in (".inf", ".nan"):
        return float(digits.replace(".", "", 1))
    rounded = float(digits)
    return text if abs(rounded) == _INFINITY else rounded


def implicit_type(text: str) -> str:
    """Return what kustomize takes plain ``text`` for: null, boolean, integer, number, timestamp, merge or string."""
    if text in NULLS:
        return "null"
    if text in BOOLEANS:
        return "boolean"
    if text == "<<":
        return "merge"
    if text in _FLOAT_NAMES:
        return "number"
    if text[0] in _NUMBER_START:
        digits = text if text.startswith("._") else text.replace("_", "")
        if _INT.match(digits):
            return "integer"
        if _FLOAT.match(digits):
            return "number"
        if text[4:5] == "-" and re.match(_TIMESTAMP, text):
            return "timestamp"
    return "string"


def is_plain_text(text: str, *, flow: bool = False) -> bool:
    """Say whether ``text`` can be written plain and is then read as that very string, by YAML 1.1 readers too."""
    if not fits_plain(text, flow=flow) or implicit_type(text) != "string":
        return False
    return not (text in YAML11_BOOLEANS or text == "=" or (":" in text and re.match(_SEXAGESIMAL, text)))


def fits_plain(text: str, *, flow: bool = False) -> bool:
    """Say whether the grammar admits ``text`` as a plain scalar on one line, whatever type it is then read as."""
    if not text or text[0] in " \t" or text[-1] in " \t" or "\t" in text or _needs_escapes(text):
        return False
    if text[0] in _INDICATORS and (text[0] not in "-?:" or len(text) == 1 or text[1] in " \t" or flow):
        return False
    if ": " in text or " #" in text or ":\t" in text or "\t#" in text or text[-1] == ":":
        return False
    if text.startswith(("--- ", "... ")) or text in ("---", "..."):
        return False
    return not flow or not any(character in _FLOW_INDICATORS for character in text)


def _needs_escapes(text: str) -> bool:
    return not text.isprintable() and re.search(_ESCAPED, text) is not None


def quoted(text: str, *, flow: bool = False) -> str:
    """Write ``text`` plain where that is safe, otherwise in double quotes."""
    return text if is_plain_text(text, flow=flow) else double_quoted(text)


def single_quoted(text: str) -> str:
    """Write ``text`` in single quotes, or in double quotes where it needs escapes."""
    if _needs_escapes(text):
        return double_quoted(text)
    return "'" + text.replace("'", "''") + "'"


def double_quoted(text: str) -> str:
    """Write ``text`` in double quotes, escaping what has to be."""
    if _needs_escapes(text) or '"' in text or "\\" in text or "\t" in text:
        text = re.sub(rf'["\\\t]|{_ESCAPED}', lambda match: _escape(match.group()), text)
    return f'"{text}"'


def _escape(character: str) -> str:
    if escape := _ESCAPES.get(character):
        return escape
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
