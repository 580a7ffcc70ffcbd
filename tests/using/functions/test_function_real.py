"""`fn apply-setters` and `fn list-setters` beside the real functions, over upstream's cases and our own.

Judged are the exit code, the results (message, field, file), and every scalar of every item with its type and its
comment. What differs on purpose is in the README's section on kpt; `known` lets it pass, and below it has a test each.
create-setters cannot be had as a module: `test_corpus` judges it.
"""

from __future__ import annotations

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
from using.functions.resourcelists import resource_list, said

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


FIELD = "apiVersion: v1\nkind: Thing\nmetadata:\n  name: x\n"


def config(**values: str) -> str:
    return "data:\n" + "".join(f"  {name}: {value}\n" for name, value in values.items())


@pytest.mark.parametrize(
    ("field", "given", "theirs_says", "ours_says"),
    [
        ("l: [a] # kpt-set: ${l}", {"l": "'[b]'"}, "l: # kpt-set: ${l}\n", "l: [b] # kpt-set: ${l}\n"),
        ("l: # kpt-set: ${l}\n- a", {"l": '"- b # note"'}, "- b # note\n", "- b\n"),
        ("l: # kpt-set: ${l}\n- a", {"l": "[b, c]"}, "l: [] # kpt-set", "- b\n  - c\n"),
        ("a: !!str b # kpt-set: ${a}", {"a": '"5"'}, "a: 5 # kpt-set", "a: !!str 5 # kpt-set"),
        ("a: b # kpt-set: ${a}\nz: d # kpt-set: ${b}", {"a": "${b}", "b": "c"}, "a: ", "a: ${b} #"),
    ],
    ids=["a list keeps its form", "no comment of a value", "a native list", "an explicit tag stays", "a value is text"],
)
def test_what_differs_on_purpose(
    apply_setters: Path, field: str, given: dict[str, str], theirs_says: str, ours_says: str
) -> None:
    data = resource_list({"f.yaml": f"{FIELD}{field}\n"}, config(**given))
    done = subprocess.run([apply_setters], input=data, capture_output=True, check=False)
    assert theirs_says in done.stdout.decode()
    assert ours_says in function.run("apply-setters", data).output.decode()


@pytest.mark.parametrize("field", ["a: # kpt-set: ${a}", "a: # kpt-set: ${a}-${b}"])
def test_what_has_no_value_is_passed_over_by_both_functions(apply_setters: Path, field: str) -> None:
    """Where `packyard set` gives it one: cases `kpt-a-key-without-value-gets-one` and the like."""
    data = resource_list({"f.yaml": f"{FIELD}{field}\n"}, config(a="b"))
    assert theirs(apply_setters, data).results == [NO_MATCHES]
    judge(apply_setters, data)


def test_a_field_that_kubernetes_types_as_text_is_quoted(apply_setters: Path) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: b # kpt-set: ${a}\n"
    data = resource_list({"f.yaml": text}, config(a='"5"'))
    done = subprocess.run([apply_setters], input=data, capture_output=True, check=True)
    assert b"a: 5 # kpt-set" in done.stdout
    assert b"a: '5' # kpt-set" in function.run("apply-setters", data).output


def test_what_fails_gives_the_items_as_they_came(apply_setters: Path) -> None:
    data = resource_list({"f.yaml": FIELD + "a: b # kpt-set: ${a}\nc: d # kpt-set: ${a}-${e}\n"}, config(a="x"))
    done = subprocess.run([apply_setters], input=data, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"a: x #" in done.stdout
    outcome = function.run("apply-setters", data)
    assert outcome.failed
    assert outcome.output.startswith(data)


@pytest.mark.parametrize(
    "fields",
    [
        "status: {conditions: []}\n",
        "info: {readinessGates: []}\n",
        "pipeline:\n  mutators:\n  - exec: packyard fn apply-setters\n    configMap: {b: c}\n",
        "pipeline:\n  mutators:\n  - {image: apply-setters, name: x, selectors: [], exclude: [], configMap: {b: c}}\n",
        "pipeline:\n  validators:\n  - {image: kubeval, tag: v1}\n",
    ],
)
def test_list_setters_reads_what_the_newest_kpt_writes_into_a_kptfile(list_setters: Path, fields: str) -> None:
    package = {
        "Kptfile": "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n" + fields,
        "f.yaml": FIELD + "a: b # kpt-set: ${a}\n",
    }
    data = resource_list(package)
    assert "not found in type v1." in str(theirs(list_setters, data).results)
    assert ours("list-setters", data).results[0] == ("Name: a, Value: b, Type: str, Count: 1", "", "")
