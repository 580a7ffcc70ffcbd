"""A registry of our own, in memory, with what registries do in the world: each quirk is a field."""

import json
import re
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias
from urllib.parse import parse_qs, urlsplit

import real
from packyard.core.digest import Digest

_PATH = re.compile(r"/v2/(?:(?P<repository>.+)/(?P<kind>manifests|blobs|tags|referrers)/(?P<name>.+))?")
#: A status, a body and headers; the query of a request.
Reply: TypeAlias = tuple[int, bytes, dict[str, str]]
Asked: TypeAlias = dict[str, list[str]]
EMPTY = "application/vnd.oci.empty.v1+json"


@dataclass
class Registry:
    """What it has, what was asked of it, and how it behaves."""

    port: int = 0
    #: Gives tokens: to these users and passwords, and, if it is public, to anybody.
    tokens: bool = False
    users: frozenset[str] = frozenset({"ada:s3cr:t"})
    public: bool = True
    refuses: int = 401  # what it says to a login that it does not know
    hides: int = 0  # what it says of a repository without manifests, in place of 404
    page: int = 1000  # tags in a page
    has_referrers: bool = True
    types: bool = True  # whether its lists of referrers have the types and annotations of artifacts
    deletes: bool = True
    is_mutable: bool = True  # whether a tag may be moved
    mounts: bool = False  # a blob that it has in another repository needs no upload
    busy: int = 0  # requests that are answered by 429 first
    manifests: dict[tuple[str, str], tuple[str, bytes]] = field(default_factory=dict)
    blobs: dict[tuple[str, str], bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"oci://{self.host}/zoo/models"

    def tags(self, repository: str) -> list[str]:
        return sorted(name for at, name in self.manifests if at == f"zoo/models/{repository}" and ":" not in name)

    def manifest(self, repository: str, name: str) -> bytes:
        return self.manifests[f"zoo/models/{repository}", name][1]


@contextmanager
def running(registry: Registry) -> Iterator[Registry]:
    """Answer as long as the block runs."""

    class Handler(_Handler):
        its = registry

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, registry.port = True, server.server_port
    with real.answering(server):
        yield registry


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body are sent together
    its: Registry

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.its.lock:
            status, data, headers = self._answer(body)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815  # as the standard library calls them

    def _answer(self, body: bytes) -> Reply:
        its, url = self.its, urlsplit(self.path)
        asked, authorization = parse_qs(url.query), self.headers.get("Authorization", "")
        its.requests.append(f"{self.command} {self.path}")
        if its.busy:
            its.busy -= 1
            return 429, b"", {"Retry-After": "0"}
        if url.path == "/token":
            return self._token(authorization, asked)
        match = _PATH.fullmatch(url.path)
        if match is None:
            return 404, b"", {}
        repository, kind, name = match["repository"], match["kind"], match["name"]
        if its.tokens and (wanted := self._wanted(repository, authorization)):
            return wanted
        if repository is None:
            return 200, b"{}", {}
        is_made = any(at == repository for at, _ in its.manifests)
        if its.hides and self.command in ("GET", "HEAD") and kind in ("manifests", "tags") and not is_made:
            return its.hides, _error("DENIED", "requested access to the resource is denied"), {}
        answers = {"manifests": self._manifest, "blobs": self._blob, "tags": self._tags, "referrers": self._referrers}
        return answers[kind](repository, name, body, asked)

    def _token(self, authorization: str, asked: Asked) -> Reply:
        users = {"Basic " + b64encode(user.encode()).decode() for user in self.its.users}
        is_known = authorization in users
        if not is_known and (authorization or not self.its.public):
            return self.its.refuses, _error("DENIED", "the login has expired"), {}
        scope = asked.get("scope", [""])[0]
        token = f"{'push' if is_known and 'push' in scope else 'pull'}:{scope.split(':')[1] if scope else ''}"
        return 200, json.dumps({"token": token}).encode(), {}

    def _wanted(self, repository: str | None, authorization: str) -> Reply | None:
        actions = ("pull", "push") if self.command in ("GET", "HEAD") else ("push",)
        if authorization in {f"Bearer {action}:{repository}" for action in actions}:
            return None
        scope = f'scope="repository:{repository}:{"pull" if len(actions) == 2 else "pull,push"}"'
        challenge = f'Bearer realm="http://{self.its.host}/token",service="own",{scope}'
        return 401, _error("UNAUTHORIZED", "authentication required"), {"WWW-Authenticate": challenge}

    def _manifest(self, repository: str, name: str, body: bytes, _: Asked) -> Reply:
        its, there = self.its, self.its.manifests.get((repository, name))
        if self.command == "PUT":
            if there and there[1] != body and ":" not in name and not its.is_mutable:
                return 409, _error("TAG_INVALID", "tags are immutable"), {}
            for mark in (name, Digest.of(body)):
                its.manifests[repository, mark] = (self.headers.get("Content-Type", ""), body)
            subject = json.loads(body).get("subject", {}).get("digest", "")
            return 201, b"", {"OCI-Subject": subject} if subject and its.has_referrers else {}
        if there is None:
            return 404, _error("MANIFEST_UNKNOWN", "no such manifest"), {}
        if self.command == "DELETE":
            if not its.deletes:
                return 405, _error("UNSUPPORTED", "nothing is deleted"), {}
            for at in [at for at, (_, data) in its.manifests.items() if at[0] == repository and data == there[1]]:
                del its.manifests[at]
            return 202, b"", {}
        return 200, there[1], {"Content-Type": there[0]}

    def _blob(self, repository: str, name: str, body: bytes, asked: Asked) -> Reply:
        its = self.its
        if self.command == "POST":
            digest = asked.get("mount", [""])[0]
            elsewhere = next((data for (_, each), data in its.blobs.items() if each == digest), None)
            if its.mounts and elsewhere is not None:
                its.blobs[repository, digest] = elsewhere
                return 201, b"", {}
            return 202, b"", {"Location": f"/v2/{repository}/blobs/uploads/1?state=x"}
        if self.command == "PUT":
            if asked["digest"][0] != Digest.of(body):
                return 400, _error("DIGEST_INVALID", "another digest"), {}
            its.blobs[repository, Digest.of(body)] = body
            return 201, b"", {}
        data = its.blobs.get((repository, name))
        return (404, b"", {}) if data is None else (200, data, {})

    def _tags(self, repository: str, _: str, __: bytes, asked: Asked) -> Reply:
        its = self.its
        every = sorted(name for at, name in its.manifests if at == repository and ":" not in name)
        if not every:
            return 404, _error("NAME_UNKNOWN", "no such repository"), {}
        rest = [tag for tag in every if tag > asked.get("last", [""])[0]]
        page = rest[: its.page]
        link = f'</v2/{repository}/tags/list?last={page[-1]}>; rel="next"' if len(rest) > len(page) else ""
        body = json.dumps({"name": repository, "tags": page}).encode()
        return 200, body, {"Link": link} if link else {}

    def _referrers(self, repository: str, name: str, _: bytes, __: Asked) -> Reply:
        if not self.its.has_referrers:
            return 404, b"", {}
        listed = []
        for (at, mark), (media_type, data) in self.its.manifests.items():
            document = json.loads(data)
            if at == repository and ":" in mark and document.get("subject", {}).get("digest") == name:
                about = {"artifactType": document["artifactType"], "annotations": document.get("annotations", {})}
                about = about if self.its.types else {"artifactType": EMPTY}
                listed.append({"mediaType": media_type, "digest": mark, "size": len(data), **about})
        return 200, json.dumps({"schemaVersion": 2, "manifests": listed}).encode(), {}


def _error(code: str, message: str) -> bytes:
    return json.dumps({"errors": [{"code": code, "message": message}]}).encode()
