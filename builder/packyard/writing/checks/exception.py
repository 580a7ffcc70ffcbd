"""Exceptions to rules, each with its reason, in a comment at the line or above it.

    runAsUser: 0 # packyard: allow runs-as-root: the launcher starts sshd

    # packyard: allow no-resources: it takes what is left of its node
    - name: main

They are found in the text of a file, so that scripts and patches inside of YAML have them too; in Markdown they are
comments of HTML. One that says no reason, names no rule or is not needed is an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from packyard.core.errors import suggest
from packyard.writing.checks.explanation import table
from packyard.writing.checks.finding import REMOVE, Finding

MARK = b"packyard: allow"
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
        return Finding(
            file=self.file,
            line=self.line,
            column=self.column,
            rule=rule,
            severity="error",
            message=message,
            hint=hint,
            fix=fix,
        )


def apply(
    findings: Iterable[Finding],
    files: Mapping[str, bytes],
    judged: Collection[str],
    *,
    shipped: bool,
    unjudged: Collection[str] = (),
) -> list[Finding]:
    """Return the findings that no exception in the files takes away, and what is wrong with the exceptions.

    ``judged`` are the files of which every finding is known, so that an exception there has to be needed, unless its
    rule is ``unjudged``; without ``shipped``, one to a rule for what is shipped need not be.
    """
    found = {(each.file, each.applies, each.rule): each for name in files for each in _find(name, files[name])}
    left, used = list[Finding](), set[tuple[str, int, str]]()
    for finding in findings:
        key = (finding.file, finding.line, finding.rule)
        if key in found and found[key].reason:
            used.add(key)
        else:
            left.append(finding)
    for key, each in found.items():
        is_needed = key in used or each.file not in judged or each.rule in unjudged
        left += _faults(each, is_needed=is_needed, shipped=shipped)
    return left


def _find(name: str, data: bytes) -> Iterator[_Exception]:
    if MARK not in data:
        return
    lines = data.decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line)
        if match is None:
            continue
        applies = number
        while (
            match.start() == len(line) - len(line.lstrip()) and applies < len(lines) and _is_comment(lines[applies - 1])
        ):
            applies += 1
        yield _Exception(name, number, match.start() + 1, applies, match[1], match[2])


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(("#", "<!--", "//"))


def _faults(each: _Exception, *, is_needed: bool, shipped: bool) -> Iterator[Finding]:
    rule = table().get(each.rule)
    if rule is None:
        hint = suggest(each.rule, table()) or "packyard lint --explain lists all rules"
        yield each.finding("exception-to-no-rule", f"there is no rule {each.rule!r} to make an exception to", hint)
    elif not each.reason:
        yield each.finding(
            "exception-without-reason", f"no reason is given for the exception to {each.rule}", "add it: RULE: reason"
        )
    elif not is_needed and (shipped or not rule.shipped):
        message = f"nothing here needs an exception to {each.rule}"
        yield each.finding("exception-not-needed", message, "remove the comment", REMOVE)
