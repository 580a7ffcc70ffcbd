"""Every command that messages of runs suggest is one that packyard or kubectl understands."""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import packyard
from controlplane.api import Api
from packyard.running.runs.kubectl import Kubectl
from running import made, suggested
from tiny import inside

_CODE = Path(packyard.__file__).parent
_MODULES = sorted([*(_CODE / "running").rglob("*.py"), *(_CODE / "cli/running").rglob("*.py")])


def found(program: str) -> Iterator[tuple[str, list[str]]]:
    for file in _MODULES:
        for line, words in suggested.of_module(file):
            if words[0] == program:
                yield f"{file.relative_to(_CODE)}:{line}", words


def test_packyard_understands_each_command_of_packyard() -> None:
    typed = [*found("packyard")]
    assert len(typed) > 40  # they are found at all
    refused = [
        f"{place}: {' '.join(words)}: {why}" for place, words in typed if (why := suggested.check_packyard(words))
    ]
    assert not refused


@pytest.mark.nightly
def test_kubectl_understands_each_command_of_kubectl(client: Kubectl) -> None:
    refused = [
        f"{place}: {' '.join(words)}: {why}"
        for place, words in found("kubectl")
        if (why := suggested.check_kubectl(words, client))
    ]
    assert not refused


@pytest.mark.nightly
def test_each_suggestion_can_be_typed_and_leads_on(
    client: Kubectl, untarred: Callable[[str], Path], cluster: Api
) -> None:
    """Of a run that ends well and of one that does not, from the first look to the last, whatever is said next."""
    cluster.print(client.namespace, "epoch 1/4")
    directory = untarred("mnist-fp32-training-k8s") / "first-run/none"
    made.put(client, {"bad": [made.job("bad", "fail")]}, package="mnist-fp32-training-k8s")
    there = ("-n", client.namespace, client.flags[0])
    first = [f"doctor {directory}", "status", "status bad", "logs bad", "logs bad --events", "rollback bad --list"]
    waiting = deque([*shlex.split(words), *there] for words in first)
    typed: set[str] = set()
    while waiting:
        words = waiting.popleft()
        shape = " ".join(re.sub(r"^(RUN_NAME)=.*", r"\1=", word) for word in words)
        if shape in typed:
            continue
        typed.add(shape)
        done = inside(*words, *(["--yes"] if words[0] == "undeploy" else []))
        assert done.returncode in (0, 1), (words, done.stderr)
        for each in suggested.of_text(done.stderr):
            if each[0] == "packyard":
                waiting.append(suggested.understood(each)[1:])
            else:
                assert not suggested.check_kubectl(each, client)
    verbs = {each.split()[0] for each in typed}
    assert {"doctor", "deploy", "status", "logs", "rollback", "undeploy"} <= verbs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("packyard status 1 -n 1 shows it; then try again", ["packyard", "status", "1", "-n", "1", "shows", "it"]),
        ("x (kubectl get nodes) y", ["kubectl", "get", "nodes"]),
        ("packyard's own words, and packyard needs kubectl", None),
    ],
)
def test_commands_are_found_in_prose(text: str, words: list[str] | None) -> None:
    assert [*suggested.of_text(text)] == ([words] if words else [])


@pytest.mark.parametrize(
    "words", [["status", "1", "--nope"], ["redeploy", "1"], ["rollback", "--force"], ["undeploy", "--older-than"]]
)
def test_a_wrong_command_is_noticed(words: list[str]) -> None:
    assert suggested.check_packyard(["packyard", *words])
