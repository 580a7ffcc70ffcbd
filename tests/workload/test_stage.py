"""The staging script, and the real aws: how it reaches a storage without TLS, or with a certificate of its own."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

import real

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


@pytest.fixture
def script_file(tmp_path: Path) -> Path:
    (operation,) = yaml.safe_load((real.REPOSITORY / "overlays/staging-script/identity.yaml").read_bytes())
    file = tmp_path / "stage.sh"
    file.write_text(operation["value"])
    return file


@pytest.fixture(params=["http", "https"])
def endpoint(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A storage that speaks the scheme, with a certificate that nobody vouches for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Storage)
    if request.param == "https":
        certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
        words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        words += ["-subj", "/CN=elsewhere", "-days", "2", "-keyout", str(key), "-out", str(certificate)]
        subprocess.run(words, check=True, capture_output=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with real.answering(server):
        yield f"{request.param}://127.0.0.1:{server.server_port}"


def stage(
    script_file: Path, folder: Path, endpoint: str, *, https: str, verify: str
) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{Path(real.program('aws')).parent}:/usr/bin:/bin",
        "HOME": str(script_file.parent),
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "STAGE_SOURCE": "s3://bucket/data",
        "STAGE_RETRIES": "0",
        "STAGE_TIMEOUT": "60",
        "STAGE_CHECKSUMS": "",
        "S3_ENDPOINT": urlsplit(endpoint).netloc,
        "S3_USE_HTTPS": https,
        "S3_VERIFY_SSL": verify,
    }
    return subprocess.run(
        ["/bin/sh", script_file, folder], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("verify", ["0", "1"])
def test_stages_over_what_its_variables_say_and_nothing_else(
    verify: str, script_file: Path, endpoint: str, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    https = "1" if endpoint.startswith("https") else "0"
    done = stage(script_file, folder, endpoint, https=https, verify=verify)
    if (https, verify) == ("1", "1"):
        assert done.returncode == 1
        assert "CERTIFICATE_VERIFY_FAILED" in done.stdout + done.stderr
        assert not (folder / ".staged").exists()
    else:
        assert done.returncode == 0, done.stdout + done.stderr
        assert (folder / "a").read_text() == "cats"
        assert (folder / ".staged").read_text() == "s3://bucket/data\n"
