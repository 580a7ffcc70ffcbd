"""Expressions in CEL, evaluated by a process of their own that `cel_process` bounds: strangers wrote them."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock

from packyard.core.kubernetes.pods import Path

#: How many processes a run may lose before it evaluates nothing more.
_MOST_LOST = 3
#: The path of a part of an object, and those of the pod and of the item around it, if there are any.
Place = tuple[Path, Path | None, Path | None]
_RAN_OUT = "its evaluation takes too much time or memory"


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why an expression has no value."""

    reason: str


class Evaluator:
    """Evaluates expressions; what ends the process has no value, and is not asked again."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._fatal = set[str]()
        self._lock = Lock()

    def ask(self, root: object, places: Sequence[Place], asked: Sequence[tuple[int, str]]) -> list[object]:
        """Return the value of each expression at its place of an object, or `NoAnswer`."""
        values: dict[int, object] = {}
        with self._lock:
            while remaining := [at for at, (_, text) in enumerate(asked) if at not in values and self._may_ask(text)]:
                answers = self._answers(root, places, [asked[at] for at in remaining])
                values.update(zip(remaining, answers, strict=False))
                if len(answers) < len(remaining):
                    self._fatal.add(asked[remaining[len(answers)]][1])
        return [values.get(at, NoAnswer(_RAN_OUT)) for at in range(len(asked))]

    def _may_ask(self, expression: str) -> bool:
        return expression not in self._fatal and len(self._fatal) < _MOST_LOST

    def _answers(self, root: object, places: Sequence[Place], asked: Sequence[tuple[int, str]]) -> list[object]:
        """Return the values up to the first expression that the process does not survive."""
        answers = list[object]()
        process = self._process = self._process or self._start()
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(json.dumps([root, places, asked]) + "\n")
            process.stdin.flush()
            for _ in asked:
                answer = json.loads(process.stdout.readline())
                answers.append(answer["value"] if "value" in answer else NoAnswer(answer["error"]))
        except (BrokenPipeError, json.JSONDecodeError):
            self.close()
        return answers

    def _start(self) -> subprocess.Popen[str]:
        atexit.register(self.close)
        # -P: no module comes from the working directory, which may be a stranger's.
        command = (sys.executable, "-P", "-m", "packyard.writing.checks.cel_process")
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, encoding="utf-8")

    def close(self) -> None:
        """End the process."""
        if process := self._process:
            process.kill()
            with process:  # closes its pipes
                self._process = None


def evaluator() -> Evaluator:
    """Return the evaluator of this process."""
    return _of_process(os.getpid())


@cache
def _of_process(_: int) -> Evaluator:
    return Evaluator()
