"""What copies input data from a bucket, and who waits for it.

With the real aws: how it reaches a storage without TLS, or with a certificate of its own.
"""

from __future__ import annotations

import hashlib
import json
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

import real
from catalogue.usecases import PACKAGES
from packyard.writing.source.package import Package, UseCase
from workload import catalogue, controllers, deploy, zoo
from workload.cluster import Cluster
from workload.objects import Object

pytestmark = pytest.mark.nightly

_LISTING = """\
<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix>data/</Prefix>
<KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated><Contents><Key>data/a</Key>
<LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>"x"</ETag><Size>4</Size></Contents></ListBucketResult>
"""


class _Storage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"cats" if urlsplit(self.path).path.endswith("/a") else _LISTING.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(params=["staging/job.yaml", "node-staging/deployment.yaml"], ids=["to a storage", "to a node"])
def command(request: pytest.FixtureRequest) -> list[str]:
    """What runs in the pods."""
    spec = yaml.safe_load((real.REPOSITORY / "bases" / request.param).read_bytes())["spec"]["template"]["spec"]
    (container,) = (each for kind in ("initContainers", "containers") for each in spec.get(kind, []) if _copies(each))
    found: list[str] = container["command"]
    return found


def _copies(container: Object) -> bool:
    return bool(container["name"] == "staging")


@pytest.fixture(params=["http", "https"])
def endpoint(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A storage that speaks the scheme, with a certificate that nobody vouches for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Storage)
    if request.param == "https":
        certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
        words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        words += [
            "-subj",
            "/CN=elsewhere",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-days",
            "2",
            "-keyout",
            str(key),
            "-out",
            str(certificate),
        ]
        subprocess.run([real.program("openssl"), *words], check=True, capture_output=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with real.answering(server):
        yield f"{request.param}://127.0.0.1:{server.server_port}"


def stage(command: list[str], folder: Path, endpoint: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environment |= {
        "PATH": real.path_with("aws", "find"),
        "HOME": str(folder.parent),
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "STAGE_SOURCE": "s3://bucket/data",
        "STAGE_DIR": str(folder),
        "STAGE_TRIES": "1",
        "STAGE_TIMEOUT": "60",
        "S3_ENDPOINT": endpoint,
    }
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("is_known", [False, True], ids=["stranger", "known"])
def test_copies_over_the_url_that_is_set_and_trusts_no_stranger(
    is_known: bool, command: list[str], endpoint: str, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    known = {"AWS_CA_BUNDLE": str(tmp_path / "certificate.pem")} if is_known else {}
    done = stage(command, folder, endpoint, **known)
    if endpoint.startswith("https") and not is_known:
        assert done.returncode == 1
        assert "CERTIFICATE_VERIFY_FAILED" in done.stdout + done.stderr
        assert not (folder / ".staged").exists()
    else:
        assert done.returncode == 0, done.stdout + done.stderr
        assert (folder / "a").read_text() == "cats"
        assert (folder / ".staged").read_text() == "s3://bucket/data\n"


def test_copies_once_and_again_from_elsewhere(command: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / ".staged").write_text("s3://bucket/data\n")
    nowhere = "http://127.0.0.1:9"
    assert stage(command, folder, nowhere).returncode == 0
    (folder / ".staged").write_text("s3://bucket/other\n")
    assert stage(command, folder, nowhere).returncode == 1
    assert not (folder / ".staged").exists()


@pytest.mark.parametrize("is_whole", [False, True])
def test_data_that_brings_checksums_is_checked(is_whole: bool, command: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a").write_text("cats" if is_whole else "bats")
    (folder / "SHA256SUMS").write_text(f"{hashlib.sha256(b'cats').hexdigest()}  a\n")
    aws = tmp_path / "aws"
    aws.write_text("#!/bin/sh\n")
    aws.chmod(0o755)
    words = [*command[:2], f"PATH={tmp_path}:$PATH\n{command[2]}"]
    done = stage(words, folder, "")
    assert (done.returncode == 0) is is_whole, done.stderr
    assert (folder / ".staged").exists() is is_whole


#: Where a run reads a copy on its node, what its pods do first.
WAITING = [
    pytest.param(package, use_case, id=f"{package.name}/{use_case.path}")
    for package in PACKAGES
    for use_case in package.use_cases
    if use_case.path.endswith("/node-local") and use_case.base != "node-staging"
]


@pytest.mark.parametrize(("package", "use_case"), WAITING)
def test_a_run_begins_when_the_copy_of_its_node_is_complete_and_not_before(
    package: Package, use_case: UseCase, new_cluster: Callable[[list[Object]], Cluster]
) -> None:
    objects = catalogue.set_objects(package, use_case)
    reading = [job for job in deploy.jobs_of(new_cluster(objects), objects) if _reads_data(job)]
    assert len(reading) == 2
    for job in reading:
        cluster = new_cluster(objects)  # with a node of its own
        pod = json.loads(json.dumps(controllers.job(job)[0]).replace("sleep 10", "sleep 1"))
        pod["spec"]["containers"][0]["command"] = ["/bin/sh", "-c", "exit 0"]
        with ThreadPoolExecutor() as threads:
            starting = threads.submit(cluster.start, pod)
            time.sleep(2)
            assert not starting.done()
            zoo.store_copies(cluster, [job])
            assert starting.result().wait() == 0


def _reads_data(job: Object) -> bool:
    return any("hostPath" in volume for volume in job["spec"]["template"]["spec"]["volumes"])


@pytest.mark.parametrize(("package", "use_case"), WAITING)
def test_a_run_is_placed_beside_copies_on_nodes_alone(package: Package, use_case: UseCase) -> None:
    """Another staging of the same model fills a claim; its pod stands on a node without a copy."""
    (near,) = {
        json.dumps(terms["labelSelector"]["matchLabels"], sort_keys=True)
        for terms in _find("podAffinity", catalogue.set_objects(package, use_case))
        for terms in terms["requiredDuringSchedulingIgnoredDuringExecution"]
    }
    beside = [
        each.path
        for each in package.use_cases
        for labels in _find("labels", catalogue.set_objects(package, each))
        if json.loads(near).items() <= labels.items()
    ]
    assert set(beside) == {"node-staging/node-local"}


def _find(key: str, value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from ([value[key]] if key in value else [])
        value = list(value.values())
    for each in value if isinstance(value, list) else []:
        yield from _find(key, each)
