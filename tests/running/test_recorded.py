"""What is said of clusters with a fault, judged without one: kubectl answers what was recorded."""

import re

import pytest

from running import recordings
from running.fault_set import Fault


@pytest.mark.parametrize(("moment", "fault"), recordings.ASKED, ids=lambda each: getattr(each, "name", each))
def test_a_fault_is_told_before_anything_is_applied_and_explained_of_a_run_that_has_it(
    moment: str, fault: Fault
) -> None:
    told = recordings.told(moment, fault)
    assert re.search(getattr(fault, moment), told, re.DOTALL), told


def test_every_recording_is_of_a_fault() -> None:
    assert {*recordings.FOLDER.glob("*/*.jsonl")} <= {recordings.file(*asked) for asked in recordings.ASKED}
