"""Whatever the file: a set changes the bytes of bound scalars and no other, and the old value restores the file.

`make fuzz` runs these with many more examples (PACKYARD_FUZZ=N).
"""

import re

import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from core.files.krmfiles import one_setter
from core.yaml.yaml_files import COMMENT, NOT_IN_BLOCKS, VALUES, File, files
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, plan
from sample import tries

EXAMPLES = tries(200)
KRMFILE = one_setter()


def data(text: str, mark: bool) -> bytes:
    return (b"\xef\xbb\xbf" if mark else b"") + text.encode()


def set_value(resource: bytes, value: str) -> bytes:
    planned = plan(PackageFiles(KRMFILE.encode(), {"r.yaml": resource}), Assignment({"V": [value]}))
    return planned.files.get("r.yaml", resource)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(file=files(), value=VALUES, mark=st.booleans())
def test_a_set_changes_only_bytes_inside_bound_scalars(file: File, value: str, mark: bool) -> None:
    before = data(file.text(), mark)
    after = set_value(before, value)
    assert after.startswith(b"\xef\xbb\xbf") == mark
    text = after.removeprefix(b"\xef\xbb\xbf").decode()
    found = re.fullmatch("(.*?)".join(map(re.escape, file.pieces)), text, re.DOTALL)
    assert found, text
    assert {yaml.load(lexeme, yaml.CBaseLoader) for lexeme in found.groups()} <= {value}


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(file=files(), value=VALUES, mark=st.booleans())
def test_setting_the_old_value_back_restores_the_bytes(file: File, value: str, mark: bool) -> None:
    assume(not (file.has_blocks and NOT_IN_BLOCKS.match(value)))
    before = set_value(data(file.text(), mark), "old")
    assert set_value(set_value(before, value), "old") == before


def test_quotes_that_nothing_needed_go_once_a_value_in_between_needed_some() -> None:
    """What cannot be known from a field alone, so `packyard undo` is for it.

    Plain, single and double quoted text are three forms; a value that needs quotes has two, and one with a line break
    has one. So two of the three must end up alike: plain text shares single quotes with text that had them for nothing,
    and what a definition says is shared by all fields of a setter. Plain text is what most fields hold, so it is what
    comes back; double quotes are always an author's, and stay.
    """

    def line(scalar: str) -> bytes:
        return f"x: {scalar} {COMMENT}\n".encode()

    for value in ("yes", "1.10", "a: b", "", " x"):
        back = {form: set_value(set_value(line(form), value), "old") for form in ("old", "'old'", '"old"')}
        assert back == {"old": line("old"), "'old'": line("old"), '"old"': line('"old"')}
    for form in ("old", "'old'", '"old"'):
        assert set_value(set_value(line(form), "a\nb"), "old") == line('"old"')
