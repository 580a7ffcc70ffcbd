"""What lint says an API server refuses is refused by a real one, and what is right is admitted by both."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from controlplane.api import Api
from packyard.core.kubernetes import schemas
from writing.checks.linting import lint, package

_RULES = ("server-refuses", "wrong-value", "no-quantity", "request-above-limit")
_RULES += ("missing-field", "unknown-field", "wrong-type", "incomplete-claim")
OBJECTS = yaml.load(Path(__file__).with_name("server_rules.yaml").read_text(), yaml.CSafeLoader)
BEGINNINGS: dict[str, str] = OBJECTS["beginnings"]
CASES = [(name, *pair) for name, pairs in OBJECTS["ends"].items() for pair in pairs]


def judged(text: str) -> list[str]:
    """Return what lint says of the server, or of a value that it refuses."""
    named = text.replace("spec:\n", "metadata: {name: a}\nspec:\n", 1)
    found = lint(package({"a.yaml": named}), judges=[schemas.kubernetes("1.34")])
    return [each.message for each in found if each.rule in _RULES]


def described(text: str) -> dict[str, Any]:
    item: dict[str, Any] = yaml.safe_load(text)
    return {**item, "metadata": {"name": "a"}}


@pytest.mark.parametrize(("name", "wrong", "right"), CASES)
def test_a_real_server_refuses_what_lint_says_it_does(name: str, wrong: str, right: str, api_server: Api) -> None:
    begin, namespace = BEGINNINGS[name], "" if name in ("volume", "role", "binding") else "default"
    assert judged(begin + right) == []
    assert api_server.create(described(begin + right), namespace, dry_run=True).status == 201
    assert len(judged(begin + wrong)) == 1
    assert api_server.create(described(begin + wrong), namespace, dry_run=True).status in (400, 422)


def test_values_that_are_filled_in_later_are_not_judged() -> None:
    assert judged(BEGINNINGS["service"] + "  ports: [{port: 80, protocol: '{{a}}'}]\n") == []
    assert judged(BEGINNINGS["volume"] + "  nfs: {server: a, path: ''}\n") == []


def test_a_priority_is_not_called_like_those_of_the_cluster() -> None:
    priority = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: NAME}\nvalue: 5\n"
    assert len(judged(priority.replace("NAME", "system-training"))) == 1
    assert (
        judged(priority.replace("NAME", "training")) == judged(priority.replace("NAME", "system-node-critical")) == []
    )


def test_what_somebody_fills_in_need_not_be_in_base64() -> None:
    assert judged(BEGINNINGS["secret"] + "data: {a: '${TOKEN}', b: '<TOKEN>', c: ''}\n") == []
