"""Whatever envelopes, statements, keys and configurations hold: it is read or refused, and never believed by mistake.

`make fuzz` runs these with many more examples (PACKYARD_FUZZ=N).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from packyard.core.errors import IntegrityError
from packyard.sharing.fetching.verify import verify_bundle
from packyard.sharing.trust import envelope
from sample import tries
from sharing.test_provenance import BERT, KEY, MADE, READ, SIGNED, TRUST

EXAMPLES = tries(100)
fuzzed = settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
STATEMENT = json.loads(MADE.payload())
BUNDLE = json.loads(SIGNED)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*place, key))


def _put(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    changed = copy.deepcopy(document)
    at = changed
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return changed


def _json(document: Any) -> bytes:
    return (json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


@fuzzed
@given(st.sampled_from(list(_places(BUNDLE))), VALUES)
def test_a_bundle_with_any_other_value_is_refused_or_has_the_same_statement(place: tuple[Any, ...], value: Any) -> None:
    with suppress(IntegrityError):
        assert envelope.open(_json(_put(BUNDLE, place, value)), TRUST, file="x").payload == MADE.payload()


@fuzzed
@given(st.sampled_from(list(_places(STATEMENT))), VALUES)
def test_a_signed_statement_with_any_value_is_refused_or_about_the_same_bundle(
    place: tuple[Any, ...], value: Any
) -> None:
    """A trusted signature makes no statement valid for a bundle that it does not name."""
    try:
        statement = _json(_put(STATEMENT, place, value))
        found = verify_bundle(BERT, envelope.sign(statement, KEY), TRUST, what="x").provenance
    except IntegrityError:
        return
    assert found
    assert (found.name, found.version, found.file, found.tar) == (READ.name, READ.version, READ.file, READ.tar)
