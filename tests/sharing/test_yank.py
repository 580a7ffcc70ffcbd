"""Yanked versions and closed releases: said once, kept for ever, and known again when an index is made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.core.errors import ConflictError, InputError
from packyard.sharing.index import access
from packyard.sharing.index.access import Publisher
from packyard.sharing.publishing.publish import publish
from packyard.sharing.publishing.yank import yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust.keys import SigningKey, Trust
from sharing.examples import bundle, close, fetch

KEY = SigningKey.new()
TRUSTED = Trust.of(KEY.public)


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    made = DirectoryStore(tmp_path)
    publish(made, [bundle("bert", "1.0"), bundle("bert", "v1.1"), bundle("gpt", "1.0")])
    return made


def test_a_yanked_version_stays_and_is_not_the_latest(store: DirectoryStore) -> None:
    entry, is_new = yank(store, "bert@1.1.0", "diverges")
    assert (str(entry), entry.yanked, is_new) == ("bert@v1.1", "diverges", True)
    assert fetch(store, "bert") == bundle("bert", "1.0")
    assert fetch(store, "bert@1.1") == bundle("bert", "v1.1")
    latest = access.read(store).named("bert").latest
    assert latest
    assert latest.version == "1.0"


def test_yanking_again_changes_nothing_and_a_reason_stays(store: DirectoryStore) -> None:
    yank(store, "bert@1.1", "diverges")
    before = {key: store.get(key) for key in store.list("")}
    assert yank(store, "bert@v1.1", "diverges")[1] is False
    with pytest.raises(ConflictError, match=r"^bert@v1\.1 is yanked: diverges \(a reason never changes\)"):
        yank(store, "bert@v1.1", "other")
    assert {key: store.get(key) for key in store.list("")} == before


@pytest.mark.parametrize("reason", ["", "  ", "a\nb", "\x1b[31m", "x" * 501])
def test_refuses_a_reason_that_could_not_be_shown(store: DirectoryStore, reason: str) -> None:
    with pytest.raises(InputError, match=r"is not a reason \(write why"):
        yank(store, "bert@1.0", reason)


@pytest.mark.parametrize(
    ("text", "says"),
    [("bert", "does not say which version"), ("bert@^1", "does not say which version"), ("bert@3", "no version '3' of"),
     ("brt@1.0", "did you mean 'bert'")],
)  # fmt: skip
def test_refuses_to_yank_what_is_not_said_exactly(store: DirectoryStore, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
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


def test_who_trusts_keys_does_not_write_what_would_be_refused(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    for key in (None, SigningKey.new()):
        with pytest.raises(InputError, match=r"what you publish would be .* \(sign with a key that you trust"):
            publish(store, [bundle()], by=Publisher(key=key, trusted=TRUSTED))
    assert store.list("") == []
    publish(store, [bundle()], by=Publisher(key=KEY, trusted=TRUSTED))
    with pytest.raises(InputError, match="what you publish would be not signed"):
        yank(store, "bert@1.0", "r", by=Publisher(trusted=TRUSTED))
    with pytest.raises(InputError, match="what you publish would be not signed"):
        close(store, "1.0", by=Publisher(trusted=TRUSTED))
    yank(store, "bert@1.0", "r", by=Publisher(key=KEY, trusted=TRUSTED))
    close(store, "1.0", by=Publisher(key=KEY, trusted=TRUSTED))
    assert access.read(store, TRUSTED).named("bert").get("1.0").yanked == "r"
