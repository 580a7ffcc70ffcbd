r"""Patterns as kustomize means them: Go's regular expressions, matched by RE2 in linear time.

    matches("^(a+)+$", "a" * 40 + "!")  ->  False, at once

RE2's syntax is Go's but for three things, which are refused here too: ``\C``, letters beyond ASCII in the name of a
group, and counts of more than eight digits. A pattern that is too long or needs too much memory is refused as well.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_LONGEST = 4096
_MEMORY = 8 << 20  # what RE2 may use for one pattern
_KEPT = 32  # patterns at a time: more than one Krmfile has
_STEPS = 1 << 25  # states times characters: a sixth of a second, where RE2 has to go through all of them

_LARGE = "pattern too large - compile failed"
#: RE2's words for what is wrong, in Go's.
_WORDS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    _LARGE: "expression too large",
}
#: What a pattern is made of, as far as it takes to find what Go refuses and RE2 admits, or calls by another name.
_PARTS = re.compile(
    r"""\\Q.*?(?:\\E|\Z) | \\[pPx]\{[^}]*\} | (?P<byte>\\C) | \\.
      | \[\^?\]?(?:\[:\^?[a-z]*:\]|\\.|[^\]\\])*(?:\]|\Z)
      | (?P<behind>\(\?<[=!][^>]*>?) | (?P<name>\(\?P?<(?=[^>]*[^\x00-\x7f])\w+>)
      | (?P<count>\{(?P<least>0|[1-9][0-9]*)(?:,(?P<most>0|[1-9][0-9]*)?)?\})""",
    re.VERBOSE | re.DOTALL,
)
_REFUSED = {
    "byte": "invalid escape sequence",
    "behind": "invalid named capture",
    "name": "invalid named capture",
    "count": "invalid repeat count",
}
_MOST = 1000  # repetitions


class PatternError(Exception):
    """A pattern is invalid, or too large for the text to be matched."""


def fault(pattern: str) -> str:
    """Say what is wrong with a pattern, in the words of Go's parser; an empty text where nothing is."""
    try:
        _compile(pattern)
    except PatternError as error:
        return str(error)
    return ""


def matches(pattern: str, text: str) -> bool:
    """Search for a pattern in a text; raises `PatternError`."""
    compiled = _compile(pattern)
    data = text.encode("utf-8", "surrogatepass")
    if compiled.programsize * len(data) > _STEPS:
        raise PatternError(f"it is too large to be matched against {len(text)} characters")
    return compiled.search(data) is not None


@lru_cache(_KEPT)
def _compile(pattern: str) -> Any:
    if len(pattern) > _LONGEST:
        raise PatternError(f"expression too large: it has more than {_LONGEST} characters")
    import re2  # only where there is a pattern: it takes 6 ms

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MEMORY
    try:
        part = next(filter(_is_refused, _PARTS.finditer(pattern)), None)
        if part and part.lastgroup:
            mark = f"(?P<{'!' * len(pattern)}>"  # refused as well, and unlike all that stands in front of it
            if _said(f"{pattern[: part.start()]}{mark}", options).partition(": ")[2] == mark:
                raise PatternError(f"{_REFUSED[part.lastgroup]}: `{part.group(part.lastgroup)}`")
        refusal = _said(pattern, options)
        if not refusal:
            return re2.compile(pattern.encode(), options)
    except UnicodeEncodeError:  # a half of a character, by an escape of YAML
        raise PatternError("invalid UTF-8") from None
    finally:
        re2.purge()  # it keeps more of them than there is memory for
    word, _, argument = refusal.partition(": ")
    message = _WORDS.get(word, word)
    raise PatternError(message if word == _LARGE else f"{message}: `{argument}`")


def _said(pattern: str, options: Any) -> str:
    """Return what RE2 has against a pattern."""
    import re2

    try:
        re2.compile(pattern.encode(), options)
    except re2.error as error:
        reason = error.args[0]
        return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return ""


def _is_refused(part: re.Match[str]) -> bool:
    """Say whether Go refuses a part."""
    if not part["count"]:
        return part.lastgroup is not None
    least, most = (int(digits[:5]) for digits in (part["least"], part["most"] or part["least"]))
    return least > most or most > _MOST
