"""An index of many names: a name is resolved by three small requests, and the index is made in memory that stays flat.

The nightly makes one of a million names.
"""

from __future__ import annotations

import pytest

import sample
from sharing import many_names

NAMES = 1_000_000 if sample.WHOLE else 20_000


@pytest.mark.nightly
def test_resolving_a_name_takes_three_requests_and_64_kib_and_making_the_index_little_memory() -> None:
    found = many_names.measure(NAMES)
    made, used = found["make"], found["use"]
    print(found)
    assert used["resolve requests"] <= 3
    assert used["resolve bytes"] <= 64 * 1024
    assert used["resolve megabytes"] < 50
    assert used["publish seconds"] < 30
    assert made["megabytes"] < 200
