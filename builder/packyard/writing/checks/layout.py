"""Files that ``kustomize cfg set`` would reformat, or cannot read: see `core.yaml.fixedpoint`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from packyard.core.errors import InputError, Problem
from packyard.core.work.memo import Memo
from packyard.core.yaml import fixedpoint
from packyard.core.yaml.node import Document, MappingNode
from packyard.core.yaml.rewritten import WIDTH
from packyard.core.yaml.values import is_null
from packyard.writing.checks.finding import Finding, breach, finding


def find(documents: Sequence[Document], memo: Memo) -> list[Problem]:
    """Find lines of a file that a set by kustomize 3.8.7 or 4.5.4 would reformat; its aliases must be in place."""
    if not documents:
        return []
    source = documents[0].source
    try:
        problems = memo.once(("rewritten", source.text), lambda: fixedpoint.find(source, documents))
    except InputError:  # which is reported already
        return []
    return [each._replace(file=source.name) for each in problems]


def roots(documents: Iterable[Document]) -> Iterator[Finding]:
    """Find roots at which a set by kustomize 3.8.7 fails."""
    for document in documents:
        if document.root is not None and not isinstance(document.root, MappingNode) and not is_null(document.root):
            message = "the root of this file is not a mapping, and kustomize cfg set then fails for the whole directory"
            hint = "name a file of RFC 6902 operations *.json6902, or put them into the kustomization"
            yield breach("root-no-mapping", document.root, message, hint)


def check(
    rewritten: Mapping[str, Sequence[Problem]], documents: Iterable[Document], *, shipped: bool
) -> Iterator[Finding]:
    """Report what was found in each file that a set writes: the Krmfile, and those with a field that is set.

    In a user's copy, which many people may have edited, only the first line of each file is reported, and none that is
    merely long: a value that somebody set made it so. ``documents`` are those of all files.
    """
    lines = {} if shipped else {each.source.name: each.source.text.split("\n") for each in documents}
    for problems in rewritten.values():
        problems = [each for each in problems if shipped or len(lines[each.file][each.line - 1]) <= WIDTH]
        if problems and not shipped and len(problems) > 1:
            message = f"{problems[0].message}; likewise {len(problems) - 1} more in this file"
            problems = [Problem(message, file=problems[0].file, line=problems[0].line, hint=problems[0].hint)]
        yield from (finding("rewritten", problem) for problem in problems)
