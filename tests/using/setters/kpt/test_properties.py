"""Any text in a tagged field of any style: it is read back as that text, and no byte beside the field changes."""

import string

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from packyard.core.yaml.document import parse_text
from packyard.core.yaml.node import Source
from packyard.core.yaml.proof import apply_to_text
from packyard.using.setters.kpt.apply import apply
from packyard.using.setters.kpt.tags import Pattern

#: A field in each style; what stands for OLD in it is the whole of the field.
FIELDS = {
    "plain": "old # kpt-set: ${v}",
    "double": '"old" # kpt-set: ${v}',
    "single": "'old'   # kpt-set: ${v}",
    "literal": "| # kpt-set: ${v}\n      old\n      older\n",
    "stripped": "|- # kpt-set: ${v}\n      old\n\n",
    "kept": "|+ # kpt-set: ${v}\n      old\n\n",
    "indented": "|2 # kpt-set: ${v}\n      old\n",
    "folded": ">- # kpt-set: ${v}\n      old\n      older\n",
    "two lines": '"old\n      older" # kpt-set: ${v}',
    "below its key": "\n      old # kpt-set: ${v}",
    "anchored": "&a old # kpt-set: ${v}",
    "tagged": "!!str 'old' # kpt-set: ${v}",
}
TEXTS = st.text(st.sampled_from(string.printable + "äé日\u2028\x85\ufeff😀"), max_size=12) | st.sampled_from(
    [
        "yes",
        "1.10",
        "0x1F",
        "null",
        "~",
        "- a",
        "a: b",
        "a # b",
        "*x",
        "[a",
        "a\nb\n",
        "a\n",
        "\n",
        " a",
        "a\n\n",
        "a\n b",
    ]
)


def applied(text: str, **values: str) -> str:
    source = Source("r.yaml", text)
    (document,) = parse_text(source)
    settings = apply(document.root, values, keep_types=True)
    edits, planned = [edit for each in settings for edit in each.edits], [(each.node, each.shows) for each in settings]
    return apply_to_text(source, edits, planned=planned)


@pytest.mark.parametrize("style", FIELDS)
@given(value=TEXTS, crlf=st.booleans())
def test_a_value_is_read_back_and_nothing_beside_it_changes(style: str, value: str, crlf: bool) -> None:
    before, after = "a:\n    b: # note\n    -   x # y\n    c: ", "\n    # end\n    d:   1 # kpt-set: ${w}\ne: f"
    text = before + FIELDS[style].rstrip("\n") + after
    if crlf:
        text, before, after = (part.replace("\n", "\r\n") for part in (text, before, after))
    new = applied(text, v=value)
    assert new.startswith(before)
    assert new.endswith(after)
    assert yaml.load(new, yaml.CBaseLoader)["a"]["c"] == value
    assert applied(new, v=value) == new
    assert "# kpt-set: ${v}" in new


@given(
    st.lists(st.sampled_from(["${x}", "${y}", "${z}", "-", "/", "a"]), min_size=1, max_size=6),
    st.text("a-/b\n", max_size=10),
)
def test_what_a_value_says_of_a_pattern_gives_the_value_again(parts: list[str], value: str) -> None:
    pattern = Pattern("".join(parts))
    derived = pattern.derive(value)
    if derived and len(set(pattern.names)) == len(pattern.names):
        assert pattern.expand(derived, "") in value
