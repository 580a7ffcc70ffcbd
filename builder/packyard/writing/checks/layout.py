"""Files that ``kustomize cfg set`` would reformat, or cannot read.

kustomize 3.8.7 and 4.5.4 write a file as a whole when a setter changes one value in it. Four habits keep a file as it
is: lines that end with a line feed, no blank lines, dashes in the column of their key, and comments in ASCII.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from packyard.core.errors import Problem
from packyard.core.yaml.document import all_comments, walk
from packyard.core.yaml.node import Document, MappingNode, Scalar, SequenceNode, Source
from packyard.writing.checks.finding import Finding, finding


def find(documents: Sequence[Document]) -> list[Problem]:
    """Find lines of a file that a set by kustomize 3.8.7 or 4.5.4 would reformat; its aliases must be in place."""
    if not documents:
        return []
    source = documents[0].source
    if "\r" in source.text:
        return [Problem("kustomize ends lines with a line feed alone", file=source.name, line=1)]
    problems = [*_blank_lines(source, documents)]
    for document in documents:
        problems += _indented_lists(document)
        problems += (
            source.problem(comment.start, "kustomize 3.8.7 damages comments that are not ASCII", "write it in ASCII")
            for comment in (() if source.text.isascii() else all_comments(document))
            if not comment.text.isascii()
        )
    return sorted(problems, key=lambda problem: (problem.line, problem.column))


def _blank_lines(source: Source, documents: Iterable[Document]) -> Iterator[Problem]:
    if not source.text.endswith("\n"):
        yield source.problem(len(source.text), "kustomize ends the last line with a line feed")
    lines = source.text.removesuffix("\n").split("\n")
    blank = {number for number, line in enumerate(lines, start=1) if not line.strip()}
    if blank:
        for node in (node for document in documents for node in walk(document.root) if isinstance(node, Scalar)):
            end = node.start + len(node.lexeme.rstrip())
            blank -= set(range(source.locate(node.start)[0], source.locate(end)[0]))
    for number in blank:
        yield Problem("kustomize removes blank lines", file=source.name, line=number, column=1, hint="take it out")


def _indented_lists(document: Document) -> Iterator[Problem]:
    """Find lists that stand to the right of their key; the first item of each is enough."""
    for mapping in (node for node in walk(document.root) if isinstance(node, MappingNode)):
        for entry in mapping.entries:
            items = entry.value.items if isinstance(entry.value, SequenceNode) and not entry.value.flow else []
            if items and items[0].column > entry.column:
                yield items[0].value.problem("kustomize writes a dash in the column of its key", "indent the list less")


def check(rewritten: Mapping[str, Sequence[Problem]], *, shipped: bool) -> Iterator[Finding]:
    """Report what was found in each file that a set writes: the Krmfile, and those with a field that is set.

    In a user's copy, which many people may have edited, only the first line of each file is reported.
    """
    for problems in rewritten.values():
        if not shipped and len(problems) > 1:
            more = f"; likewise {len(problems) - 1} more in this file"
            problems = [problems[0]._replace(message=problems[0].message + more)]
        yield from (finding("rewritten", problem) for problem in problems)
