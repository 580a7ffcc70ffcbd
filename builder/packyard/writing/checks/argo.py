"""Steps of Argo workflows that work only once: they create an object that has the same name in each run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode
from packyard.writing.checks.embedded import spec_of
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_NAMED = re.compile(r"^metadata:[ \t]*\n(?:[ \t]+.*\n)*?[ \t]+name:[ \t]*(?P<name>\S.*)$", re.MULTILINE)
_OWN_NAME = re.compile(r"\{\{\s*(workflow\.(name|uid)|pod\.name|retries|inputs\.)")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find objects with one name for all runs, which a second run or a retry cannot create."""
    for spec in filter(None, map(spec_of, parsed.fresh)):
        templates = mappings(spec.get("templates"))
        if all(_action(template) != "delete" for template in templates):  # of which one may be for these
            for template in templates:
                yield from _created(template)


def _action(template: MappingNode) -> str:
    action = template.scalar("resource", "action")
    return action.value if action else ""


def _created(template: MappingNode) -> Iterator[Finding]:
    action, text = (template.scalar("resource", field) for field in ("action", "manifest"))
    if action and action.value == "create" and text:
        named = _NAMED.search(text.value)
        if named and not _OWN_NAME.search(named["name"]):
            message = f"a second run, or a retry, cannot create {named['name'].strip()}: it exists already"
            yield breach("created-once", action, message, "action: apply")
