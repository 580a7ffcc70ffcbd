"""Findings as SARIF 2.1.0, which code hosts show beside the lines of a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from packyard.writing.checks.explanation import Rule, table
from packyard.writing.checks.finding import Finding

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def document(findings: Sequence[Finding], version: str) -> dict[str, Any]:
    """Return the log of one run of this version of packyard, with the rules that are broken."""
    broken = {each.rule: each for each in findings}
    rules = [table().get(name) or _own(broken[name]) for name in sorted(broken)]
    places = {rule.name: place for place, rule in enumerate(rules)}
    driver = {"name": "packyard", "version": version, "rules": [_rule(each) for each in rules]}
    results = [_result(each, places[each.rule]) for each in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _own(broken: Finding) -> Rule:
    """Describe a rule of the workspace by what it found."""
    name, severity, summary, hint = broken.rule, broken.severity, broken.message, broken.hint
    return Rule(name=name, family="", severity=severity, summary=summary, why="", hint=hint, example="")


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": f"{rule.summary} {rule.why}"},
        "help": {"text": rule.hint},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: Finding, place: int) -> dict[str, Any]:
    text = f"{finding.message} ({finding.hint})" if finding.hint else finding.message
    result = {
        "ruleId": finding.rule,
        "ruleIndex": place,
        "level": finding.severity,
        "message": {"text": text},
        "locations": [_location(finding.file, finding.line, finding.column)],
    }
    if finding.composed:
        file, _, line = finding.composed.rpartition(":")
        composed = {"id": 1, "message": {"text": "composed"}, **_location(file, int(line), 0)}
        result["relatedLocations"] = [composed]
    return result


def _location(file: str, line: int, column: int) -> dict[str, Any]:
    """Return a place; what is not known of it is left out."""
    region = {key: number for key, number in (("startLine", line), ("startColumn", column)) if number}
    address = quote(file) if not file.startswith("/") else f"file://{quote(file)}"
    return {"physicalLocation": {"artifactLocation": {"uri": address}, **({"region": region} if line else {})}}
