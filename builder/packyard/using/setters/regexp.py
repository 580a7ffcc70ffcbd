r"""Patterns as kustomize means them: Go's regular expressions, matched by RE2 in linear time.

    matches("^(a+)+$", "a" * 40 + "!")  ->  False, at once

RE2's syntax is Go's, but for ``\C`` and the like, which nobody writes. A pattern that is too long or needs too much
memory is refused.
"""

from functools import lru_cache
from typing import Any

_LONGEST = 4096
_MEMORY = 8 << 20  # what RE2 may use for one pattern
_KEPT = 32  # patterns at a time: more than one Krmfile has
_STEPS = 1 << 25  # states times characters: a sixth of a second, where RE2 has to go through all of them


class PatternError(Exception):
    """A pattern is invalid, or too large for the text to be matched."""


def fault(pattern: str) -> str:
    """Say what is wrong with a pattern; an empty text where nothing is."""
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
        raise PatternError(f"it has more than {_LONGEST} characters")
    import re2  # only where there is a pattern: it takes 6 ms

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MEMORY
    try:
        return re2.compile(pattern.encode(), options)
    except UnicodeEncodeError:  # a half of a character, by an escape of YAML
        raise PatternError("invalid UTF-8") from None
    except re2.error as error:
        reason = error.args[0]
        raise PatternError(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from error
    finally:
        re2.purge()  # it keeps more of them than there is memory for
