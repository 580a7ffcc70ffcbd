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

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import Kind, kind_of
from packyard.core.kubernetes.pods import Path
from packyard.core.yaml.node import Entry, Node, Scalar
from packyard.core.yaml.values import nearest
from packyard.writing.checks.applied_objects import Applied, AppliedObject
from packyard.writing.checks.cel import NoAnswer, evaluator, names
from packyard.writing.checks.explanation import Row, Rule, Severity, table
from packyard.writing.checks.finding import Finding, breach

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
#: The rows by the kind, or ``pod``, ``container`` and ``volume``, each with its rule and the steps of its path.
_Index = Mapping[Kind | str, Sequence[tuple[tuple[str, ...], Rule, Row]]]


@dataclass(frozen=True, slots=True)
class _Case:
    """A row at a place of an object; ``item`` and ``pod`` are the paths of what is around it."""

    rule: Rule
    row: Row
    judged: AppliedObject
    path: Path
    item: Path
    pod: Path | None

    def question(self, expression: str) -> tuple[str, dict[str, object]]:
        """Return what is asked of the evaluator: an expression, and the values of the variables that it has."""
        return expression, {name: self._value(name) for name in sorted(names(expression))}

    def _value(self, name: str) -> Any:
        whole, key = self.judged.plain, self.path[-1] if self.path else 0
        match name:
            case "key":
                return key
            case "earlier":
                return _at(whole, self.path[:-1])[:key] if self.path and isinstance(key, int) else None
            case "kind":
                return whole.get("kind")
            case "object":
                return whole
            case "pod":
                return None if self.pod is None else _at(whole, self.pod)
        return _at(whole, self.path if name == "self" else self.item)


def check(applied: Applied, rules: Sequence[Rule] = ()) -> Iterator[Finding]:
    """Find the places where a row does not hold, by the rules of packyard and others."""
    indexes = [_built_in(), *([_index(rules)] if rules else [])]
    cases = [case for item in applied.objects for index in indexes for case in _cases(item, index)]
    answers = evaluator().ask([case.question(case.row.rule) for case in cases]) if cases else []
    for case, answer in zip(cases, answers, strict=True):
        if answer is not True:
            yield _finding(case, answer)


@cache
def _built_in() -> _Index:
    return _index(table().values())


def _index(rules: Iterable[Rule]) -> _Index:
    index: dict[Kind | str, list[tuple[tuple[str, ...], Rule, Row]]] = {}
    for rule in rules:
        for row in rule.rows:
            for what, _, path in (on.partition(" ") for on in row.on):
                kind, _, group = what.partition(".")
                key = what if what in ("object", "pod", "container", "volume") else (group, kind)
                index.setdefault(key, []).append((tuple(path.split("/")) if path else (), rule, row))
    return index


def _cases(item: AppliedObject, index: _Index) -> Iterator[_Case]:
    """Yield each row with the places of an object that it judges, but for values that are not there yet."""
    starts: list[tuple[Kind | str, Path, Path | None]]
    starts = [(kind_of(item.value), (), None), ("object", (), None)]
    for item_pod in item.pods:
        starts += [("pod", item_pod.path, item_pod.path)]
        starts += [("container", path, item_pod.path) for path, _ in item_pod.container_places]
        starts += [("volume", path, item_pod.path) for path, _ in item_pod.volume_places]
    for key, start, pod in starts:
        for steps, rule, row in index.get(key, ()):
            for path, place in _down(_at(item.value, start), start, steps):
                fields = place if isinstance(place, dict) else {}
                needed = (field for field in row.needs if not field.endswith("?"))
                if all(fields.get(field) not in (None, "", []) for field in needed) and not any(
                    later[: len(above)] == above
                    for above in ([(*path, field.rstrip("?")) for field in row.needs] or [path])
                    for later in item.later
                ):
                    yield _Case(rule, row, item, path, start, pod)


def _at(value: Any, path: Path) -> Any:
    return reduce(lambda inner, step: inner[step], path, value)


def _down(value: object, path: Path, steps: Sequence[str]) -> Iterator[tuple[Path, object]]:
    """Yield what steps lead to; ``*`` stands for each field or item."""
    if not steps:
        yield path, value
        return
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        if steps[0] in ("*", step) and member is not None:
            yield from _down(member, (*path, step), steps[1:])


def _finding(case: _Case, answer: object) -> Finding:
    row, root = case.row, case.judged.root
    texts = (row.field, row.message, row.hint)
    questions = [case.question(match) for text in texts for match in _PLACEHOLDER.findall(text)]
    parts = iter(evaluator().ask(questions) if questions else ())
    field, message, hint = (_PLACEHOLDER.sub(lambda _: _shown(next(parts)), text) for text in texts)
    _, holder = nearest(root, case.path)
    entry, node = nearest(root, (*case.path, *(field.split("/") if field else ())))
    place: Entry | Node = entry if entry and node is not holder and not isinstance(node, Scalar) else node
    if isinstance(answer, NoAnswer):
        reason = f"the rule {case.rule.name} has no answer here: {answer.reason}"
        return breach("rule-without-answer", place, reason, f"it is {row.rule!r}")
    is_guess = case.pod is not None and not pods.are_known(case.judged.value)
    severity: Severity = "warning" if is_guess else row.severity or case.rule.severity
    return breach(case.rule.name, place, message, hint, severity=severity)


def _shown(part: object) -> str:
    """Return a part of a message; what has no answer is left open."""
    return "…" if isinstance(part, NoAnswer) else str(part).lower() if isinstance(part, bool) else str(part)
