"""Rules of lint that are rows of data: an expression in CEL that has to hold at each place of a kind.

    on: HorizontalPodAutoscaler.autoscaling spec        KIND.GROUP, object, pod, container or volume; a path there
    with: [minReplicas, maxReplicas]                    only where these are given; with a ? one may be missing
    rule: self.minReplicas <= self.maxReplicas          has to hold; without a rule it never does
    message: minReplicas is {self.minReplicas}          with expressions in braces, as in the hint
    hint: raise maxReplicas
    field: minReplicas                                  what is wrong at the place

A place with a value that comes later, by a setter, a template or a variable, is not judged: of ``with`` that is these
fields alone. An expression that has no answer is a finding of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import Kind
from packyard.core.kubernetes.lenient import kind_of
from packyard.core.kubernetes.pods import Path
from packyard.core.yaml.node import Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import nearest
from packyard.writing.checks.applied import Applied, AppliedObject
from packyard.writing.checks.cel import NoAnswer, evaluator
from packyard.writing.checks.explanation import Row, Rule, Severity, table
from packyard.writing.checks.finding import Finding, breach

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
#: The rows by the kind, or ``pod``, ``container`` and ``volume``, each with its rule and the steps of its path.
_Index = Mapping[Kind | str, Sequence[tuple[tuple[str, ...], Rule, Row]]]


@dataclass(frozen=True, slots=True)
class _Case:
    """A row at a place of an object; ``pod`` and ``item`` are the paths of what is around it."""

    rule: Rule
    row: Row
    path: Path
    pod: Path | None
    item: Path


def check(applied: Applied, rules: Sequence[Rule] = ()) -> Iterator[Finding]:
    """Find the places where a row does not hold, by the rules of packyard and others."""
    index = _index((*table().values(), *rules))
    for item in applied.objects:
        value = {name: _without_nulls(member) for name, member in item.value.items() if member is not None}
        cases = list(dict.fromkeys(_cases(value, index, list(_later(item.root, (), applied)))))
        places = [(case.path, case.pod, case.item) for case in cases]
        answers = evaluator().ask(value, places, [(number, case.row.rule) for number, case in enumerate(cases)])
        for case, answer in zip(cases, answers, strict=True) if cases else ():
            if answer is not True:
                yield _finding(case, item, value, answer)


@cache
def _index(rules: tuple[Rule, ...]) -> _Index:
    index: dict[Kind | str, list[tuple[tuple[str, ...], Rule, Row]]] = {}
    for rule in rules:
        for row in rule.rows:
            for what, _, path in (on.partition(" ") for on in row.on):
                kind, _, group = what.partition(".")
                key = what if what in ("object", "pod", "container", "volume") else (group, kind)
                index.setdefault(key, []).append((tuple(path.split("/")) if path else (), rule, row))
    return index


def _cases(value: dict[str, object], index: _Index, later: Sequence[Path]) -> Iterator[_Case]:
    """Yield each row with the places that it judges; ``later`` are the paths of values that are not there yet."""
    starts: list[tuple[Kind | str, object, Path, Path | None]]
    starts = [(kind_of(value), value, (), None), ("object", value, (), None)]
    for pod in pods.find(value):
        starts += [("pod", pod.spec, pod.path, pod.path)]
        starts += [("container", container, path, pod.path) for path, container in pod.container_places]
        starts += [("volume", volume, path, pod.path) for path, volume in pod.volume_places]
    for key, start, at, pod_path in starts:
        for steps, rule, row in index.get(key, ()):
            for path, place in _down(start, at, steps):
                given = place if isinstance(place, dict) else {}
                read = [(*path, field.rstrip("?")) for field in row.needs] or [path]
                is_later = any(each[: len(above)] == above for above in read for each in later)
                needed = (field for field in row.needs if not field.endswith("?"))
                if not is_later and all(given.get(field) not in (None, "", []) for field in needed):
                    yield _Case(rule, row, path, pod_path, at)


def _down(value: object, path: Path, steps: Sequence[str]) -> Iterator[tuple[Path, object]]:
    """Yield what steps lead to; ``*`` stands for each field or item."""
    if not steps:
        yield path, value
        return
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        if steps[0] in ("*", step):
            yield from _down(member, (*path, step), steps[1:])


def _later(node: Node, path: Path, applied: Applied) -> Iterator[Path]:
    """Yield the paths of values that come later."""
    if isinstance(node, MappingNode):
        for entry in node.entries:
            yield from _later(entry.value, (*path, entry.name), applied)
    elif isinstance(node, SequenceNode):
        for number, item in enumerate(node.items):
            yield from _later(item.value, (*path, number), applied)
    elif applied.is_later(node):
        yield path


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _finding(case: _Case, item: AppliedObject, value: dict[str, object], answer: object) -> Finding:
    row, at = case.row, [(case.path, case.pod, case.item)]
    texts = (row.field, row.message, row.hint)
    asked = [(0, match) for text in texts for match in _PLACEHOLDER.findall(text)]
    parts = iter(evaluator().ask(value, at, asked) if asked else ())
    field, message, hint = (_PLACEHOLDER.sub(lambda _: _shown(next(parts)), text) for text in texts)
    _, holder = nearest(item.root, case.path)
    entry, node = nearest(item.root, (*case.path, *(field.split("/") if field else ())))
    place: Entry | Node = entry if entry and node is not holder and not isinstance(node, Scalar) else node
    if isinstance(answer, NoAnswer):
        reason = f"the rule {case.rule.name} has no answer here: {answer.reason}"
        return breach("rule-without-answer", place, reason, f"it is {row.rule!r}")
    is_guess = case.pod is not None and not pods.are_known(item.value)
    severity: Severity = "warning" if is_guess else row.severity or case.rule.severity
    return breach(case.rule.name, place, message, hint, severity=severity)


def _shown(part: object) -> str:
    """Return a part of a message; what has no answer is left open."""
    return "…" if isinstance(part, NoAnswer) else str(part).lower() if isinstance(part, bool) else str(part)
