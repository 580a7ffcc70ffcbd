"""Asks the modules of the page, in Node, what packyard is asked: web/test/answers.ts says what can be asked."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import real

WEB = real.REPOSITORY / "web"

#: Asks many questions at once; an answer with ``error`` is a refusal.
Ask = Callable[[Sequence[Mapping[str, object]]], list[Any]]


def node() -> Path:
    """Return Node, where the libraries of the page are installed, too."""
    found = real.find_program("node", pinned=False)
    if not found or not (WEB / "node_modules/.installed").exists():
        if os.environ.get("PACKYARD_REQUIRE_WEB") == "1":
            pytest.fail("Node, or the libraries of the page, are absent: make test-web installs the libraries")
        real.lacking("Node with the libraries of the page", remedy="make test-web")
    return found


def built(folder: Path) -> Path:
    """Bundle the page's tests into a folder, and return it."""
    subprocess.run([node(), "build.mjs", "test", folder], cwd=WEB, check=True)
    return folder


@contextmanager
def asking(folder: Path) -> Iterator[Ask]:
    """Run the bundled modules, and give what asks them."""
    command = [node(), folder / "answers.mjs"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        written, told = process.stdin, process.stdout

        def write(questions: Sequence[Mapping[str, object]]) -> None:
            written.writelines(f"{json.dumps(question)}\n" for question in questions)
            written.flush()

        def ask(questions: Sequence[Mapping[str, object]]) -> list[Any]:
            writer = Thread(target=write, args=(questions,))
            writer.start()
            found = [json.loads(told.readline()) for _ in questions]
            writer.join()
            return found

        yield ask
        written.close()
