"""Upstream's own cases of apply-setters, create-setters and list-setters, by kind: whole runs, and single helpers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import real
from packyard.setters.kpt import function, pattern
from packyard.text.scalar import implicit_type

CASES = {file.stem: json.loads(file.read_bytes()) for file in sorted((real.CORPUS / "kpt").glob("*.json"))}
RUNS = [name for name, case in CASES.items() if case["kind"] != "unit"]
UNITS = [name for name, case in CASES.items() if case["kind"] == "unit"]

#: What the real function leaves to the program around it, which makes an error of it.
NO_MATCHES = "no matches for the input list of setters"


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("name", UNITS)
def test_upstreams_helpers_answer_alike(name: str) -> None:
    case = CASES[name]
    arguments = case["unit"]["args"]
    if case["unit"]["call"] == "currentSetterValues":
        assert pattern.Pattern(arguments["pattern"]).derive(arguments["value"]) == case["expected_results"]
    else:
        setters = {setter["name"]: setter["value"] for setter in arguments["setters"]}
        assert pattern.cover(arguments["value"], setters) == case["expected_results"]


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("name", RUNS)
def test_upstreams_runs_give_the_same(name: str) -> None:
    case = CASES[name]
    outcome = function.run(case["function"], resource_list(case["files"], case["config"]))
    messages = [result.message for result in outcome.results]
    if case["expected_error"]:
        assert outcome.failed
        assert any(case["expected_error"] in message for message in messages), messages
    elif messages != [f"failed to create setters: {NO_MATCHES}"]:
        assert not outcome.failed, messages
    assert split(outcome.output) == {
        path: list(said(text)) for path, text in (case["expected_files"] or case["files"]).items() if is_yaml(path)
    }
    if case["function"] == "list-setters" and case["kind"] == "filter":
        listed = [f"Name: {row['name']}, Value: {row['value']}, Type: {row['type']}, Count: {row['count']}"
                  for row in sorted(case["expected_results"], key=lambda row: row["name"])]  # fmt: skip
        assert messages == listed + case["expected_warnings"]
    elif case["expected_results"]:
        found = [result.document() for result in outcome.results]
        assert len(found) == len(case["expected_results"])
        for ours, theirs in zip(found, case["expected_results"], strict=True):
            assert ours | theirs == ours


def is_yaml(path: str) -> bool:
    return path.endswith((".yaml", ".yml", "Kptfile"))


def resource_list(files: dict[str, str], config: str | None) -> bytes:
    """Write what an orchestrator sends: each document an item, with the file that it is from."""
    lines = ["apiVersion: config.kubernetes.io/v1", "kind: ResourceList", "items:"]
    for path, text in files.items():
        for index, document in enumerate(text.split("\n---\n") if is_yaml(path) else []):
            body = document.rstrip().splitlines()
            at = next(number for number, line in enumerate(body) if line.startswith("metadata:")) + 1
            wire = "internal.config.kubernetes.io"
            body[at:at] = ["  annotations:", f"    {wire}/path: '{path}'", f"    {wire}/index: '{index}'"]
            lines += ["- " + body[0], *("  " + line for line in body[1:])]
    if config:
        lines += ["functionConfig:", *("  " + line for line in config.splitlines())]
    return ("\n".join(lines) + "\n").encode()


def split(output: bytes) -> dict[str, list[tuple[str, ...]]]:
    """Return what each file says after a run, the annotations on the wire left out."""
    text = output.decode()
    items = text[
        text.index("\nitems:\n") + 8 : text.index("\nfunctionConfig:" if "\nfunctionConfig:" in text else "\nresults:")
    ]
    files: dict[str, list[str]] = {}
    for item in ("\n" + items).split("\n- ")[1:]:
        lines = [item.splitlines()[0], *(line[2:] for line in item.splitlines()[1:])]
        at = lines.index("  annotations:")
        path = lines[at + 1].split("'")[1]
        files.setdefault(path, []).append("\n".join(lines[:at] + lines[at + 3 :]))
    return {path: list(said("\n---\n".join(documents) + "\n")) for path, documents in files.items()}


def said(text: str) -> Iterator[tuple[str, ...]]:
    """Yield every scalar of every document with its path, its type, and the comment on its line or on its key's."""
    lines = text.splitlines()
    for number, document in enumerate(yaml.compose_all(text, Loader=yaml.SafeLoader)):
        yield from below(document, str(number), lines)


def below(node: Any, path: str, lines: list[str]) -> Iterator[tuple[str, ...]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(value, yaml.SequenceNode):
                yield (
                    f"{path}.{key.value}",
                    comment(lines, value.end_mark.line if value.flow_style else key.end_mark.line),
                )
            yield from below(value, f"{path}.{key.value}", lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from below(item, f"{path}[{index}]", lines if not node.flow_style else [""] * len(lines))
    else:
        kind = "string" if node.style in ("'", '"', "|", ">") else implicit_type(node.value)
        yield path, node.value, kind, comment(lines, node.end_mark.line)


def comment(lines: list[str], line: int) -> str:
    return (lines[line] if line < len(lines) else "").partition(" # ")[2].strip()


def test_all_shown_cases_are_judged(corpus: Path) -> None:
    assert len(CASES) == len(list((corpus / "kpt").glob("*.json"))) >= 43
