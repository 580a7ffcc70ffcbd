"""Correcting what lint found in the files of a folder, where it is certain what has to stand there.

A finding says by its ``fix`` what that is: another name in a comment, a value with other quotes, or nothing. Each
correction is an edit that is proved; one that cannot be placed exactly is left to a person.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from packyard.core.errors import InputError
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.core.yaml.document import all_comments, parse_text, source_of, walk
from packyard.core.yaml.edit import Edit, exchange, replace_comment
from packyard.core.yaml.node import Comment, Document, MappingNode, Scalar, Source
from packyard.core.yaml.proof import apply_to_file
from packyard.core.yaml.splice import remove
from packyard.core.yaml.values import double_quoted
from packyard.using.setters.comment import parse
from packyard.writing.authoring.place import take_out
from packyard.writing.checks.finding import REMOVE, Finding


def fix(findings: Iterable[Finding], folder: Path, log: StepLog) -> list[Finding]:
    """Correct the files below a folder, all or none, and return the findings that are gone with that."""
    tree = Tree(folder)
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        path = os.path.relpath(finding.file, folder)
        if finding.fix and not path.startswith(".."):
            by_file.setdefault(path, []).append(finding)
    files, fixed = dict[str, bytes | None](), list[Finding]()
    with tree.locked(log):
        for path, of_file in by_file.items():
            new, solved = _fix(tree.read(path), of_file[0].file, of_file)
            if solved:
                files[path] = new
                fixed += solved
        tree.write(files)
    return fixed


def _fix(data: bytes, name: str, findings: Sequence[Finding]) -> tuple[bytes, list[Finding]]:
    """Return a file with what is certain corrected, and the findings that are gone with that."""
    try:
        source = source_of(data, name)
        documents = parse_text(source)
    except InputError:
        return data, []
    fixed: list[Finding] = []
    edits: list[Edit] = []
    for finding in findings:
        wanted = next((file_edits for document in documents if (file_edits := list(_edits(document, finding)))), [])
        try:
            if wanted and not _overlap(edits, wanted) and apply_to_file(data, source, wanted, documents) is not None:
                edits += wanted
                fixed.append(finding)
        except InputError:
            continue  # it would do more than it means
    return apply_to_file(data, source, edits, documents) or data, fixed


def _overlap(edits: Iterable[Edit], before: Sequence[Edit]) -> bool:
    return any(edit.start < earlier.end and earlier.start < edit.end for edit in edits for earlier in before)


def _edits(document: Document, finding: Finding) -> Iterator[Edit]:
    """Yield the edits for one finding, if it is in this document."""
    source = document.source
    if finding.rule in ("unresolved-comment", "comment-does-not-fit", "exception-not-needed"):
        for comment in all_comments(document):
            if source.locate(comment.start)[0] == finding.line:
                yield from _of_comment(source, comment, finding)
        return
    for node in walk(document.root):
        if isinstance(node, Scalar) and finding.fix != REMOVE and source.locate(node.start) == _place(finding):
            yield from _quoted(node, finding.fix)
        elif isinstance(node, MappingNode) and finding.fix == REMOVE and len(node.entries) > 1:
            names = [entry.name for entry in node.entries if source.locate(entry.start) == _place(finding)]
            yield from remove(node, names)


def _of_comment(source: Source, comment: Comment, finding: Finding) -> Iterator[Edit]:
    reference = parse(comment.text)
    if finding.rule == "exception-not-needed":
        if "packyard: allow" in comment.text:
            yield take_out(source, comment)
    elif reference and finding.fix == REMOVE:
        yield take_out(source, comment)
    elif reference and comment.text.count(reference.name) == 1:
        yield replace_comment(comment, comment.text.replace(reference.name, finding.fix))


def _quoted(node: Scalar, text: str) -> list[Edit]:
    """Write a value with quotes or without them; another value than the one that was judged stays."""
    is_same = text in (node.value, double_quoted(node.value))
    return exchange(node, text, node.value) if is_same and node.anchor is None and node.tag is None else []


def _place(finding: Finding) -> tuple[int, int]:
    return finding.line, finding.column
