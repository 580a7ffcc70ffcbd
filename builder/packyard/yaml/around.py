"""Which part of a text matters to the comments that are asked for, found by a search before the text is parsed."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Sequence

#: So many tokens behind a comment may say what it binds: an item, its first key and that key's value, with their own
#: comments, are three; the rest is margin.
_TOKENS_BEHIND = 6


class Around:
    """Tells, as the tokens of a text come by, up to where they have nothing to do with a comment asked for.

    A comment is asked for that holds one of ``marks``. It hangs on the last token before it or on the first ones behind
    it; so every token that ends before the last line with content above the comment is without meaning to it. Taking
    more text for a comment than is one, for example a ``#`` in quoted text, only leaves out less.
    """

    def __init__(self, text: str, marks: Sequence[str]) -> None:
        self._text = text
        self._marks = marks
        self._behind = 0  # tokens still to come that the last comment may bind
        self._next = self._find(0)
        #: Tokens that end here or before may be left out.
        self.quiet_end = self._content_above(self._next)

    def wants(self, comment: str) -> bool:
        """Say whether a comment is asked for."""
        return any(mark in comment for mark in self._marks)

    def pass_token(self, start: int) -> None:
        """Take notice of a token that was not left out."""
        if start > self._next:
            self._next = self._find(start)
            self._behind = _TOKENS_BEHIND
            self.quiet_end = -1
        elif self._behind:
            self._behind -= 1
            if not self._behind:
                self.quiet_end = self._content_above(self._next)

    def _find(self, position: int) -> int:
        text = self._text
        while (start := text.find("#", position)) >= 0:
            end = text.find("\n", start)
            position = end if end >= 0 else len(text)
            if self.wants(text[start:position]):
                return start
        return len(text)

    def _content_above(self, position: int) -> int:
        """Return the start of the last line above that of ``position`` which holds more than a comment."""
        text = self._text
        start = text.rfind("\n", 0, position) + 1
        while start:
            end, start = start, text.rfind("\n", 0, start - 1) + 1
            content = text[start:end].strip()
            if content and not content.startswith("#"):
                break
        return start
