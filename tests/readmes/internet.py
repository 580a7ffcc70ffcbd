"""The hosts that READMEs name, on this machine: an HTTP proxy that answers for them, with a certificate of their names.

What it has is given by URL; anything else it answers with 404. What is uploaded is kept.
"""

import ssl
import subprocess
from collections.abc import Mapping
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import real

#: The variables that name authorities to trust, for curl, wget, aws and packyard.
_AUTHORITIES = ("SSL_CERT_FILE", "AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")


class Internet(ThreadingHTTPServer):
    """The proxy; ``environment`` makes curl, wget, kubectl and aws use it, and trust it."""

    def __init__(self, folder: Path, content: Mapping[str, bytes], hosts: set[str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = content
        self.uploads: dict[str, bytes] = {}
        names = {name for url in content for name in [urlsplit(url).hostname or ""]} | hosts
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        words += ["-subj", "/CN=the hosts of READMEs", "-days", "2", "-keyout", str(key), "-out", str(certificate)]
        words += ["-addext", "subjectAltName=" + ",".join(f"DNS:{name}" for name in sorted(names))]
        subprocess.run([real.program("openssl"), *words], check=True, capture_output=True)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate, key)
        (folder / "wgetrc").write_text(f"ca_certificate = {certificate}\n")
        address = f"http://127.0.0.1:{self.server_port}"
        self.environment = {
            **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), address),
            **dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost"),
            **dict.fromkeys(_AUTHORITIES, str(certificate)),
            "WGETRC": str(folder / "wgetrc"),
        }


def internet(folder: Path, content: Mapping[str, bytes], hosts: set[str]) -> AbstractContextManager[Internet]:
    """Answer as long as the block runs, for the hosts of ``content`` and for others, which take uploads."""
    folder.mkdir()
    return real.answering(Internet(folder, content, hosts))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Internet
    host = ""

    def do_CONNECT(self) -> None:
        """Be the host that the client wants a tunnel to."""
        self.send_response(200)
        self.end_headers()
        self.close_connection = False  # for those who speak HTTP/1.0 until they are there
        self.host = f"https://{self.path.removesuffix(':443')}"
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", buffering=0)

    def finish(self) -> None:
        super().finish()
        self.connection.close()

    def do_GET(self) -> None:
        found = self.server.content.get(self.host + self.path)
        self._answer(404 if found is None else 200, found or b"")

    def do_PUT(self) -> None:
        self.server.uploads[self.host + self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
