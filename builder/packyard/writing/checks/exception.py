"""Exceptions to rules, each with its reason, in a comment at the line or above it.

    runAsUser: 0 # packyard: allow runs-as-root: the launcher starts sshd

    # packyard: allow no-resources: it takes what is left of its node
    - name: main

They are found in the text of a file, so that scripts and patches inside of YAML have them too; in Markdown they are
comments of HTML. One that says no reason, names no rule or is not needed is an error.

They are for authors: what is built has them in ``packyard.json``, for a file and a rule, and no comment.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from packyard.core.bundle.archive import Member
from packyard.core.errors import InputError, Problem, suggest
from packyard.core.yaml.document import parse_file
from packyard.writing.checks.explanation import OWN, table
from packyard.writing.checks.finding import REMOVE, Finding, finding

MARK = b"packyard: allow"
_HOLDING = re.compile(r"\.(ya?ml|json6902|md|markdown)\Z|(^|/)(Krmfile|Kptfile|Kustomization)\Z")
_COMMENT = re.compile(r"(?:#|<!--|//)[ \t]*packyard: allow\b[ \t]*([^\s:]*)[ \t]*:?[ \t]*(.*?)[ \t]*(?:-->)?$")


@dataclass(frozen=True, slots=True)
class _Exception:
    """A comment at a place, the line that it is for, and what it says."""

    file: str
    line: int
    column: int
    applies: int
    rule: str
    reason: str

    def finding(self, rule: str, message: str, hint: str, fix: str = "") -> Finding:
        problem = Problem(message, file=self.file, line=self.line, column=self.column, hint=hint)
        return replace(finding(rule, problem, "error"), fix=fix)


def apply(findings: Iterable[Finding], files: Mapping[str, bytes], judged: Collection[str]) -> list[Finding]:
    """Return the findings that no exception in the files takes away, and what is wrong with the exceptions.

    ``judged`` are the files of which every finding is known, so that an exception there has to be needed.
    """
    comments = {(item.file, item.applies, item.rule): item for name in files for item in _find(name, files[name])}
    left, used = list[Finding](), set[tuple[str, int, str]]()
    for item in findings:
        key = (item.file, item.line, item.rule)
        if key in comments and comments[key].reason:
            used.add(key)
        else:
            left.append(item)
    for key, comment in comments.items():
        left += _faults(comment, is_needed=key in used or comment.file not in judged)
    return left


def take_out(members: Iterable[Member]) -> tuple[list[Member], dict[str, dict[str, str]]]:
    """Return the files of a package without the comments, and the reasons of exceptions by path and rule."""
    left, reasons = list[Member](), dict[str, dict[str, str]]()
    for member in members:
        comments = list(_find(member.path, member.data)) if may_have(member.path) else []
        if comments:
            reasons[member.path] = {comment.rule: comment.reason for comment in comments}
            member = replace(member, data=_without(member.data, comments))
        left.append(member)
    return left, reasons


def write(data: bytes, item: Finding, reason: str) -> bytes:
    """Return a YAML file with an exception above the line of a finding; as it was where no comment can stand there."""
    lines = data.decode().splitlines(keepends=True)
    line = lines[item.line - 1]
    indent, end = line[: len(line) - len(line.lstrip())], line[len(line.rstrip("\r\n")) :] or "\n"
    lines.insert(item.line - 1, f"{indent}# {MARK.decode()} {item.rule}: {reason}{end}")
    new = "".join(lines).encode()
    with suppress(InputError):
        parse_file(new, item.file)
        return new
    return data


def may_have(path: str) -> bool:
    """Say whether exceptions are looked for in a file."""
    return bool(_HOLDING.search(path))


def _without(data: bytes, comments: Iterable[_Exception]) -> bytes:
    lines = data.decode("utf-8", "replace").splitlines(keepends=True)
    for comment in comments:
        line = lines[comment.line - 1]
        before, end = line[: comment.column - 1].rstrip(), line[len(line.rstrip("\r\n")) :]
        lines[comment.line - 1] = f"{before}{end}" if before else ""
    return "".join(lines).encode()


def _find(name: str, data: bytes) -> Iterator[_Exception]:
    if MARK not in data:
        return
    lines = data.decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, 1):
        if match := _COMMENT.search(line):
            below = (applies for applies, text in enumerate(lines[number:], number + 1) if not _is_comment(text))
            applies = number if line[: match.start()].strip() else next(below, len(lines))
            yield _Exception(name, number, match.start() + 1, applies, match[1], match[2])


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(("#", "<!--", "//"))


def _faults(item: _Exception, *, is_needed: bool) -> Iterator[Finding]:
    rule = table().get(item.rule)
    if rule is None and OWN not in item.rule:
        hint = suggest(item.rule, table()) or "packyard lint --explain lists all rules"
        yield item.finding("exception-to-no-rule", f"there is no rule {item.rule!r} to make an exception to", hint)
    elif not item.reason:
        message = f"no reason is given for the exception to {item.rule}"
        yield item.finding("exception-without-reason", message, "add it: RULE: reason")
    elif not is_needed:
        message = f"nothing here needs an exception to {item.rule}"
        yield item.finding("exception-not-needed", message, "remove the comment", REMOVE)
