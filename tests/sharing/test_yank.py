"""Yanked versions and closed releases: said once, kept for ever, and known again when an index is made again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from packyard.core.errors import ConflictError, InputError
from packyard.sharing.index import access
from packyard.sharing.publishing.withdrawal import yank
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import bundle, close, publish


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    made = DirectoryStore(tmp_path)
    publish(made, [bundle("bert", "1.0"), bundle("bert", "v1.1"), bundle("gpt", "1.0")])
    return made


@pytest.mark.parametrize("reason", ["", "  ", "a\nb", "\x1b[31m", "x" * 501])
def test_refuses_a_reason_that_could_not_be_shown(store: DirectoryStore, reason: str) -> None:
    with pytest.raises(InputError, match=r"is not a reason \(write why"):
        yank(store, "bert@1.0", reason)


@pytest.mark.parametrize(
    ("text", "says"),
    [("bert", "does not say which version"), ("bert@^1", "does not say which version"),
     ("bert@1.1", "no version '1.1' of bert (it has v1.1, 1.0"),
     ("brt@1.0", "did you mean 'bert'")],
)  # fmt: skip
def test_refuses_to_yank_what_is_not_said_exactly(store: DirectoryStore, text: str, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        yank(store, text, "reason")


def test_a_closed_release_gets_no_more(store: DirectoryStore) -> None:
    close(store, "1")
    before = access.read(store).number
    close(store, "1.0")
    assert access.read(store).number == before
    with pytest.raises(ConflictError, match=r"^new@1\.0: the release 1\.0 is closed"):
        publish(store, [bundle("new", "1.0")])
    assert "1.0/new.tar.gz" not in store.list("")
    assert [status for _, status in publish(store, [bundle("gpt", "1.0")])] == ["unchanged"]
    publish(store, [bundle("new", "1.1.1")])
