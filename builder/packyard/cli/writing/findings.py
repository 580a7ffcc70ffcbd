"""What `packyard lint` does with findings: it prints them; corrects what is certain, which `packyard undo` takes back;
and explains the rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from packyard.cli import output, state
from packyard.cli.rows import Rows
from packyard.core.errors import InputError, Problem, suggest
from packyard.core.files.tree import Tree
from packyard.writing.authoring.fix import fix as fix_file
from packyard.writing.checks.explanation import table
from packyard.writing.checks.finding import Finding

ROWS = Rows("finding", "file, line, column, rule, severity, message, hint, composed, fix")


def show(findings: Sequence[Finding], form: str) -> None:
    """Print findings in a form."""
    if ROWS.show(findings, form):
        for finding in findings:
            output.line(str(finding))
            if finding.composed:
                output.line(f"  composed: {finding.composed}")


def fix(findings: Sequence[Finding], folders: Iterable[Path]) -> int:
    """Correct the files below some folders, those of each all or none; return how many findings are gone."""
    return sum(_fix(findings, folder) for folder in folders)


def _fix(findings: Sequence[Finding], folder: Path) -> int:
    tree = Tree(folder)
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        path = os.path.relpath(finding.file, folder)
        if finding.fix and not path.startswith(".."):
            by_file.setdefault(path, []).append(finding)
    files, fixed = dict[str, bytes | None](), list[Finding]()
    with tree.locked(state.log("lint --fix")):
        for path, of_file in by_file.items():
            new, gone = fix_file(tree.read(path), of_file[0].file, of_file)
            if gone:
                files[path] = new
                fixed += gone
        tree.write(files)
    for finding in fixed:
        output.note(f"{finding.file}:{finding.line}: fixed [{finding.rule}]")
    return len(fixed)


def explain_rule(name: str) -> int:
    """Print a rule with its example, or without a name all rules."""
    rules = table()
    if not name:
        rows = [(rule.name, rule.severity, rule.summary) for rule in rules.values()]
        output.table(("RULE", "SEVERITY", "WHAT IS WRONG"), rows)
        return 0
    if name not in rules:
        hint = suggest(name, rules) or "packyard lint --explain lists all rules"
        raise InputError(Problem(f"there is no rule {name!r}", hint=hint))
    rule = rules[name]
    fix = [f"--fix {rule.fix}."] if rule.fix else []
    head = f"{rule.name} ({rule.severity}): {rule.summary}"
    output.page("\n".join([head, "", rule.why, rule.hint, *fix, "", rule.example.rstrip("\n")]))
    return 0
