"""What ``kustomize cfg set`` would write otherwise in a YAML text, though nobody asked it to.

kustomize 3.8.7 and 4.5.4 write a file as a whole when a setter changes one value in it. A text is a fixed point of both
when nothing else changes then: its lines are those of `rewritten`, 3.8.7 breaks none of them (4.5.4 would join it
again), and its comments stand above or behind what they are about. 3.8.7 loses a comment above an item in brackets, and
damages one that is not ASCII.

The finder is stricter than both in what nobody needs: it always reports blank lines, folded texts (``>``), brackets
over several lines with comments in them, and comments behind a dash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from packyard.core.errors import Problem
from packyard.core.yaml.document import parse_text, walk
from packyard.core.yaml.node import Alias, Document, MappingNode, Scalar, Source
from packyard.core.yaml.rewritten import ELSE, WIDTH, Line, lines

_ANNOTATIONS = ("config.kubernetes.io/path", "config.kubernetes.io/index")
_BEHIND = re.compile(r"[ \t]#.*")


def find(source: Source, known: Sequence[Document] | None = None) -> list[Problem]:
    """Return what kustomize would change, in the order of lines; raises where the text is not YAML.

    ``known`` are its documents, if it was parsed already.
    """
    if "\r" in source.text:
        return [Problem("kustomize ends lines with a line feed alone", file=source.name, line=1)]
    parsed = parse_text(source) if known is None else known
    documents = [document for document in parsed if document.root is not None]
    expected: list[Line] = []
    for document in documents:
        expected += [Line("---")] if expected else []
        expected += lines(document)
    written = _Written(source, documents, expected)
    problems = [*_metadata(documents), *written.end(), *written.blanks(), *written.changed(), *written.comments()]
    return sorted(problems, key=lambda problem: (problem.line, problem.column))


def _metadata(documents: Iterable[Document]) -> Iterator[Problem]:
    """Find annotations that kustomize removes."""
    for document in documents:
        metadata = document.root.get("metadata") if isinstance(document.root, MappingNode) else None
        annotations = metadata.get("annotations") if isinstance(metadata, MappingNode) else None
        if isinstance(annotations, MappingNode) and annotations.entries:
            for entry in annotations.entries:
                if entry.name in _ANNOTATIONS:
                    yield entry.value.problem(f"kustomize removes the annotation {entry.name}")
        elif annotations is not None and not isinstance(annotations, Alias):
            yield annotations.problem("kustomize removes empty annotations", "take them out")


class _Written:
    """The lines of a text beside those that are expected."""

    def __init__(self, source: Source, documents: Iterable[Document], expected: list[Line]) -> None:
        self._source = source
        self._expected = expected
        self._texts = source.text.removesuffix("\n").split("\n")
        blocks = documents if "|" in source.text or ">" in source.text else ()
        self._inside = {number for document in blocks for number in _inside_texts(document)}
        #: The numbers of the lines that hold more than a comment.
        self._content = [number for number, text in enumerate(self._texts) if self._has_content(number, text)]

    def _has_content(self, number: int, text: str) -> bool:
        return number in self._inside or text.strip(" \t\r")[:1] not in ("", "#")

    def end(self) -> Iterator[Problem]:
        """Yield a problem where the last line does not end."""
        if not self._source.text.endswith("\n"):
            yield self._problem(len(self._texts) - 1, "kustomize ends the last line with a line feed")

    def blanks(self) -> Iterator[Problem]:
        """Yield a problem for each blank line."""
        for number, text in enumerate(self._texts):
            if not text.strip() and number not in self._inside:
                yield self._problem(number, "kustomize removes blank lines", "take it out")

    def changed(self) -> Iterator[Problem]:
        """Yield a problem for each row of lines that are written otherwise, and for each line that is broken."""
        actual = [self._texts[number] for number in self._content]
        expected = [line.text for line in self._expected]
        if actual == expected and not any(line.folds for line in self._expected):
            return
        for _, start, end, begin, stop in SequenceMatcher(None, actual, expected, autojunk=False).get_opcodes():
            if end - start == stop - begin:
                for old, new in zip(range(start, end), range(begin, stop), strict=True):
                    yield from self._line(self._content[old], actual[old], self._expected[new])
            else:
                number = self._content[min(start, len(self._content) - 1)]
                yield from self._line(number, None, self._expected[begin] if begin < stop else Line(ELSE))

    def _line(self, number: int, actual: str | None, expected: Line) -> Iterator[Problem]:
        if expected.folds:
            message = f"kustomize 3.8.7 breaks this line behind column {WIDTH}, and 4.5.4 joins it again"
            yield self._problem(number, message, "write it in block style, or shorter")
        elif actual != expected.text:
            hint = "" if ELSE in expected.text else f"it writes: {expected.text.strip()}"
            yield self._problem(number, "kustomize writes this in another way", hint)

    def comments(self) -> Iterator[Problem]:
        """Yield a problem for each comment that kustomize damages, loses or moves."""
        for number, text in enumerate(self._texts):
            if not text.isascii() and number not in self._inside and not _comment(text).isascii():
                yield self._problem(number, "kustomize 3.8.7 damages comments that are not ASCII", "write it in ASCII")
        if len(self._content) == len(self._expected):
            before, last = Line(), -1
            for number, line in zip(self._content, self._expected, strict=True):
                if number > last + 1:
                    yield from self._between(before, range(last + 1, number), line, _indent(self._texts[number]))
                before, last = line, number
            yield from self._between(before, range(last + 1, len(self._texts)), None, 0)

    def _between(self, before: Line, numbers: range, below: Line | None, column: int) -> Iterator[Problem]:
        """Judge comments between two lines of content, of which the lower begins in a column.

        a:
          before: 1
          # a comment at the foot of a
        # a comment above below
        below: 2
        """
        place = ""
        for number in numbers:
            if self._texts[number].strip():
                place = _place(_indent(self._texts[number]), before.inner, column, place)
                yield from self._misplaced(number, place, before, below)

    def _misplaced(self, number: int, place: str, before: Line, below: Line | None) -> Iterator[Problem]:
        """Judge the comment in a line, which stands in a `_place` between two lines of content."""
        is_at_end = place == "foot" or below is None
        takes_comma = is_at_end and before.text.endswith(("]", "}"))  # 3.8.7 may add one
        if not place or takes_comma:
            yield self._problem(number, "kustomize moves this comment", "put it above what it is about")
        elif below is None and len(self._content) == 1 and _comment(before.text):
            yield self._problem(number, "kustomize puts a blank line above this comment", "put it elsewhere")
        elif place == "above" and below and not below.keeps:
            message = "kustomize loses or moves a comment here, above brackets, an anchor or a list in a list"
            yield self._problem(number, message, "write the item in block style, or put the comment elsewhere")

    def _problem(self, number: int, message: str, hint: str = "") -> Problem:
        column = _indent(self._texts[number]) + 1
        return Problem(message, file=self._source.name, line=number + 1, column=column, hint=hint)


def _place(column: int, upper: int, lower: int, previous: str) -> str:
    """Say whether a comment in a column is ``above`` the lower line of content or at the ``foot`` of the upper one.

    Both are in columns, too. It is neither in another column, nor at the foot behind a ``previous`` one that is above.
    """
    if column == lower:
        return "above"
    return "foot" if column == upper and upper > lower and previous != "above" else ""


def _inside_texts(document: Document) -> Iterator[int]:
    """Yield the numbers, from 0, of the lines of block texts; blank ones behind a text only where they belong to it."""
    for node in walk(document.root):
        if isinstance(node, Scalar) and node.style in "|>":
            first = node.source.locate(node.start)[0]
            header, _, below = node.lexeme.partition("\n")
            rest = below if "+" in header else below.rstrip()
            yield from range(first, first + len(rest.splitlines()))


def _comment(text: str) -> str:
    if text.lstrip().startswith("#"):
        return text
    match = _BEHIND.search(text)
    return match.group() if match else ""


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))
