"""The picture of the README shows what its commands print today."""

import pytest

from documents import picture


@pytest.mark.nightly
def test_the_picture_is_what_the_commands_print() -> None:
    assert picture.PICTURE.read_text("utf-8") == picture.drawn(), "make docs draws it anew"
