"""Expressions in CEL, evaluated by a process of their own that `cel_process` bounds: strangers wrote them."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock

from packyard.core.work.answerer import Answerer

#: How many processes a run may lose before it evaluates nothing more.
_MOST_LOST = 3
_RAN_OUT = "its evaluation takes too much time or memory"
#: What a rule says of a part: itself, its key or index, what stands before it in its list, the item and the pod around
#: it, the whole object, and its kind.
VARIABLES = ("self", "key", "earlier", "item", "pod", "object", "kind")
_NAMES = re.compile(rf"\b(?:{'|'.join(VARIABLES)})\b")


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why an expression has no value."""

    reason: str


@cache
def names(expression: str) -> frozenset[str]:
    """Return the variables that an expression has."""
    return frozenset(_NAMES.findall(expression))


class Evaluator:
    """Evaluates expressions; what ends the process has no value, and is not asked again."""

    def __init__(self) -> None:
        self._answerer = Answerer("packyard.writing.checks.cel_process")
        self._known: dict[str, object] = {}
        self._fatal = set[str]()
        self._lock = Lock()

    def ask(self, questions: Sequence[tuple[str, Mapping[str, object]]]) -> list[object]:
        """Return the value of each expression with the values of its variables, or `NoAnswer`."""
        requests = [json.dumps([expression, values]) for expression, values in questions]
        expressions = dict(zip(requests, (expression for expression, _ in questions), strict=True))
        with self._lock:
            while remaining := [name for name in expressions if self._may_ask(name, expressions[name])]:
                answers = self._answers(remaining)
                self._known.update(zip(remaining, answers, strict=False))
                if len(answers) < len(remaining):
                    self._fatal.add(expressions[remaining[len(answers)]])
        return [self._known.get(request, NoAnswer(_RAN_OUT)) for request in requests]

    def _may_ask(self, request: str, expression: str) -> bool:
        return request not in self._known and expression not in self._fatal and len(self._fatal) < _MOST_LOST

    def _answers(self, requests: Sequence[str]) -> list[object]:
        """Return the values up to the first expression that the process does not survive."""
        answers = self._answerer.ask(f"[{','.join(requests)}]\n".encode(), len(requests))
        return [answer["value"] if "value" in answer else NoAnswer(answer["error"]) for answer in answers]


def evaluator() -> Evaluator:
    """Return the evaluator of this process."""
    return _of_process(os.getpid())


@cache
def _of_process(_: int) -> Evaluator:
    return Evaluator()
