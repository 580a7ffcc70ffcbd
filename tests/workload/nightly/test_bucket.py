"""What copies the events of runs from a bucket, for TensorBoard: with the real aws, from a storage that speaks S3."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

import real
from workload.pod import PATIENCE

pytestmark = pytest.mark.nightly

_ENTRY = """\
<Contents><Key>{key}</Key><LastModified>2024-01-01T00:00:{second:02}.000Z</LastModified><ETag>"{size}"</ETag>
<Size>{size}</Size></Contents>"""
_LISTING = """\
<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>results</Name><Prefix>{prefix}</Prefix>
<KeyCount>{count}</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>"""


@pytest.fixture
def bucket() -> dict[str, bytes]:
    """The objects of a bucket by their keys; while there is none, its storage is out of order."""
    return {}


@pytest.fixture
def endpoint(bucket: dict[str, bytes]) -> Iterator[str]:
    class Storage(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not bucket:
                self.send_error(503)
                return
            asked = urlsplit(self.path)
            key = asked.path.removeprefix("/results").lstrip("/")
            prefix = parse_qs(asked.query).get("prefix", [""])[0]
            found = sorted(each for each in bucket if each.startswith(prefix))
            entries = "".join(
                _ENTRY.format(key=each, size=len(bucket[each]), second=len(bucket[each])) for each in found
            )
            body = bucket[key] if key else _LISTING.format(prefix=prefix, count=len(found), entries=entries).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
            self.send_header("ETag", f'"{len(body)}"')
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Storage)
    with real.answering(server):
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.fixture
def copying(tmp_path: Path, endpoint: str) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Call it to start what the pod's container runs, with /storage below the folder of the test."""
    operations = yaml.safe_load((real.REPOSITORY / "overlays/storage/bucket/deployment.yaml").read_bytes())
    (container,) = [each["value"] for each in operations if each.get("path", "").endswith("/containers/-")]
    shell, *flags, script = container["command"]
    assert shell == "/bin/bash"
    script = script.replace("/storage", str(tmp_path)).replace("sleep 60", "sleep 0.2")
    environment = {
        "PATH": real.path_with("aws", "find"),
        "HOME": str(tmp_path),
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "BUCKET_PATH": "s3://results/user/model",
        "RUNS_DIR": f"{tmp_path}/user/model",
        "S3_ENDPOINT": endpoint,
    }
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen([real.program("bash"), *flags, script], env=environment, text=True, stderr=subprocess.PIPE)
        )
        return started[-1]

    yield start
    for each in started:
        if each.poll() is None:
            each.terminate()
            each.communicate()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_events_of_all_runs_are_copied_and_grow_where_tensorboard_has_them_open(
    bucket: dict[str, bytes], copying: Callable[[], subprocess.Popen[str]], tmp_path: Path
) -> None:
    """A file that was replaced would be read no further by whoever has it open."""
    first, second = (f"user/model/{run}/output/events.out.tfevents.1" for run in ("one", "two"))
    bucket |= {first: b"step 1\n", second: b"other\n", "user/model/one/output/model-1.data": b"large"}
    bucket |= {"user/elsewhere/one/output/events.out.tfevents.1": b"not this model"}
    copying()
    wait_until(lambda: (tmp_path / second).exists() and (tmp_path / second).stat().st_size == 6)
    with (tmp_path / first).open("rb") as opened:
        assert opened.read() == b"step 1\n"
        bucket[first] += b"step 2\n"
        wait_until(lambda: (tmp_path / first).stat().st_size == 14)
        assert opened.read() == b"step 2\n"
    assert not (tmp_path / "user/model/one/output/model-1.data").exists()
    assert not (tmp_path / "user/elsewhere").exists()


def test_a_storage_that_does_not_answer_is_asked_again(
    bucket: dict[str, bytes], copying: Callable[[], subprocess.Popen[str]], tmp_path: Path
) -> None:
    started = copying()
    assert started.stderr
    assert any("trying again in a minute" in line for line in started.stderr)  # reads up to that line
    key = "user/model/one/output/events.out.tfevents.1"
    bucket[key] = b"step 1\n"
    wait_until(lambda: (tmp_path / key).exists())


def test_it_ends_at_once_when_its_pod_does(
    bucket: dict[str, bytes], copying: Callable[[], subprocess.Popen[str]], tmp_path: Path
) -> None:
    key = "user/model/one/output/events.out.tfevents.1"
    bucket[key] = b"step 1\n"
    started = copying()
    wait_until(lambda: (tmp_path / key).exists())
    started.terminate()
    started.communicate()
    assert started.returncode == 0
