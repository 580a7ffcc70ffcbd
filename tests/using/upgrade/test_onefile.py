"""One file of three versions."""

from __future__ import annotations

from packyard.using.upgrade import onefile


def test_a_file_that_was_removed_stays_away() -> None:
    assert onefile.merge("a", b"1", None, b"1", "", "2.0") == (None, [])
    assert onefile.merge("a", b"1", b"1", None, "", "2.0") == (None, [])
