"""A rule that no values can satisfy is proved so; where there is no proof nothing is said."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny
from packyard.core.yaml.node import Source
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.rules.evaluation import evaluate
from packyard.using.setters.rules.feasible import can_hold
from packyard.using.setters.rules.rule import read

DEFINITIONS = tiny.text("rules/feasible.yaml")


def possible(text: str) -> bool:
    root = Krmfile(Source("Krmfile", f"rules:\n- message: m\n  rule: >-\n    {text}\n{DEFINITIONS}"))
    (rule,) = read(root.root)
    assert rule.misfit(root.definitions.setters) is None
    return can_hold(rule, root.definitions.setters)


@pytest.mark.parametrize(
    "text",
    [
        "WORKERS < 1",
        "WORKERS * SLOTS < 1",
        "WORKERS + SLOTS <= 1 || FLAG && !FLAG",
        "SLOTS > 8",
        "SLOTS % 2 == 1 && SLOTS % 2 == 0",
        "ODD % 2 == 0",
        "ODD * 2 == SLOTS * 2 + 1",
        "RATE > 1.0",
        "RATE - 2.0 >= 0.0",
        "-WORKERS > 0",
        "MODE == 'c'",
        "MODE == 'a' && MODE == 'b'",
        "SIZE == '9'",
        "FLAG && !FLAG",
        "size(NAME) > 8",
        "FLAG ? WORKERS < 1 : SLOTS > 8",
        "SLOTS / 0 == 1",
        "GPUS > 8",
        "has(GPUS) && GPUS > 8",
        "quantity('1Gi') < quantity('1G')",
    ],
)
def test_it_can_never_hold(text: str) -> None:
    text = text if any(name.isupper() for name in text.split("(")[0].split()) or "size" in text else f"{text} && FLAG"
    assert not possible(text)


@pytest.mark.parametrize(
    "text",
    [
        "WORKERS <= 1",
        "WORKERS * SLOTS == 100",
        "ODD == SLOTS",
        "RATE >= 1.0",
        "MODE in ['b', 'c']",
        "SIZE == 'l'",
        "size(NAME) == 8",
        "size(TEXT) > 1000",
        "!has(GPUS) || GPUS > 8",
        "TEXT.matches('^$a')",
        "WORKERS < WORKERS",
    ],
)
def test_it_may_hold_or_nobody_knows(text: str) -> None:
    assert possible(text)


_NUMBER = st.recursive(
    st.sampled_from(["SLOTS", "ODD", "1", "3", "7"]),
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=4,
)
_COMPARED = st.tuples(_NUMBER, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), _NUMBER).map(" ".join)
_CONDITION = st.recursive(
    _COMPARED | st.just("FLAG"),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda parts: f"({' '.join(parts)})")
        | inner.map(lambda part: f"!({part})")
    ),
    max_leaves=4,
)


@given(_CONDITION)
def test_few_values_are_all_tried(text: str) -> None:
    root = Krmfile(Source("Krmfile", f"rules:\n- message: m\n  rule: >-\n    {text} || FLAG && !FLAG\n{DEFINITIONS}"))
    (rule,) = read(root.root)
    everything = product(range(1, 9), (1, 3, 5), (True, False))
    some = any(evaluate(rule.expression, dict(zip(("SLOTS", "ODD", "FLAG"), each, strict=True))) for each in everything)
    assert can_hold(rule, root.definitions.setters) == some


@given(_CONDITION)
def test_intervals_never_refuse_what_a_value_satisfies(text: str) -> None:
    """The same with ranges too long to be tried: WORKERS stands for SLOTS, unbounded above."""
    text = text.replace("SLOTS", "WORKERS")
    root = Krmfile(Source("Krmfile", f"rules:\n- message: m\n  rule: >-\n    {text} || FLAG && !FLAG\n{DEFINITIONS}"))
    (rule,) = read(root.root)
    some_values = product(range(1, 30), (1, 3, 5), (True, False))
    names = ("WORKERS", "ODD", "FLAG")
    if any(evaluate(rule.expression, dict(zip(names, each, strict=True))) for each in some_values):
        assert can_hold(rule, root.definitions.setters)
