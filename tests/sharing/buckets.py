"""Real servers of buckets, of web pages and of faults, each started for as long as a block runs."""

import base64
import contextlib
import hashlib
import hmac
import os
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest

import real
from packyard.sharing.stores import open_store
from packyard.sharing.stores.store import Store
from real import free_port

BUCKET = "models"
ACCESS_KEY, SECRET_KEY = "test-access-key", "test-secret-key"
#: Opens stores of one server, each below another prefix: of its bucket, or of the one that is named.
Opener = Callable[..., Store]

#: The account of every Azurite; its key is published.
AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class BucketServer:
    """Where a server listens, and the environment of its clients; the bucket is there."""

    url: str
    environment: Mapping[str, str] = field(repr=False)


def opener(scheme: str, server: BucketServer, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """Return what opens stores of a server."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return lambda bucket=BUCKET, **named: open_store(f"{scheme}://{bucket}/{os.urandom(8).hex()}/zoo", **named)


def s3_environment(url: str) -> dict[str, str]:
    """Return how clients of S3 find a server."""
    return {"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}


@contextmanager
def versitygw(program: Path, folder: Path, *, port: int = 0) -> Iterator[BucketServer]:
    """Run the S3 server whose objects are files of a folder."""
    (folder / BUCKET).mkdir(exist_ok=True)
    port = port or free_port()
    words = [program, "--access", ACCESS_KEY, "--secret", SECRET_KEY, "--port", f"127.0.0.1:{port}", "--quiet"]
    with running([*words, "posix", folder], port):
        yield BucketServer(f"http://127.0.0.1:{port}", s3_environment(f"http://127.0.0.1:{port}"))


@contextmanager
def rclone(program: Path, folder: Path) -> Iterator[BucketServer]:
    """Run an S3 server that knows no conditional writes."""
    (folder / BUCKET).mkdir()
    port = free_port()
    words = ["serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", f"{ACCESS_KEY},{SECRET_KEY}", folder]
    with running([program, "--config", folder / "none", *words], port):
        yield BucketServer(f"http://127.0.0.1:{port}", s3_environment(f"http://127.0.0.1:{port}"))


@contextmanager
def google_storage() -> Iterator[BucketServer]:
    """Run our own server of Google's XML API, for no emulator keeps its preconditions on generations."""
    handler = type("Bucket", (_GoogleStorage,), {"objects": {}, "lock": threading.Lock(), "generations": count(1)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    url = f"http://127.0.0.1:{server.server_port}"
    with real.answering(server):
        yield BucketServer(url, {"STORAGE_EMULATOR_HOST": url})


class _GoogleStorage(BaseHTTPRequestHandler):
    """One bucket; https://cloud.google.com/storage/docs/xml-api/reference-headers says what the headers mean."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    objects: dict[str, tuple[bytes, int]]
    lock: threading.Lock
    generations: Iterator[int]

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def handle_one_request(self) -> None:
        with contextlib.suppress(ConnectionError):
            super().handle_one_request()

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.lock:
            wanted, (_, generation) = self.headers.get("x-goog-if-generation-match"), self._object() or (b"", 0)
            if wanted is not None and int(wanted) != generation:
                self._error(412, "PreconditionFailed")
            elif self._is_there():
                self.objects[self._key()] = (data, next(self.generations))
                self._answer(200)

    def do_GET(self) -> None:
        if not self._is_there():
            return
        with self.lock:
            if not self._key():
                self._answer(200, self._page())
            elif found := self._object():
                self._answer(200, found[0])
            else:
                self._error(404, "NoSuchKey")

    def do_DELETE(self) -> None:
        if self._is_there():
            with self.lock:
                self._answer(204) if self.objects.pop(self._key(), None) else self._error(404, "NoSuchKey")

    def _key(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix(f"/{BUCKET}").removeprefix("/")

    def _object(self) -> tuple[bytes, int] | None:
        return self.objects.get(self._key())

    def _is_there(self) -> bool:
        there = unquote(urlsplit(self.path).path).split("/")[1] == BUCKET
        if not there:
            self._error(404, "NoSuchBucket")
        return there

    def _page(self) -> bytes:
        """Return a page of a list, of two objects: so that who lists has to ask for the next one."""
        query = parse_qs(urlsplit(self.path).query)
        (prefix,), (after,) = query.get("prefix", [""]), query.get("continuation-token", [""])
        keys = sorted(key for key in self.objects if key.startswith(prefix) and key > after)
        entry = "<Contents><Key>{}</Key><LastModified>2026-11-22T10:00:00.000Z</LastModified><Size>{}</Size></Contents>"
        entries = "".join(entry.format(escape(key), len(self.objects[key][0])) for key in keys[:2])
        token = f"<NextContinuationToken>{escape(keys[1])}</NextContinuationToken>" if keys[2:] else ""
        return f"<ListBucketResult>{entries}{token}</ListBucketResult>".encode()

    def _answer(self, status: int, data: bytes = b"", **headers: str) -> None:
        found = self._object()
        about = {"x-goog-generation": str(found[1]), "ETag": f'"{found[1]}"'} if found else {}
        self.send_response(status)
        for name, value in {"Last-Modified": formatdate(usegmt=True), **about, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _error(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code></Error>".encode())


@contextmanager
def azurite(program: Path) -> Iterator[BucketServer]:
    """Run Azure's own emulator of its blob storage."""
    port = free_port()
    words = ["--blobHost", "127.0.0.1", "--blobPort", port, "--silent", "--skipApiVersionCheck"]
    url = f"http://127.0.0.1:{port}"
    with running([real.program("node"), program, *words, "--disableTelemetry", "--inMemoryPersistence"], port):
        _create_container(f"{url}/{AZURE_ACCOUNT}/{BUCKET}")
        account = {"AZURE_STORAGE_ACCOUNT": AZURE_ACCOUNT, "AZURE_STORAGE_KEY": AZURE_KEY}
        yield BucketServer(url, {**account, "AZURE_STORAGE_ENDPOINT": f"{url}/{AZURE_ACCOUNT}"})


def _create_container(url: str) -> None:
    """Create a container with a shared key, as the REST reference of Azure Storage says."""
    date, version = formatdate(usegmt=True), "2021-08-06"
    resource = f"/{AZURE_ACCOUNT}/{AZURE_ACCOUNT}/{BUCKET}\nrestype:container"
    lines = ["PUT", *[""] * 11, f"x-ms-date:{date}", f"x-ms-version:{version}", resource]
    signature = hmac.new(base64.b64decode(AZURE_KEY), "\n".join(lines).encode(), hashlib.sha256).digest()
    headers = {
        "x-ms-date": date,
        "x-ms-version": version,
        "Authorization": f"SharedKey {AZURE_ACCOUNT}:{base64.b64encode(signature).decode()}",
    }
    request = urllib.request.Request(f"{url}?restype=container", method="PUT", headers=headers)
    _OPENER.open(request, timeout=300).close()


@contextmanager
def running(command: Sequence[object], port: int) -> Iterator[None]:
    """Run a server until the block ends, from when it listens."""
    words = [str(word) for word in command]
    # Garbage is cheap here; what the tests set for clients is no business of a server.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "AZURE_"))}
    silent = subprocess.DEVNULL
    with subprocess.Popen(words, stdin=silent, stdout=silent, stderr=silent, env=environment) as process:
        try:
            end = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < end:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
                    break
                time.sleep(0.02)
            else:
                raise AssertionError(f"{words[0]} does not listen")
            yield
        finally:
            process.kill()
