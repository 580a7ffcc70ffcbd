"""The program that copies models to a storage: from a hub, from versitygw, and from a registry that oras fills."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import real
from sharing import buckets, registries
from workload import hub
from workload.hub import COMMIT, Hub
from workload.machine import PATIENCE

pytestmark = pytest.mark.nightly("workload")

_PROGRAM = real.REPOSITORY / "bases/model-staging/stage_model.py"
_NAME = "team/llm"
_LARGE = "model-00001-of-00002.safetensors"
_COPIED = {
    "config.json": b'{"num_attention_heads": 16}',
    _LARGE: os.urandom(300_000),
    "model-00002-of-00002.safetensors": os.urandom(100_000),
    "a folder/tokenizer.json": b"{}",
}


@pytest.fixture
def team_hub() -> Iterator[Hub]:
    with hub.serve(_NAME, {**_COPIED, "README.md": b"# A model"}) as server:
        yield server


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "storage/models/llm"


def run(source: str, target: Path, **more: str) -> subprocess.CompletedProcess[str]:
    values = {"MODEL_SOURCE": source, "STAGE_DIR": str(target), "AWS_REGION": "us-east-1", "STAGE_IGNORE": ".git* *.md"}
    environment = {**values, "STAGE_PAUSE": "0", "PATH": os.environ["PATH"], **more}
    words = [sys.executable, _PROGRAM]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


def from_hub(server: Hub, target: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return run(f"hf://{_NAME}", target, HF_ENDPOINT=server.address, **more)


def read(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".staged"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_copies_a_repository_whole_and_says_which_commit_it_is_and_asks_for_nothing_again(
    team_hub: Hub, target: Path
) -> None:
    done = from_hub(team_hub, target)
    assert done.returncode == 0, done.stderr
    assert read(target) == _COPIED
    assert json.loads((target / ".staged").read_text()) == {"source": f"hf://{_NAME}", "version": COMMIT}
    assert [path.name for path in target.parent.iterdir()] == ["llm"]
    assert f"set MODEL_SOURCE to hf://{_NAME}@{COMMIT}" in done.stdout
    team_hub.asked.clear()
    assert (from_hub(team_hub, target).returncode, team_hub.asked) == (0, [])


def test_refuses_another_model_under_the_same_name_and_a_directory_that_it_did_not_make(
    team_hub: Hub, target: Path
) -> None:
    from_hub(team_hub, target)
    done = run("hf://team/other", target, HF_ENDPOINT=team_hub.address)
    assert (done.returncode, read(target)) == (1, _COPIED)
    assert f"holds hf://{_NAME}: delete it, or set another MODEL_PATH for hf://team/other" in done.stderr
    (target / ".staged").unlink()
    assert "was not made by this program" in from_hub(team_hub, target).stderr


def test_goes_on_where_a_connection_broke_off_and_where_a_server_is_busy(team_hub: Hub, target: Path) -> None:
    team_hub.breaks[_LARGE] = 30_000  # more often than tries without progress are allowed
    team_hub.statuses["config.json"] = [408, 429, 503]
    done = from_hub(team_hub, target)
    assert done.returncode == 0, done.stderr
    ranges = [f"bytes={number * 30_000}-" if number else "" for number in range(10)]
    assert [asked for path, asked in team_hub.asked if path == _LARGE] == ranges
    assert read(target) == _COPIED


@pytest.mark.parametrize(
    ("data", "version", "ranges"),
    [
        (_COPIED[_LARGE][:1000], COMMIT, ["bytes=1000-"]),
        (b"x" * 1000, COMMIT, ["bytes=1000-", ""]),
        (b"x", "old", [""]),
    ],
    ids=["goes on", "spoiled", "of another version"],
)
def test_takes_of_an_earlier_job_what_is_right(
    team_hub: Hub, target: Path, data: bytes, version: str, ranges: list[str]
) -> None:
    folder = target.with_name("llm.partial")
    folder.mkdir(parents=True)
    (folder / ".staged").write_text(json.dumps({"source": f"hf://{_NAME}", "version": version}))
    (folder / f"{_LARGE}.part").write_bytes(data)
    assert from_hub(team_hub, target).returncode == 0
    assert [asked for path, asked in team_hub.asked if path == _LARGE] == ranges
    assert read(target) == _COPIED


@pytest.mark.parametrize("name", ["config.json", _LARGE])
def test_takes_no_file_with_another_digest_or_size(team_hub: Hub, target: Path, name: str) -> None:
    data = team_hub.sent[name]
    team_hub.sent[name] = bytes([data[0] ^ 1]) + data[1:]
    done = from_hub(team_hub, target)
    assert (done.returncode, target.exists()) == (1, False)
    assert "it was changed on its way" in done.stderr
    team_hub.sizes[name] = 5
    assert "is longer than the 5 bytes that its source says" in from_hub(team_hub, target).stderr


def test_a_token_reaches_the_hub_and_no_other_host(team_hub: Hub, target: Path) -> None:
    team_hub.token = "hf_secret"
    with hub.serve(_NAME, team_hub.files) as other:
        team_hub.elsewhere = other.address
        assert "does the Secret model-credentials have what" in from_hub(team_hub, target).stderr
        done = from_hub(team_hub, target, HF_TOKEN="hf_secret")
    assert (done.returncode, read(target)) == (0, _COPIED), done.stderr
    assert set(other.authorized) == {""}
    assert "hf_secret" not in done.stdout + done.stderr


def test_weights_that_no_server_reads_are_refused_by_name_before_anything_is_copied(
    team_hub: Hub, target: Path
) -> None:
    team_hub.files = team_hub.sent = {"config.json": b"{}", "pytorch_model.bin": b"x", "tokenizer.json": b"{}"}
    done = from_hub(team_hub, target, STAGE_IGNORE="*.bin")
    assert (done.returncode, target.exists()) == (1, False)
    assert f"hf://{_NAME} has no weights that servers read: STAGE_IGNORE leaves out pytorch_model.bin" in done.stderr
    assert from_hub(team_hub, target, STAGE_IGNORE="").returncode == 0


@pytest.mark.parametrize(("value", "copied"), [("", False), ("false", False), ("1", True), ("true", True)])
def test_programs_of_a_model_are_copied_only_where_they_are_trusted(
    team_hub: Hub, target: Path, value: str, copied: bool
) -> None:
    team_hub.files["modeling_mine.py"] = team_hub.sent["modeling_mine.py"] = b"print()"
    done = from_hub(team_hub, target, TRUST_REMOTE_CODE=value)
    assert done.returncode == 0, done.stderr
    assert ("modeling_mine.py" in read(target), "left out: modeling_mine.py" in done.stdout) == (copied, not copied)


@pytest.mark.parametrize("path", ["../outside", "/etc/outside", "a/../../outside", ".staged"])
def test_a_file_outside_of_the_model_is_refused(team_hub: Hub, target: Path, path: str) -> None:
    team_hub.files[path] = b"x"
    done = from_hub(team_hub, target)
    assert (done.returncode, target.exists()) == (1, False)
    assert "would lie outside of the model" in done.stderr


@pytest.mark.parametrize("sums", ["right", "wrong", "lacking", "none"])
def test_copies_a_prefix_of_a_bucket(tmp_path: Path, target: Path, sums: str) -> None:
    lines = [f"{hashlib.sha256(data).hexdigest()}  ./{path}" for path, data in _COPIED.items()]
    lines[1] = f"{'0' * 64}  {lines[1].split(maxsplit=1)[1]}" if sums == "wrong" else lines[1]
    lines += [f"{'0' * 64} *missing"] if sums == "lacking" else []
    files = _COPIED if sums == "none" else {**_COPIED, "SHA256SUMS": "\n".join([*lines, ""]).encode()}
    with buckets.versitygw(real.pinned_program("versitygw"), tmp_path) as server:
        _write(tmp_path / buckets.BUCKET / "team/llm", files)
        keys = {"AWS_ACCESS_KEY_ID": buckets.ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": buckets.SECRET_KEY}
        done = run(f"s3://{buckets.BUCKET}/team/llm", target, S3_ENDPOINT=server.url, **keys)
        assert "403" in run(f"s3://{buckets.BUCKET}/team/llm", tmp_path / "other", S3_ENDPOINT=server.url).stderr
    if sums in ("right", "none"):
        assert (done.returncode, read(target)) == (0, files), done.stderr
        assert ("no digests of 4 files" in done.stdout) == (sums == "none")
    else:
        assert (done.returncode, target.exists()) == (1, False)
        assert ("it was changed on its way" if sums == "wrong" else "which its SHA256SUMS names") in done.stderr


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def test_copies_an_artifact_that_oras_pushed(tmp_path: Path, target: Path) -> None:
    folder = tmp_path / "pushed"
    _write(folder, _COPIED)
    with registries.distribution(real.pinned_program("registry"), tmp_path) as host:
        words = [real.pinned_program("oras"), "push", "--plain-http", f"{host}/team/llm:1", *_COPIED]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
        done = run(f"oci://{host}/team/llm:1", target)
        assert done.returncode == 0, done.stderr
        version = json.loads((target / ".staged").read_text())["version"]
        assert run(f"oci://{host}/team/llm@{version}", tmp_path / "by-digest").returncode == 0
        words[3:] = [f"{host}/team/llm:folder", "./"]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
        refused = run(f"oci://{host}/team/llm:folder", tmp_path / "folder")
    assert read(target) == read(tmp_path / "by-digest") == _COPIED
    assert (refused.returncode, "is not a file: push each file as a layer" in refused.stderr) == (1, True)
