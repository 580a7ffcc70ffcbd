"""What a cluster says may be anything: the doctor and `status` judge it all the same, or refuse it in our words."""

import copy
import random
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packyard.core.errors import PackyardError
from packyard.running.runs import status
from running import recordings
from sample import tries

_ODD = (None, True, 1, -1, "", "x", "True", "Failed", "run", [], [""], [None], {}, {"name": 5}, {"a": {"b": []}})


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for step, member in members for place in places(member, (*path, step)))]


@pytest.mark.nightly
@settings(max_examples=tries(300))
@given(st.integers(0, 2**32))
def test_anything_in_any_field_of_objects_and_answers_is_judged(seed: int) -> None:
    def spoiled(objects: Any) -> Any:
        """Return objects with something else in a field of one."""
        chance, changed = random.Random(seed), copy.deepcopy(objects)
        if inside := [place for place in places(objects) if len(place) > 2]:
            *way, last = chance.choice(inside)
            holder = changed
            for step in way:
                holder = holder[step]
            holder[last] = chance.choice(_ODD)
        return changed

    moment, fault = recordings.ASKED[seed % len(recordings.ASKED)]
    if seed // len(recordings.ASKED) % 2:
        fault = replace(fault, run=lambda namespace, run=fault.run: spoiled(run(namespace)))
    with suppress(PackyardError, recordings.UnrecordedError):  # of what is asked then nobody knows the answer
        told = recordings.told(moment, fault, spoiled)
        assert moment == "before" or told.partition(": ")[0] in status.STATES
        assert moment == "before" or len(told) < 320
