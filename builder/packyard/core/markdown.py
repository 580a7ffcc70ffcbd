"""What Markdown makes of a text."""

from __future__ import annotations

import re


def code(value: object) -> str:
    """Return a value as a Markdown code span that backticks inside do not end (CommonMark 6.1); nothing as nothing."""
    text = "" if value is None else str(value)
    if not text:
        return ""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"
