"""How `kustomize cfg` reads a plain scalar, and how a value is written so that every reader reads that value.

No Python library reads scalars as kustomize does (``yes`` is text, ``08`` is 8, ``1e3`` is 1000), so the table is ours,
taken from the rules of the yaml.v3 that kustomize links and judged against the real program in the tests.
"""

from __future__ import annotations

import re

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_FLOAT_NAMES = frozenset(sign + name for name in (".inf", ".Inf", ".INF") for sign in ("", "+", "-")) | {
    ".nan",
    ".NaN",
    ".NAN",
}
_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?)?\Z"
)
_NUMBER_START = frozenset("+-.0123456789")
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?\Z")

#: Words that YAML 1.1 readers, kubectl among them, take for booleans although kustomize does not.
YAML11_BOOLEANS = frozenset(
    spelling for word in ("y", "n", "yes", "no", "on", "off") for spelling in (word, word.capitalize(), word.upper())
)

_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")
_FLOW_INDICATORS = frozenset(",[]{}:?")  # what yaml.v3 does not read back inside brackets
#: What cannot stand in single-quoted text on one line: controls, line breaks, surrogates, the mark.
NEEDS_ESCAPES = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_ESCAPES = {"\0": "\\0", "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r",
            "\x1b": "\\e", "\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P", '"': '\\"', "\\": "\\\\"}  # fmt: skip
_ESCAPED = re.compile(r'["\\\t]|' + NEEDS_ESCAPES.pattern)


def implicit_type(text: str) -> str:
    """Return what kustomize takes plain ``text`` for: null, boolean, integer, number, timestamp, merge or string."""
    if text in _NULL:
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
        if _TIMESTAMP.match(text):
            return "timestamp"
    return "string"


def is_plain_text(text: str, *, flow: bool = False) -> bool:
    """Say whether ``text`` can be written plain and is then read as that very string, by YAML 1.1 readers too."""
    if not fits_plain(text, flow=flow) or implicit_type(text) != "string":
        return False
    return not (text in YAML11_BOOLEANS or text == "=" or _SEXAGESIMAL.match(text))


def fits_plain(text: str, *, flow: bool = False) -> bool:
    """Say whether the grammar admits ``text`` as a plain scalar on one line, whatever type it is then read as."""
    if not text or text[0] in " \t" or text[-1] in " \t" or "\t" in text or NEEDS_ESCAPES.search(text):
        return False
    if text[0] in _INDICATORS and (text[0] not in "-?:" or len(text) == 1 or text[1] in " \t" or flow):
        return False
    if ": " in text or " #" in text or ":\t" in text or "\t#" in text or text[-1] == ":":
        return False
    if text.startswith(("--- ", "... ")) or text in ("---", "..."):
        return False
    return not flow or not any(character in _FLOW_INDICATORS for character in text)


def quoted(text: str, *, flow: bool = False) -> str:
    """Write ``text`` plain where that is safe, otherwise in double quotes."""
    return text if is_plain_text(text, flow=flow) else double_quoted(text)


def single_quoted(text: str) -> str:
    """Write ``text`` in single quotes, or in double quotes where it needs escapes."""
    if NEEDS_ESCAPES.search(text):
        return double_quoted(text)
    return "'" + text.replace("'", "''") + "'"


def double_quoted(text: str) -> str:
    """Write ``text`` in double quotes, escaping what has to be."""
    return '"' + _ESCAPED.sub(lambda match: _escape(match.group()), text) + '"'


def _escape(character: str) -> str:
    known = _ESCAPES.get(character)
    if known:
        return known
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
