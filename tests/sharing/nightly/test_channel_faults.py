"""Publishers that are cut off or killed at any call: nothing is lost, and nothing absent is listed.

`make test` runs a sample, the nightly all.
"""

import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import faults
import sample
from packyard.core.errors import UnavailableError
from packyard.sharing.index import access
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.copy import copy
from packyard.sharing.publishing.withdrawal import Policy, gc, yank
from packyard.sharing.stores.directory import DirectoryStore
from sharing.buckets import Opener
from sharing.examples import FailingStore, bundle, close, fetch, publish

# Publishers that are cut off from real servers.


@pytest.mark.parametrize("server", ["on_versitygw", "on_rclone", "on_azurite", "on_gcs"])
def test_a_publisher_cut_off_at_any_operation_leaves_the_old_or_the_new_and_a_second_run_completes(
    server: str, request: pytest.FixtureRequest
) -> None:
    opened: Opener = request.getfixturevalue(server)
    made = [bundle("bert", "1.1"), bundle("gpt", "1.1")]
    for done in (False, True):
        for number in sample.places(15, of=f"{server} {done}"):
            store = opened()
            publish(store, [bundle("bert", "1.0")])
            try:
                publish(FailingStore(store, fail_at=number, done=done), made)
            except UnavailableError:
                listed = {str(entry) for entry in access.read(store).entries}
                assert listed in ({"bert@1.0"}, {"bert@1.0", "bert@1.1", "gpt@1.1"}), number
                for name in listed:
                    fetch(store, name)
                publish(store, made)
                assert {str(entry) for entry in access.read(store).entries} == {"bert@1.0", "bert@1.1", "gpt@1.1"}
                # rclone goes on to list what a probe had, when it is gone
                assert [each for each in fsck.check(store) if not each.key.startswith("index/probe/")] == []
            else:
                break
        assert number > 10


# Processes that are killed.

BEFORE, MADE = bundle("bert", "1.0"), [bundle("bert", "1.1"), bundle("gpt", "1.1")]
ACTIONS: dict[str, Callable[[DirectoryStore], object]] = {
    "publish": lambda store: publish(store, MADE),
    "publish in a new channel": lambda store: publish(store, MADE),
    "yank": lambda store: yank(store, "bert@1.0", "diverges"),
    "close": lambda store: close(store, "1.0"),
    "repair": fsck.repair,
    "gc": lambda store: gc(store, Policy(yanked=True)),
    "copy": lambda store: copy(DirectoryStore(store.root_dir.parent / "from"), store, ["bert@1.1", "gpt@1.1"]),
}
#: Every so many calls to the file system, one is the last of a process.
STEP = 1 if sample.WHOLE else 40


def prepared(action: str, folder: Path) -> DirectoryStore:
    """Return a channel as it is before an action."""
    store = DirectoryStore(folder)
    if action != "publish in a new channel":
        publish(store, [BEFORE])
    if action == "gc":
        publish(store, MADE)
        yank(store, "bert@1.0", "diverges")
        close(store, "1.0")
    return store


@pytest.mark.nightly
@pytest.mark.parametrize("action", ACTIONS)
def test_a_publisher_killed_at_any_call_leaves_the_old_or_the_new_and_a_second_run_completes(
    action: str, tmp_path: Path
) -> None:
    publish(DirectoryStore(tmp_path / "from"), MADE)
    whole = prepared(action, tmp_path / "whole")
    before = {str(entry): entry for entry in access.current(whole).entries}
    outcome = faults.forked(lambda: ACTIONS[action](whole), faults.Faulty(0))
    assert outcome.code == 0, outcome.text
    after = {str(entry): entry for entry in access.read(whole).entries}
    first = random.Random(f"{sample.SEED} {action}").randrange(1, STEP + 1)
    killed = 0
    for at in range(first, outcome.calls + 1, STEP):
        store = prepared(action, tmp_path / f"{at}")
        died = faults.forked(lambda: ACTIONS[action](store), faults.Faulty(at, None))  # noqa: B023
        killed += died.code == -signal.SIGKILL
        listed = {str(entry): entry for entry in access.current(store).entries}
        assert listed in (before, after), at
        for name in listed:
            fetch(store, name)
        ACTIONS[action](store)
        assert {str(entry): entry for entry in access.read(store).entries} == after, at
        assert access.read(store).releases == access.read(whole).releases
        assert list(fsck.check(store)) == [], at
    assert killed >= (outcome.calls // STEP) * 0.8
