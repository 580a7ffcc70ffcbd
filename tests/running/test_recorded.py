"""What is said of clusters with a fault, judged without one: kubectl answers what was recorded."""

from __future__ import annotations

import re

import pytest

from running import recordings
from running.fault_set import FAULTS, Fault


def named(fault: Fault) -> str:
    return fault.name


@pytest.mark.parametrize("fault", [each for each in FAULTS if each.before], ids=named)
def test_a_fault_is_told_before_anything_is_applied(fault: Fault) -> None:
    told = recordings.told("before", fault)
    assert re.search(fault.before, told, re.DOTALL), told


@pytest.mark.parametrize("fault", [each for each in FAULTS if each.after], ids=named)
def test_a_fault_is_explained_of_a_run_that_has_it(fault: Fault) -> None:
    told = recordings.told("after", fault)
    assert re.search(fault.after, told, re.DOTALL), told


def test_every_recording_is_of_a_fault() -> None:
    wanted = {
        recordings.file(moment, fault) for moment in ("before", "after") for fault in FAULTS if getattr(fault, moment)
    }
    assert {*recordings.FOLDER.glob("*/*.jsonl")} <= wanted
