"""The files that ``lint.rules`` of packyard.yaml names: rules of lint that a workspace has of its own, as rows of data.

    rules:
      acme/pinned-images:
        severity: error
        summary: An image has no digest.
        why: Auditors ask what ran.
        hint: Name the digest.
        rows:
        - on: container
          with: image
          rule: self.image.contains('@sha256:')
          message: "{self.name} runs {self.image}"

They judge what is composed, beside packyard's. An ``example`` as packyard's rules have it is tried when they are read.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from packyard.core.errors import every
from packyard.core.kubernetes import schemas
from packyard.core.kubernetes.schemas import Definitions, Judge
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import MappingNode, SequenceNode
from packyard.core.yaml.values import to_value
from packyard.using.setters.krmfile import EMPTY
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks import rows
from packyard.writing.checks.applied_objects import Applied
from packyard.writing.checks.explanation import OWN, Rule, rule
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.subject import parse
from packyard.writing.source import crds
from packyard.writing.source.workspace import Workspace

_SEVERITIES = ("error", "warning")
_OF_ROWS = ("on", "with", "rule", "message", "hint", "field", "severity")


def judges_of(here: Workspace) -> list[Judge]:
    """Return what judges the objects of a workspace: schemas, definitions and rules of its own."""
    read = partial(_read, here)
    rules = here.sources.once("rules", lambda: [rule for rules in every(read, here.rules) for rule in rules])
    own = [Judge("rules", "", {}, Definitions({}), {}, is_given=True, rules=rules)] if rules else []
    return [*schemas.choose(here.kubernetes, crds.read(here)), *own]


def _read(here: Workspace, path: str) -> list[Rule]:
    """Read the rules of a file; every fault of it is named at once."""
    fields = Fields.of_file(here.sources, path)
    rules = [_rule(name, child) for name, child in fields.children("rules").items()]
    fields.done()
    return [rule for rule in rules if rule]


def _rule(name: str, fields: Fields) -> Rule | None:
    texts = {key: fields.text(key) for key in ("summary", "why", "hint")}
    severity, example = fields.one_of("severity", _SEVERITIES), fields.text("example", "")
    if OWN not in name:
        fields.fault(fields.node, "", f"{name!r} is no name of a rule of your own", f"acme{OWN}{name}, for example")
    listed = [Fields(node, fields.file, f"{fields.path}.rows", fields.problems) for node in fields.items("rows")]
    values: list[Any] = [to_value(row.node) for row in listed if _is_row(row)]
    fields.done()
    if fields.problems or not values:
        return None
    own_rule = rule(name, "Rules of this workspace", rows=values, severity=severity, example=example, **texts)
    for mark, wanted in (("-", True), ("+", False)) if example else ():
        if any(finding.rule == name for finding in _found(own_rule, mark)) is not wanted:
            fields.fault(fields.node, "example", "does not have the fault" if wanted else "has the fault still")
    return own_rule


def _is_row(fields: Fields) -> bool:
    """Say whether a row can be read, or note why not."""
    for key in _OF_ROWS:
        node = fields.anything(key)
        if key in ("on", "message") and node is None:
            fields.fault(fields.node, key, "is missing")
        if isinstance(node, MappingNode) or (isinstance(node, SequenceNode) and key not in ("on", "with")):
            fields.fault(node, key, "must be a string")
    fields.one_of("severity", _SEVERITIES, "")
    fields.done()
    return not fields.problems


def _found(own_rule: Rule, mark: str) -> Iterator[Finding]:
    files = {path: text.encode() for path, text in own_rule.files(mark).items()}
    return rows.check(Applied(parse(PackageFiles(EMPTY, files))), [own_rule])
