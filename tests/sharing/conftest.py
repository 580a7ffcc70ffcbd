"""Real registries, servers of buckets and the like, one of each kind for all tests of a process."""

import os
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import real
from packyard.sharing.stores.directory import DirectoryStore
from sharing import buckets, registries
from sharing.buckets import BucketServer, Opener, opener


def _serving(serve: Callable[[Path, Path], AbstractContextManager[Any]], find: Callable[[str], Path], name: str) -> Any:
    """Return the fixture of a server that runs a program with a folder of its own."""

    @pytest.fixture(scope="session")
    def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
        with serve(find(name), tmp_path_factory.mktemp(name)) as served:
            yield served

    return server


#: distribution 3, and 2.8, which lets only digests be deleted.
registry3 = _serving(registries.distribution, real.pinned_program, "registry")
registry2 = _serving(registries.distribution, real.program, "docker-registry")
#: An S3 server that lets one of many create an object, and one that overwrites whatever it is told.
versitygw = _serving(buckets.versitygw, real.pinned_program, "versitygw")
rclone = _serving(buckets.rclone, real.program, "rclone")


@pytest.fixture(scope="session")
def registry_with_referrers() -> Iterator[str]:
    """A registry that lists what refers to an artifact."""
    with registries.with_referrers(real.pinned_program("referrers-registry")) as host:
        yield host


@pytest.fixture(scope="session")
def azurite() -> Iterator[BucketServer]:
    """Azure's emulator."""
    program = real.TOOLS / "azurite" / "node_modules" / ".bin" / "azurite-blob"
    if not program.exists():
        real.absent("azurite", remedy="run make tools")
    with buckets.azurite(program) as server:
        yield server


@pytest.fixture(scope="session")
def fake_gcs() -> Iterator[BucketServer]:
    """Our own server of Google's XML API."""
    with buckets.google_storage() as server:
        yield server


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate authority of ours, ``ca.pem``, and a server's certificate by it."""
    folder = tmp_path_factory.mktemp("tls")
    openssl = real.program("openssl")
    (folder / "names").write_text(
        "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\nauthorityKeyIdentifier=keyid\n"
    )
    for words in (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca.key -out ca.pem -subj /CN=authority"
        " -addext keyUsage=critical,keyCertSign",  # without which Python 3.13 trusts none
        "req -newkey rsa:2048 -nodes -keyout key.pem -out request.pem -subj /CN=server",
        "x509 -req -days 2 -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out cert.pem -extfile names",
        "x509 -req -days -1 -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -out expired.pem -extfile names",
    ):
        subprocess.run([openssl, *words.split()], cwd=folder, capture_output=True, check=True)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    return DirectoryStore(tmp_path)


@pytest.fixture
def tls(authority: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "cert.pem", authority / "key.pem")
    return context


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Hide what this machine says of clouds, networks and logins, and the home of whoever runs the tests."""
    parts = ("AWS_", "AZURE_", "GOOGLE_", "CLOUDSDK_", "STORAGE_EMULATOR", "CA_BUNDLE", "SSL_CERT", "_PROXY")
    for name in os.environ:
        if any(part in name.upper() for part in parts):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    return monkeypatch


def _opening(scheme: str, server: str) -> Any:
    """Return the fixture that opens stores on a server."""

    @pytest.fixture
    def opens(request: pytest.FixtureRequest, clean_environment: pytest.MonkeyPatch) -> Opener:
        return opener(scheme, request.getfixturevalue(server), clean_environment)

    return opens


on_versitygw, on_rclone = _opening("s3", "versitygw"), _opening("s3", "rclone")
on_azurite, on_gcs = _opening("az", "azurite"), _opening("gs", "fake_gcs")
