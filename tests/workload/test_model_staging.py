"""The program that copies models to a storage, as a process: from a hub, versitygw, and a registry that oras fills."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

import real
from sharing import buckets, registries
from workload import hub
from workload.hub import COMMIT, Hub
from workload.pod import PATIENCE

_PROGRAM = real.REPOSITORY / "bases/model-staging/stage_model.py"
_NAME = "team/llm"
_FILES = {
    "config.json": b'{"num_attention_heads": 16}',
    "model-00001-of-00002.safetensors": os.urandom(3_000_000),
    "model-00002-of-00002.safetensors": os.urandom(1_000_000),
    "a folder/tokenizer.json": b"{}",
    "README.md": b"# A model",
}
_COPIED = {path: data for path, data in _FILES.items() if path != "README.md"}


@pytest.fixture
def team_hub() -> Iterator[Hub]:
    with hub.serve(_NAME, dict(_FILES)) as server:
        yield server


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "storage/models/llm"


def environment(source: str, target: Path, **more: str) -> dict[str, str]:
    mine = {"MODEL_SOURCE": source, "STAGE_DIR": str(target), "AWS_REGION": "us-east-1", "STAGE_IGNORE": ".git* *.md"}
    return {**mine, "STAGE_PAUSE": "0", "PATH": os.environ["PATH"], **more}


def run(source: str, target: Path, **more: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(_PROGRAM)]
    return subprocess.run(
        words, env=environment(source, target, **more), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def from_hub(server: Hub, target: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return run(f"hf://{_NAME}", target, HF_ENDPOINT=server.address, **more)


def read(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".staged"
    }


def test_copies_a_repository_whole_and_says_which_commit_it_is(team_hub: Hub, target: Path) -> None:
    done = from_hub(team_hub, target)
    assert done.returncode == 0, done.stderr
    assert read(target) == _COPIED
    assert json.loads((target / ".staged").read_text()) == {"source": f"hf://{_NAME}", "version": COMMIT}
    assert [path.name for path in target.parent.iterdir()] == ["llm"]


def test_asks_for_nothing_where_the_model_is_there(team_hub: Hub, target: Path) -> None:
    from_hub(team_hub, target)
    team_hub.asked.clear()
    assert from_hub(team_hub, target).returncode == 0
    assert team_hub.asked == []


def test_refuses_another_model_under_the_same_name(team_hub: Hub, target: Path) -> None:
    from_hub(team_hub, target)
    done = run("hf://team/other", target, HF_ENDPOINT=team_hub.address)
    assert done.returncode == 1
    assert f"holds hf://{_NAME}: delete it, or set another MODEL_PATH for hf://team/other" in done.stderr
    assert read(target) == _COPIED


def test_refuses_a_directory_that_it_did_not_make(team_hub: Hub, target: Path) -> None:
    target.mkdir(parents=True)
    (target / "config.json").write_text("mine")
    done = from_hub(team_hub, target)
    assert (done.returncode, read(target)) == (1, {"config.json": b"mine"})
    assert "was not made by this program" in done.stderr


def test_goes_on_where_a_connection_broke_off(team_hub: Hub, target: Path) -> None:
    name = "model-00001-of-00002.safetensors"
    team_hub.breaks[name] = 300_000  # more often than tries without progress are allowed
    done = from_hub(team_hub, target)
    assert done.returncode == 0, done.stderr
    ranges = [f"bytes={number * 300_000}-" if number else "" for number in range(10)]
    assert [asked for path, asked in team_hub.asked if path == name] == ranges
    assert read(target) == _COPIED


def test_begins_a_file_again_where_a_server_knows_no_ranges(team_hub: Hub, target: Path) -> None:
    partial(target, "config.json", b"spoiled", version=COMMIT)
    team_hub.ignores_ranges = True
    assert from_hub(team_hub, target).returncode == 0
    assert read(target) == _COPIED


@pytest.mark.parametrize("status", [408, 429, 503])
def test_tries_again_where_a_server_is_busy(team_hub: Hub, target: Path, status: int) -> None:
    team_hub.statuses["config.json"] = [status, status]
    assert from_hub(team_hub, target).returncode == 0
    assert read(target) == _COPIED


def test_asks_for_no_file_again_that_is_there(team_hub: Hub, target: Path) -> None:
    name = "model-00002-of-00002.safetensors"
    data, team_hub.sent[name] = team_hub.sent[name], b"x" * 1_000_000
    partial(target, "model-00001-of-00002.safetensors", _COPIED["model-00001-of-00002.safetensors"], version=COMMIT)
    assert from_hub(team_hub, target).returncode == 1
    assert "model-00001-of-00002.safetensors" not in [path for path, _ in team_hub.asked]
    team_hub.sent[name] = data
    team_hub.asked.clear()
    assert from_hub(team_hub, target).returncode == 0
    assert team_hub.asked == [(name, "")]
    assert read(target) == _COPIED


def partial(target: Path, name: str, data: bytes, version: str) -> None:
    """Leave a part of a file, as a Job does that ends early."""
    folder = target.with_name("llm.partial")
    folder.mkdir(parents=True)
    (folder / ".staged").write_text(json.dumps({"source": f"hf://{_NAME}", "version": version}))
    (folder / f"{name}.part").write_bytes(data)


def test_goes_on_where_a_job_was_killed(team_hub: Hub, target: Path) -> None:
    name = "model-00001-of-00002.safetensors"
    team_hub.breaks[name] = 1_000_000
    slow = environment(f"hf://{_NAME}", target, HF_ENDPOINT=team_hub.address, STAGE_PAUSE="60")
    part = target.with_name("llm.partial") / f"{name}.part"
    with subprocess.Popen([sys.executable, str(_PROGRAM)], env=slow, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + PATIENCE
        while not part.exists() or part.stat().st_size < 1_000_000:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 143
    assert not target.exists()
    team_hub.breaks.clear()
    team_hub.asked.clear()
    assert from_hub(team_hub, target).returncode == 0
    assert (name, "bytes=1000000-") in team_hub.asked
    assert read(target) == _COPIED


@pytest.mark.parametrize("name", ["config.json", "model-00002-of-00002.safetensors"])
def test_takes_no_file_with_another_digest(team_hub: Hub, target: Path, name: str) -> None:
    data = team_hub.sent[name]
    team_hub.sent[name] = bytes([data[0] ^ 1]) + data[1:]
    done = from_hub(team_hub, target)
    assert done.returncode == 1
    assert f"{name} is " in done.stderr
    assert "it was changed on its way" in done.stderr
    assert not target.exists()


def test_a_spoiled_part_of_an_earlier_job_is_copied_again(team_hub: Hub, target: Path) -> None:
    name = "model-00002-of-00002.safetensors"
    partial(target, name, b"x" * 500_000, version=COMMIT)
    assert from_hub(team_hub, target).returncode == 0
    assert [asked for path, asked in team_hub.asked if path == name] == ["bytes=500000-", ""]
    assert read(target) == _COPIED


def test_what_is_left_of_another_version_is_deleted(team_hub: Hub, target: Path) -> None:
    partial(target, "config.json", b"of an older version", version="older")
    part = target.with_name("llm.partial") / "config.json.part"
    part.rename(part.with_suffix(""))
    assert from_hub(team_hub, target).returncode == 0
    assert read(target) == _COPIED


def test_a_token_reaches_the_hub_and_no_other_host(team_hub: Hub, target: Path) -> None:
    team_hub.token = "hf_secret"
    with hub.serve(_NAME, dict(_FILES)) as other:
        team_hub.elsewhere = other.address
        assert "401" in (refused := from_hub(team_hub, target)).stderr
        assert "does the Secret model-credentials have what the source asks for?" in refused.stderr
        done = from_hub(team_hub, target, HF_TOKEN="hf_secret")
    assert done.returncode == 0, done.stderr
    assert read(target) == _COPIED
    assert set(other.authorized) == {""}
    assert "hf_secret" not in done.stdout + done.stderr


def test_a_storage_that_is_too_small_is_named_before_anything_is_copied(team_hub: Hub, target: Path) -> None:
    team_hub.sizes["config.json"] = 2**60
    done = from_hub(team_hub, target)
    assert (done.returncode, team_hub.asked) == (1, [])
    assert "more bytes are needed, and the storage has" in done.stderr
    assert "use a larger claim" in done.stderr


def test_a_storage_that_others_have_filled_is_named_at_once(team_hub: Hub, target: Path) -> None:
    partial(target, "other", b"", version=COMMIT)
    (target.with_name("llm.partial") / "config.json.part").symlink_to("/dev/full")
    done = from_hub(team_hub, target)
    assert done.returncode == 1
    assert "No space left on device: use a larger claim" in done.stderr
    assert [path for path, _ in team_hub.asked].count("config.json") == 1


def test_a_storage_that_cannot_be_written_is_named(team_hub: Hub, target: Path) -> None:
    target.parent.mkdir(mode=0o500, parents=True)
    words = [sys.executable, str(_PROGRAM)]
    if not os.geteuid():
        words = [real.program("setpriv"), "--bounding-set=-dac_override", *words]
    mine = environment(f"hf://{_NAME}", target, HF_ENDPOINT=team_hub.address)
    done = subprocess.run(words, env=mine, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "USER_ID, GROUP_ID and FS_ID may not write there" in done.stderr


def test_a_file_that_is_longer_than_its_source_says_fills_no_storage(team_hub: Hub, target: Path) -> None:
    team_hub.sizes["model-00001-of-00002.safetensors"] = 1_000_000
    done = from_hub(team_hub, target)
    assert done.returncode == 1
    assert "is longer than the 1000000 bytes that its source says" in done.stderr


def test_a_source_that_does_not_answer_is_given_up(target: Path) -> None:
    with socket.socket() as silent:  # whose port nobody else is given
        silent.bind(("127.0.0.1", 0))
        done = run(f"hf://{_NAME}", target, HF_ENDPOINT=f"http://127.0.0.1:{silent.getsockname()[1]}", STAGE_TRIES="3")
    assert done.returncode == 1
    assert done.stderr.count("trying again") == 2
    assert "Connection refused> (3 tries)" in done.stderr


def test_a_list_that_goes_on_elsewhere_is_not_followed_with_the_token(team_hub: Hub, target: Path) -> None:
    with hub.serve(_NAME, dict(_FILES)) as other:
        team_hub.following = other.address
        done = from_hub(team_hub, target, HF_TOKEN="hf_secret")
    assert (done.returncode, other.authorized) == (1, [])
    assert "continues its list at" in done.stderr


def test_no_other_address_than_those_of_the_web_is_opened(target: Path) -> None:
    done = run(f"hf://{_NAME}", target, HF_ENDPOINT="file:///etc")
    assert done.returncode == 1
    assert "is not a web address" in done.stderr


def test_a_source_without_files_of_a_model_is_named(team_hub: Hub, target: Path) -> None:
    done = from_hub(team_hub, target, STAGE_IGNORE="*")
    assert done.returncode == 1
    assert f"hf://{_NAME} has no files" in done.stderr


def hold(server: Hub, files: dict[str, bytes]) -> None:
    server.files, server.sent = dict(files), dict(files)


def test_weights_that_no_server_reads_are_refused_by_name_before_anything_is_copied(
    team_hub: Hub, target: Path
) -> None:
    hold(team_hub, {"config.json": b"{}", "pytorch_model.bin": b"x", "tokenizer.json": b"{}"})
    done = from_hub(team_hub, target, STAGE_IGNORE="*.bin")
    assert (done.returncode, target.exists()) == (1, False)
    assert f"hf://{_NAME} has no weights that servers read: STAGE_IGNORE leaves out pytorch_model.bin" in done.stderr
    assert from_hub(team_hub, target, STAGE_IGNORE="").returncode == 0


def test_of_two_layouts_of_one_model_the_first_is_taken(team_hub: Hub, target: Path) -> None:
    index = "model.safetensors.index.json"
    shards = {"config.json": b"{}", index: b"{}", "model-00001-of-00001.safetensors": b"x"}
    mistral = {"params.json": b"{}", "consolidated.safetensors": b"x", "consolidated.safetensors.index.json": b"{}"}
    hold(team_hub, {**shards, **mistral})
    assert from_hub(team_hub, target).returncode == 0
    assert {*read(target)} == {*shards, "params.json"}
    about = json.loads((target / ".staged").read_text())
    assert about["left"] == ["consolidated.safetensors"]
    hold(team_hub, mistral)
    other = target.with_name("other")
    assert from_hub(team_hub, other).returncode == 0
    assert {*read(other)} == {*mistral}


@pytest.mark.parametrize(
    ("value", "copied"), [("", False), ("false", False), ("0", False), ("1", True), ("true", True)]
)
def test_programs_of_a_model_are_copied_only_where_they_are_trusted(
    team_hub: Hub, target: Path, value: str, copied: bool
) -> None:
    hold(team_hub, {**_FILES, "modeling_mine.py": b"print()"})
    done = from_hub(team_hub, target, TRUST_REMOTE_CODE=value)
    assert done.returncode == 0, done.stderr
    assert ("modeling_mine.py" in read(target), "left out: modeling_mine.py" in done.stdout) == (copied, not copied)


def test_a_source_without_a_commit_is_told_with_the_one_that_it_was(team_hub: Hub, target: Path) -> None:
    done = from_hub(team_hub, target)
    assert f"not pinned: to copy the same again, set MODEL_SOURCE to hf://{_NAME}@{COMMIT}" in done.stdout


@pytest.mark.parametrize("path", ["../outside", "/etc/outside", "a/../../outside", ".staged"])
def test_a_file_outside_of_the_model_is_refused(team_hub: Hub, target: Path, path: str) -> None:
    team_hub.files[path] = b"x"
    done = from_hub(team_hub, target)
    assert (done.returncode, target.exists()) == (1, False)
    assert "would lie outside of the model" in done.stderr


def test_a_repository_that_is_not_there_is_named(team_hub: Hub, target: Path) -> None:
    done = run("hf://team/typo", target, HF_ENDPOINT=team_hub.address)
    assert (done.returncode, "404" in done.stderr, "is MODEL_SOURCE right?" in done.stderr) == (1, True, True)


@pytest.mark.parametrize("source", ["ftp://x/y", "team/llm", "s3://", "oci://registry.example.com/llm"])
def test_a_source_of_another_form_is_refused(target: Path, source: str) -> None:
    done = run(source, target)
    assert done.returncode == 1
    assert "MODEL_SOURCE is " in done.stderr


def test_two_jobs_at_once_make_one_model(team_hub: Hub, target: Path) -> None:
    words = [sys.executable, str(_PROGRAM)]
    mine = environment(f"hf://{_NAME}", target, HF_ENDPOINT=team_hub.address)
    both = [subprocess.Popen(words, env=mine, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [each.wait(PATIENCE) for each in both] == [0, 0]
    assert read(target) == _COPIED
    assert len(team_hub.asked) == len(_COPIED)


@pytest.mark.nightly
@pytest.mark.parametrize("sums", ["right", "wrong", "lacking", "none"])
def test_copies_a_prefix_of_a_bucket(tmp_path: Path, target: Path, sums: str) -> None:
    files = {**_COPIED, "SHA256SUMS": _sums(sums).encode()} if sums != "none" else dict(_COPIED)
    with buckets.versitygw(real.pinned_program("versitygw"), tmp_path) as server:
        _write(tmp_path / buckets.BUCKET / "team/llm", files)
        keys = {"AWS_ACCESS_KEY_ID": buckets.ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": buckets.SECRET_KEY}
        done = run(f"s3://{buckets.BUCKET}/team/llm", target, S3_ENDPOINT=server.url, **keys)
        refused = run(f"s3://{buckets.BUCKET}/team/llm", tmp_path / "other", S3_ENDPOINT=server.url)
    assert refused.returncode == 1
    assert "403" in refused.stderr
    if sums in ("right", "none"):
        assert done.returncode == 0, done.stderr
        assert read(target) == files
        assert ("no digests of 4 files" in done.stdout) == (sums == "none")
    else:
        problem = "it was changed on its way" if sums == "wrong" else "which its SHA256SUMS names"
        assert done.returncode == 1
        assert problem in done.stderr
        assert not target.exists()


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def _sums(kind: str) -> str:
    lines = [f"{hashlib.sha256(data).hexdigest()}  ./{path}" for path, data in _COPIED.items()]
    if kind == "wrong":
        lines[1] = f"{'0' * 64}  {lines[1].split(maxsplit=1)[1]}"
    return "\n".join([*lines, *([f"{'0' * 64} *missing"] if kind == "lacking" else [])]) + "\n"


@pytest.mark.nightly
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
    assert refused.returncode == 1
    assert "is not a file: push each file as a layer" in refused.stderr


class _Bucket(ThreadingHTTPServer):
    """Has objects, and puts ``others`` in their place when the first has been read."""

    def __init__(self, objects: dict[str, bytes], others: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Object)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.objects, self.others = objects, others


class _Object(BaseHTTPRequestHandler):
    server: _Bucket

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path).removeprefix("/team/llm/")
        if path not in self.server.objects:  # a list, an entry a page
            page = int(parse_qs(urlsplit(self.path).query).get("continuation-token", ["0"])[0])
            listed = [("a folder/", b""), *self.server.objects.items()]
            key, data = listed[page]
            entry = f"<Contents><Key>llm/{key}</Key><Size>{len(data)}</Size><ETag>{_tag(data)}</ETag></Contents>"
            following = page + 1 < len(listed)
            more = f"<NextContinuationToken>{page + 1}</NextContinuationToken>" if following else ""
            answer(self, 200, f"<ListBucketResult>{entry}{more}</ListBucketResult>".encode())
        elif self.headers["If-Match"] != _tag(data := self.server.objects[path]):
            answer(self, 412)
        else:
            answer(self, 200, data)
            self.server.objects = self.server.others

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _tag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def answer(handler: BaseHTTPRequestHandler, status: int, data: bytes = b"", **headers: str) -> None:
    handler.send_response(status)
    for name, value in {**headers, "Content-Length": str(len(data))}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def test_objects_that_change_while_they_are_copied_make_no_model(target: Path) -> None:
    old, new = ({f"{number}.safetensors": data * 100 for number in (1, 2)} for data in (b"old", b"new"))
    bucket = _Bucket(old, new)
    with real.answering(bucket):
        first = run("s3://team/llm", target, S3_ENDPOINT=bucket.address, STAGE_THREADS="1")
        assert (first.returncode, target.exists()) == (1, False)
        assert "it has changed meanwhile: start again" in first.stderr
        assert run("s3://team/llm", target, S3_ENDPOINT=bucket.address).returncode == 0
    assert read(target) == new


def test_an_answer_that_is_something_else_is_shown(target: Path) -> None:
    bucket = _Bucket({}, {})
    with real.answering(bucket):
        done = run(f"hf://{_NAME}", target, HF_ENDPOINT=bucket.address)
    assert done.returncode == 1
    assert "answers with what cannot be read: b'<ListBucketResult>" in done.stderr


class _Registry(ThreadingHTTPServer):
    """Has one artifact for those whose token is good; each is for two requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Asked)
        self.host = f"127.0.0.1:{self.server_port}"
        self.passwords: list[str] = []
        self.left = 0
        blobs = {f"sha256:{hashlib.sha256(data).hexdigest()}": (path, data) for path, data in _COPIED.items()}
        layers = [
            {
                "mediaType": "application/octet-stream",
                "digest": digest,
                "size": len(data),
                "annotations": {"org.opencontainers.image.title": path},
            }
            for digest, (path, data) in blobs.items()
        ]
        self.content = {f"/v2/team/llm/blobs/{digest}": data for digest, (_, data) in blobs.items()}
        self.content["/v2/team/llm/manifests/1"] = json.dumps({"layers": layers}).encode()


