"""Upstream's own cases of apply-setters, create-setters and list-setters, by kind: whole runs, and single helpers."""

import json
import re

import pytest

import real
from packyard.using.functions import function
from packyard.using.setters.kpt import tags
from using.functions.resourcelists import resource_list, said

CASES = {file.stem: json.loads(file.read_bytes()) for file in real.corpus_files("kpt")}
RUNS = [name for name, case in CASES.items() if case["kind"] != "unit"]
UNITS = [name for name, case in CASES.items() if case["kind"] == "unit"]

#: What the real function leaves to the program around it, which makes an error of it.
NO_MATCHES = "no matches for the input list of setters"
#: What is an error of ours, where the real function says nothing, or that it has no matches.
NOTHING = re.compile(r'failed to apply setters: (there are no values to set|setter ".*" is not found)')


@pytest.mark.parametrize("name", real.of_corpus(UNITS))
def test_upstreams_helpers_answer_alike(name: str) -> None:
    case = CASES[name]
    arguments = case["unit"]["args"]
    if case["unit"]["call"] == "currentSetterValues":
        assert tags.Pattern(arguments["pattern"]).derive(arguments["value"]) == case["expected_results"]
    else:
        setters = {setter["name"]: setter["value"] for setter in arguments["setters"]}
        assert tags.Cover(setters).pattern(arguments["value"]) == case["expected_results"]


@pytest.mark.parametrize("name", real.of_corpus(RUNS))
def test_upstreams_runs_give_the_same(name: str) -> None:
    case = CASES[name]
    outcome = function.run(case["function"], resource_list(case["files"], case["config"]))
    messages = [result.message for result in outcome.results]
    nothing = bool(messages) and all(map(NOTHING.match, messages))
    if case["expected_error"]:
        assert outcome.failed
        assert any(case["expected_error"] in message for message in messages), messages
    elif messages != [f"failed to create setters: {NO_MATCHES}"]:
        assert outcome.failed == nothing, messages
    expected = resource_list(case["expected_files"] or case["files"], case["config"])
    assert said(outcome.output.decode()) == said(expected.decode())
    if case["function"] == "list-setters" and case["kind"] == "filter":
        listed = [f"Name: {row['name']}, Value: {row['value']}, Type: {row['type']}, Count: {row['count']}"
                  for row in sorted(case["expected_results"], key=lambda row: row["name"])]  # fmt: skip
        assert messages == listed  # the warnings stay inside the real function, which shows none of them
    elif case["expected_results"] and not nothing:
        found = [result.document() for result in outcome.results]
        assert len(found) == len(case["expected_results"])
        for ours, theirs in zip(found, case["expected_results"], strict=True):
            assert ours | theirs == ours
