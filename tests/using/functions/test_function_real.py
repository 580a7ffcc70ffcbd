"""`fn apply-setters` and `fn list-setters` beside the real functions, over our own cases.

Judged are the exit code, the results (message, field, file), and every scalar of every item with its type and its
comment. What differs on purpose `known` lets pass; `test_function` has a test of each.
create-setters cannot be had as a module: `test_corpus` judges it.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from casefiles import Case, cases
from packyard.using.functions import function
from using.functions.resourcelists import said

SHOWN = [case for case in cases("fn/*") if "input" in case.parts]

Fields = list[tuple[str, ...]]


@dataclass(frozen=True)
class Answer:
    """What a function answered; ``items`` is None where nobody can read its output."""

    code: int
    results: list[tuple[str, str, str]]
    items: Fields | None


def theirs(program: Path, data: bytes) -> Answer:
    done = subprocess.run([program], input=data, capture_output=True, check=False, timeout=300)
    return answer(done.returncode, done.stdout.decode())


def ours(name: str, data: bytes) -> Answer:
    outcome = function.run(name, data)
    return answer(int(outcome.failed), outcome.output.decode())


def answer(code: int, text: str) -> Answer:
    try:
        results = (yaml.load(text, yaml.CSafeLoader) or {}).get("results") or []
    except yaml.YAMLError:
        return Answer(code, [], None)
    return Answer(
        code, [shown(item) for item in (results["items"] if isinstance(results, dict) else results)], said(text)
    )


def shown(result: dict[str, Any]) -> tuple[str, str, str]:
    return result["message"], result.get("field", {}).get("path", ""), result.get("file", {}).get("path", "")


NO_MATCHES = ("no matches for input setter(s)", "", "")


def judge(program: Path, data: bytes) -> None:
    """Compare both functions on one list; values that the real one passes over are refused, and taken away first."""
    real_one, our_one = theirs(program, data), ours(program.name, data)
    unused = UNUSED.findall(" ".join(message for message, _, _ in our_one.results))
    if unused:
        assert our_one.code == 1
        our_one = ours(program.name, without(data, [name for name, _ in unused]))
    if our_one.results == [("failed to apply setters: there are no values to set", "", "")]:
        assert (our_one.code, our_one.items) == (1, said(data.decode()))
        assert real_one.code or real_one.results == [NO_MATCHES]
        return
    if real_one.results == [("failed to list setters: no setters found", "", "")]:  # an error before v0.1.1
        assert (our_one.code, our_one.results[0][0]) == (0, "no setters found")
        return
    assert real_one.code == our_one.code, (real_one.results, our_one.results)
    if real_one.items is None:  # its writer breaks where an item of the list `[]` is written as a block
        assert b'"[]"' in data
        assert our_one.items is not None
        return
    assert real_one.results == our_one.results
    if real_one.code == 0:
        assert our_one.items is not None
        assert len(real_one.items) == len(our_one.items)
        lists = {field[3] for field in our_one.items if field[2] == "list"}
        for one, other in zip(real_one.items, our_one.items, strict=True):
            assert one == other or known(one, other, lists), (one, other)


#: How a value is refused that no comment names; what it says behind the name is a hint.
UNUSED = re.compile(r'failed to apply setters: setter "(.*?)" is not found( \()')


def without(data: bytes, names: list[str]) -> bytes:
    """Return a list whose configuration has no values of these names."""
    head, mark, config = data.decode().rpartition("\nfunctionConfig:")
    loaded = yaml.load(f"functionConfig:{config}", yaml.CSafeLoader)["functionConfig"]
    loaded["data"] = {name: value for name, value in loaded["data"].items() if name not in names}
    return f"{head}{mark} {json.dumps(loaded)}\n".encode()


def known(one: tuple[str, ...], other: tuple[str, ...], lists: set[str]) -> bool:
    """Say whether two fields differ on purpose, ``lists`` being the comments of all lists."""
    if one[:3] == other[:3]:
        leaked = other[3] == "" and one[3] in lists  # of a list in brackets that it wrote as a block
        return leaked or (one[3] == "# one" and other[3] == "")  # a comment inside a list setter's value
    folded = (one[1].replace("\n\n", "\n"), *one[2:]) == (other[1], *other[2:])  # its writer adds a line to folded text
    return one[0] == other[0] and folded


@pytest.mark.parametrize("case", SHOWN, ids=lambda case: case.file.stem)
def test_the_cases_are_answered_as_by_the_real_functions(apply_setters: Path, list_setters: Path, case: Case) -> None:
    judge(list_setters, case.parts["input"].encode())
    judge(apply_setters, case.parts["input"].encode())
