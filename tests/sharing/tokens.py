"""A token server for a real registry: who may do what is said by tokens that it signs."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import real

ISSUER, SERVICE = "test-issuer", "test-registry"


@dataclass
class TokenServer:
    """What it was asked, as (authorization, parameters), and how a registry trusts it."""

    address: str
    folder: Path
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @property
    def configuration(self) -> str:
        """What a registry's configuration needs."""
        certificate = self.folder / "cert.pem"
        return (
            f"auth: {{token: {{realm: '{self.address}/token', service: {SERVICE}, issuer: {ISSUER}, "
            f"rootcertbundle: {certificate}}}}}\n"
        )


@contextmanager
def token_server(folder: Path, *, user: str, password: str, identity: str) -> Iterator[TokenServer]:
    """Give whoever asks tokens to pull, and to push those that a user has a password or an identity token for."""
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key.pem -out cert.pem -subj /CN=tokens"
    subprocess.run([real.program("openssl"), *words.split()], cwd=folder, capture_output=True, check=True)
    known = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(urlsplit(self.path).query, self.headers.get("Authorization", ""))

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            self._answer(self.rfile.read(length).decode(), self.headers.get("Authorization", ""))

        def _answer(self, query: str, authorization: str) -> None:
            asked = {name: values[0] for name, values in parse_qs(query).items()}
            server.asked.append((authorization, asked))
            trusted = authorization == known or asked.get("refresh_token") == identity
            if (authorization or "refresh_token" in asked) and not trusted:
                self.send_error(401)
                return
            name = "access_token" if self.command == "POST" else "token"
            body = json.dumps({name: _signed(folder, asked.get("scope", ""), trusted)}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server = TokenServer(f"http://127.0.0.1:{listening.server_port}", folder)
        with real.answering(listening):
            yield server


def _signed(folder: Path, scope: str, trusted: bool) -> str:
    """Return a JSON Web Token for a scope (distribution.github.io/distribution/spec/auth/jwt)."""
    certificate = "".join((folder / "cert.pem").read_text().splitlines()[1:-1])
    kind, _, rest = scope.partition(":")
    name, _, actions = rest.rpartition(":")
    allowed = [action for action in actions.split(",") if trusted or action == "pull"]
    claims = {
        "iss": ISSUER,
        "aud": SERVICE,
        "sub": "",
        "exp": int(time.time()) + 300,
        "nbf": int(time.time()) - 300,
        "iat": int(time.time()),
        "jti": "1",
        "access": [{"type": kind, "name": name, "actions": allowed}] if scope else [],
    }
    head = {"typ": "JWT", "alg": "RS256", "x5c": [certificate]}
    text = ".".join(_url(json.dumps(part).encode()) for part in (head, claims))
    sign = [real.program("openssl"), "dgst", "-sha256", "-sign", folder / "key.pem"]
    signature = subprocess.run(sign, input=text.encode(), capture_output=True, check=True).stdout
    return f"{text}.{_url(signature)}"


def _url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
