"""A server is tried before the first publish, once, and its channel keeps what was found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from packyard.core.errors import ConflictError
from packyard.sharing.index import access, trial
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores import open_store
from packyard.sharing.stores.directory import DirectoryStore
from sharing.buckets import BUCKET, BucketServer
from sharing.examples import bundle


@pytest.mark.parametrize(("name", "creates"), [("versitygw", True), ("rclone", False)])
def test_a_new_channel_keeps_what_its_server_was_found_to_promise(
    name: str, creates: bool, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    server: BucketServer = request.getfixturevalue(name)
    for variable, value in server.environment.items():
        monkeypatch.setenv(variable, value)
    store = open_store(f"s3://{BUCKET}/tried-{name}")
    assert not store.promises.create
    publish(store, [bundle()])
    assert json.loads(store.get(trial.KEY))["create"] is creates
    assert trial.tried(store).promises.create is creates
    if creates:  # rclone goes on to list what is gone
        assert [key for key in store.list("index/") if "probe" in key or "writers" in key] == []
    publish(store, [bundle(version="2.0")])
    assert len(access.read(store).entries) == 2


def test_a_place_with_other_content_is_not_tried(versitygw: BucketServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in versitygw.environment.items():
        monkeypatch.setenv(variable, value)
    store = open_store(f"s3://{BUCKET}/occupied")
    store.put("thesis.txt", b"years of work")
    with pytest.raises(ConflictError, match=r"other files and no index: thesis\.txt"):
        publish(store, [bundle()])
    assert store.list("") == ["thesis.txt"]


def test_a_directory_promises_by_its_kind(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    assert trial.tried(store) is store
    assert store.list("") == []
