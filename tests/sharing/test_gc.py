"""What is withdrawn: versions are yanked with a reason, or removed for ever as a policy says; and all are told."""

import os
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from packyard.core.errors import ConflictError, InputError
from packyard.sharing.index import access
from packyard.sharing.index.index import KEY as KEY_OF_INDEX
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.copy import copy
from packyard.sharing.publishing.withdrawal import Policy, gc, yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import Store
from sharing.examples import BY, OWN, TRUSTED, bundle, close, fetch, proof, publish

VERSIONS = ("1.0", "1.1-rc1", "1.1", "1.2", "2.0-rc1")


proved = partial(proof, key=OWN)


def filled(store: Store) -> Store:
    publish(store, [bundle("bert", version) for version in VERSIONS], attest=proved, by=BY)
    for version in VERSIONS:
        close(store, version, by=BY)
    return store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return filled(DirectoryStore(tmp_path / "channel"))


def ran(store: Store, policy: Policy, *names: str, **rest: Any) -> dict[str, str]:
    found = gc(store, policy, names, by=BY, **rest)
    return {each.entry.version: each.status for each in found}


def versions(store: Store) -> list[str]:
    return [entry.version for entry in access.read(store, TRUSTED).named("bert").entries]


def findings(store: Store) -> list[tuple[str, str, str]]:
    return [(each.kind, each.key, each.hint) for each in fsck.check(store, TRUSTED)]


@pytest.mark.parametrize(
    ("policy", "gone"),
    [
        (Policy(keep=1), {"1.0", "1.1-rc1", "1.1"}),
        (Policy(keep=2), {"1.0", "1.1-rc1"}),
        (Policy(keep=9), set()),
        (Policy(pre_releases=True), {"1.1-rc1", "2.0-rc1"}),
        (Policy(yanked=True), {"1.1"}),
        (Policy(yanked=True, keep=2), {"1.1"}),
        (Policy(yanked=True, keep=1), {"1.0", "1.1-rc1", "1.1"}),
    ],
)
def test_a_policy_names_what_goes(store: Store, policy: Policy, gone: set[str]) -> None:
    if policy.yanked:
        yank(store, "bert@1.1", "diverges", by=BY)
    assert ran(store, policy, is_trial=True) == dict.fromkeys(sorted(gone, key=VERSIONS.index), "goes")
    assert versions(store) == [*VERSIONS]
    assert ran(store, policy) == dict.fromkeys(sorted(gone, key=VERSIONS.index), "removed")
    assert versions(store) == [version for version in VERSIONS if version not in gone]
    assert {key.partition("/")[0] for key in store.list("")} - {"index"} == {*VERSIONS} - gone
    assert findings(store) == []


def test_what_is_open_or_the_latest_stays(store: Store) -> None:
    publish(store, [bundle("bert", "1.0.1"), bundle("gpt", "1.0.1")], attest=proved, by=BY)
    for text in ("bert@1.0.1", "bert@1.2"):
        yank(store, text, "diverges", by=BY)
    skipped = gc(store, Policy(keep=1), by=BY, is_trial=True)
    says = "it is yanked, which --keep skips: add --yanked"
    assert [outcome.reason for outcome in skipped if outcome.entry.version == "1.2"] == [says]
    found = gc(store, Policy(yanked=True, pre_releases=True), by=BY)
    assert [(str(each.entry), each.status, each.reason) for each in found] == [
        ("bert@1.0.1", "kept", "its release is open: publish --close closes one"),
        ("bert@1.1-rc1", "removed", "it is a pre-release"),
        ("bert@1.2", "removed", "it was yanked: diverges"),
        ("bert@2.0-rc1", "removed", "it is a pre-release"),
    ]
    assert [each.status for each in gc(store, Policy(keep=1), ["gpt"], by=BY)] == []
    with pytest.raises(InputError, match="no package 'brt'"):
        ran(store, Policy(keep=1), "brt")


def test_what_was_removed_is_never_published_again_and_who_asks_is_told(store: Store, tmp_path: Path) -> None:
    held = filled(DirectoryStore(tmp_path / "other"))
    ran(store, Policy(keep=1))
    says = r"bert@1\.1 was removed: it is older than the newest 1"
    one = bundle("bert", "1.1")
    with pytest.raises(InputError, match=f"^{says}"):
        fetch(store, "bert@1.1", trusted=TRUSTED)
    for again in (one, bundle("bert", "1.1", "other"), bundle("bert", "v1.1.0")):
        with pytest.raises(ConflictError, match=rf"{says} \(a version that was removed is never published again"):
            publish(store, [again], by=BY)
    with pytest.raises(ConflictError, match=says):
        copy(held, store, ["bert@1.1"], by=lambda: BY)
    yank(held, "bert@1.0", "diverges", by=BY)
    publish(held, [bundle("bert", "1.2.5")], attest=proved, by=BY)
    whole = {entry.version: status for entry, status in copy(held, store, by=lambda: BY)}
    assert {each for each, status in whole.items() if status == "removed"} == {"1.0", "1.1-rc1", "1.1"}
    assert versions(store) == ["1.2", "1.2.5", "2.0-rc1"]
    publish(store, [bundle("bert", "1.3")], attest=proved, by=BY)
    assert access.read(store).release("1.1").closed


def test_shards_and_records_that_nothing_names_go_after_a_day(store: Store) -> None:
    yank(store, "bert@1.0", "diverges", by=BY)
    folder, named = Path(store.address), set(access.read(store).files_below())
    every = [key for key in store.list("index/") if key != KEY_OF_INDEX]
    for key in (*every, "index/probe/x"):
        (folder / key).parent.mkdir(exist_ok=True)
        (folder / key).touch()
    ran(store, Policy(keep=9))
    assert set(every) > named
    assert set(every) <= set(store.list("index/"))
    assert findings(store) == [("unlisted", "index/probe/x", findings(store)[0][2])]
    for key in (*every, "index/probe/x"):
        os.utime(folder / key, (0, 0))
    ran(store, Policy(keep=9))
    assert set(store.list("index/")) == {*named, KEY_OF_INDEX}


@pytest.mark.parametrize(
    ("text", "reason", "says"),
    [
        *(("bert@1.0", reason, "is not a reason (write why") for reason in ("", "  ", "a\nb", "\x1b[31m", "x" * 501)),
        *((text, "reason", "does not say which version") for text in ("bert", "bert@^1")),
        ("bert@1.3", "reason", "no version '1.3' of bert (it has 2.0-rc1, 1.2, 1.1, 1.1-rc1, 1.0)"),
    ],
)
def test_refuses_to_yank_what_is_not_said_exactly_or_by_a_reason_that_could_not_be_shown(
    store: Store, text: str, reason: str, says: str
) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        yank(store, text, reason, by=BY)
