"""Printing the rules of lint."""

from __future__ import annotations

from packyard.cli import output
from packyard.core.errors import InputError, Problem, suggest
from packyard.writing.checks.rule import table


def explain(name: str) -> int:
    """Print a rule with its example, or without a name all rules."""
    rules = table()
    if not name:
        rows = [(each.name, each.severity, each.summary) for each in rules.values()]
        output.table(("RULE", "SEVERITY", "WHAT IS WRONG"), rows, wide=True)
        return 0
    if name not in rules:
        hint = suggest(name, rules) or "packyard lint --explain lists all rules"
        raise InputError(Problem(f"there is no rule {name!r}", hint=hint))
    rule = rules[name]
    fix = [f"--fix {rule.fix}."] if rule.fix else []
    head = f"{rule.name} ({rule.severity}): {rule.summary}"
    output.page("\n".join([head, "", rule.why, rule.hint, *fix, "", rule.example.rstrip("\n")]))
    return 0
