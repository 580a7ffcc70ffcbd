"""Faults of Argo workflows: templates and parameters that are not there, objects that a second run cannot create."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from packyard.core.errors import suggest
from packyard.core.kubernetes.kinds import ARGO, is_kind, names
from packyard.core.yaml.document import items, mappings, scalars, walk
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.writing.checks.embedded import PARAMETER, parameters, spec_of
from packyard.writing.checks.finding import Finding, Place, breach, within
from packyard.writing.checks.parsed import Parsed
from packyard.writing.checks.workload import twice

#: The tasks of an expression: ``fetch.Succeeded && !(check.Failed || train)``.
_DEPENDS = re.compile(r"(?<![.\w-])[A-Za-z0-9_][\w-]*")
_NAMED = re.compile(r"^metadata:[ \t]*\n(?:[ \t]+.*\n)*?[ \t]+name:[ \t]*(?P<name>\S.*)$", re.MULTILINE)
_OWN_NAME = re.compile(r"\{\{\s*(workflow\.(name|uid)|pod\.name|retries|inputs\.)")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find what Argo refuses, or what works only once."""
    for root in parsed.fresh:
        spec = spec_of(root)
        templates = mappings(spec.get("templates")) if spec else []
        if spec is None or not templates:
            continue
        by_name = {template.text("name"): template for template in templates}
        yield from _entry(spec, "entrypoint", by_name)
        yield from _entry(spec, "onExit", by_name)
        arguments = set(parameters(spec.mapping("arguments"))) if is_kind(root, ARGO, "Workflow") else None
        actions = (each.scalar("resource", "action") for each in templates)
        deletes = any(action and action.value == "delete" for action in actions)
        yield from twice("template", names(spec.get("templates")))
        for template in templates:
            yield from _steps(template, by_name)
            yield from _parameters(template, arguments, spec)
            yield from () if deletes else _created(template)


def _entry(holder: MappingNode, field: str, templates: Collection[str]) -> Iterator[Finding]:
    node = holder.scalar(field)
    if node and node.value and node.value not in templates and "{{" not in node.value:
        message = f"{field} is {node.value!r}, which is not a template of the workflow"
        hint = suggest(node.value, templates) or f"there is {', '.join(sorted({*templates} - {''}))}"
        yield breach("no-such-template", node, message, hint)


def _steps(template: MappingNode, templates: Mapping[str, MappingNode]) -> Iterator[Finding]:
    """Find steps and tasks of a template that is not there, and tasks that wait for one that is not there."""
    steps = [step for group in items(template.get("steps")) for step in mappings(group)]
    tasks = mappings(template.find("dag", "tasks"))
    for what, listed in (("step", steps), ("task", tasks)):
        yield from twice(what, list(filter(None, (each.scalar("name") for each in listed))))
        for call in listed:
            yield from _entry(call, "template", templates)
    called = {task.text("name") for task in tasks}
    for task in tasks:
        waits: list[tuple[Place, str]] = [(each, each.value) for each in scalars(task.get("dependencies"))]
        depends = task.scalar("depends")
        if depends and "{{" not in depends.value:
            waits += [(within(depends, name), name) for name in _DEPENDS.findall(depends.value)]
        for place, name in waits:
            if name not in called and "{{" not in name:
                message = f"task {task.text('name')!r} waits for {name!r}, which is not a task"
                yield breach("no-such-template", place, message, suggest(name, called))


def _parameters(template: MappingNode, arguments: set[str] | None, spec: MappingNode) -> Iterator[Finding]:
    """Find parameters that nothing declares: Argo refuses the workflow. A template may be given any (None)."""
    if spec.mapping("workflowTemplateRef"):
        return
    inputs = set(parameters(template.mapping("inputs")))
    seen = {("workflow", "json")}  # which is all of them
    for node in walk(template):
        for scope, name in PARAMETER.findall(node.value) if isinstance(node, Scalar) and "{{" in node.value else ():
            declared = arguments if scope == "workflow" else inputs
            if declared is not None and name not in declared and (scope, name) not in seen:
                seen.add((scope, name))
                message = f"{{{{{scope}.parameters.{name}}}}} is not declared, and Argo refuses the workflow"
                where = "arguments" if scope == "workflow" else "the inputs of the template"
                hint = suggest(name, declared) or f"declare it in {where}"
                yield breach("no-such-parameter", node, message, hint)


def _created(template: MappingNode) -> Iterator[Finding]:
    """Find an object with one name for all runs, which a second run or a retry cannot create."""
    action, text = (template.scalar("resource", field) for field in ("action", "manifest"))
    if action and action.value == "create" and text:
        named = _NAMED.search(text.value)
        if named and not _OWN_NAME.search(named["name"]):
            message = f"a second run, or a retry, cannot create {named['name'].strip()}: it exists already"
            yield breach("created-once", action, message, "action: apply")