class _Asked(BaseHTTPRequestHandler):
    server: _Registry

    def do_GET(self) -> None:
        registry, path = self.server, self.path.partition("?")[0]
        if path == "/token":
            registry.passwords.append(self.headers.get("Authorization", ""))
            registry.left = 2
            answer(self, 200, json.dumps({"token": f"number {len(registry.passwords)}"}).encode())
        elif registry.left and self.headers.get("Authorization") == f"Bearer number {len(registry.passwords)}":
            registry.left -= 1
            answer(self, 200, registry.content[path])
        else:
            answer(self, 401, WWW_Authenticate=f'Bearer realm="http://{registry.host}/token",service="registry"')

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize("user", ["", "robot"])
def test_asks_for_another_token_when_one_has_run_out(target: Path, user: str) -> None:
    registry = _Registry()
    more = {"REGISTRY_USER": user, "REGISTRY_PASSWORD": "secret", "STAGE_THREADS": "1"}
    with real.answering(registry):
        done = run(f"oci://{registry.host}/team/llm:1", target, **more)
    assert done.returncode == 0, done.stderr
    assert read(target) == _COPIED
    assert len(registry.passwords) > 2
    known = "Basic " + base64.b64encode(b"robot:secret").decode()
    assert set(registry.passwords) == {known if user else ""}
    assert "secret" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda manifest: manifest.pop("layers"), "is not the manifest of an artifact"),
        (lambda manifest: manifest["layers"].append(manifest["layers"][0]), "has two files of one name"),
        (lambda manifest: manifest["layers"][0].update(digest="md5:0"), "has the digest md5:0"),
        (lambda manifest: manifest["layers"].clear(), "has no files"),
    ],
)
def test_an_artifact_that_is_none_is_refused(
    target: Path, change: Callable[[dict[str, Any]], object], problem: str
) -> None:
    registry = _Registry()
    manifest = json.loads(registry.content["/v2/team/llm/manifests/1"])
    change(manifest)
    registry.content["/v2/team/llm/manifests/1"] = json.dumps(manifest).encode()
    with real.answering(registry):
        done = run(f"oci://{registry.host}/team/llm:1", target)
    assert (done.returncode, target.exists()) == (1, False)
    assert problem in done.stderr


def test_a_manifest_with_another_digest_than_was_asked_for_is_refused(target: Path) -> None:
    registry = _Registry()
    digest = f"sha256:{'0' * 64}"
    registry.content[f"/v2/team/llm/manifests/{digest}"] = registry.content["/v2/team/llm/manifests/1"]
    with real.answering(registry):
        done = run(f"oci://{registry.host}/team/llm@{digest}", target)
    assert done.returncode == 1
    assert f"the manifest of oci://{registry.host}/team/llm@{digest} is sha256:" in done.stderr


def test_a_password_is_sent_to_no_address_that_others_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    program = runpy.run_path(str(_PROGRAM))
    monkeypatch.setenv("REGISTRY_USER", "robot")
    with pytest.raises(program["StageError"], match="which anybody could read on its way"):
        program["authorize"]('Bearer realm="http://elsewhere.example.com/token"', "https://registry/v2/a/blobs/b")
