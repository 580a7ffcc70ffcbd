"""Whatever stands in two packages, they are compared, and what differs can be told."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from packyard.using.upgrade import report
from packyard.using.upgrade.difference import compare
from sample import tries
from using.upgrade.test_difference import LIBRARY, PACKAGE

_PIECES = (
    *("- ", "{", "}", "[", "]", ": ", "&a ", "*a", "<<: *a", "\n", "\t", "#", '"', "'", "!!str ", ".nan", "~", "|\n"),
    *("---\n", "0x1F", "2020-01-01", "name: ", "  ", "\0", "\u202e", '# {"$openapi":"TAG"}\n', "kind: List\n"),
)


@st.composite
def packages(draw: st.DrawFn) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Return a package or a library, and the same with texts put in, taken out or repeated."""
    before = draw(st.sampled_from((PACKAGE, LIBRARY)))
    after = dict(before)
    for path in draw(st.lists(st.sampled_from(sorted(before)), min_size=1, max_size=3)):
        text = after[path].decode("utf-8", "surrogateescape")
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        new = draw(st.sampled_from(("", text[start:end] * 2, *_PIECES)))
        end = draw(st.sampled_from((start, end)))
        after[path] = (text[:start] + new + text[end:]).encode("utf-8", "surrogateescape")
    return before, after


@settings(max_examples=tries(150))
@given(packages())
def test_compares_whatever_there_is(pair: tuple[dict[str, bytes], dict[str, bytes]]) -> None:
    before, after = pair
    for one, other in ((before, after), (after, before)):
        found = compare(one, other)
        assert not found or one != other
        assert all(line for line in report.text({"p": found}))
        assert "\n\n" not in report.markdown({"p": found})
        json.dumps([report.document("p", change) for change in found], allow_nan=False)
