"""A small Hugging Face: a repository at a commit, whose files it sends, breaks off or spoils as a test says.

It answers as the Hub does what ``hf download`` and ``hf cache verify`` ask: small files by a redirection to another
path of the same host, large ones by one to another host, and a repository that was renamed by one to its new name.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import real
from workload.models import MODEL

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_HEX = "[0-9a-f]{40}"
_PAGE = 2  # entries of a list


class Hub(ThreadingHTTPServer):
    """Serves one repository; ``asked`` has the paths and ranges that were asked for."""

    def __init__(self, name: str, files: dict[str, bytes], address: tuple[str, int] = ("127.0.0.1", 0)) -> None:
        super().__init__(address, _Handler)
        self.name = name
        self.files = files
        self.sent = dict(files)  # what is sent, where it is not what the list says
        self.sizes: dict[str, int] = {}  # what the list says of them, where it is wrong
        self.statuses: dict[str, list[int]] = {}  # with which a file is refused, one after the other
        self.breaks: dict[str, int] = {}  # after so many bytes of each answer
        self.token = ""
        self.asked: list[tuple[str, str]] = []
        self.authorized: list[str] = []
        self.elsewhere = ""  # the address of another host that has the files, and the rest of the list

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serve(name: str, files: dict[str, bytes]) -> Iterator[Hub]:
    hub = Hub(name, dict(files))
    with real.answering(hub):
        yield hub


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        hub, url = self.server, urlsplit(self.path)
        path = unquote(url.path)
        hub.authorized.append(self.headers.get("Authorization", ""))
        if hub.token and not path.startswith("/cdn/") and hub.authorized[-1] != f"Bearer {hub.token}":
            self._answer(401)
        elif asked := re.fullmatch(rf"/api/models/{hub.name}/revision/(main|{_HEX})", path):
            self._answer(200, json.dumps({"sha": COMMIT if asked[1] == "main" else asked[1]}).encode())
        elif re.fullmatch(rf"/api/models/{hub.name}/tree/{_HEX}", path):
            first = int(parse_qs(url.query).get("cursor", ["0"])[0])
            entries = [_entry(name, data, hub.sizes) for name, data in hub.files.items()]
            more = f'<http://{self.headers["Host"]}{path}?cursor={first + _PAGE}>; rel="next"'
            headers = {"Link": more} if first + _PAGE < len(entries) else {}
            self._answer(200, json.dumps(entries[first : first + _PAGE]).encode(), headers)
        elif asked := re.fullmatch(rf"(/{hub.name}/resolve/{_HEX}|/cdn)/(.+)", path):
            if hub.elsewhere and asked[1] != "/cdn":
                self._answer(302, headers={"Location": f"{hub.elsewhere}/cdn/{asked[2]}"})
            else:
                self._send(asked[2], self.headers.get("Range", ""))
        else:
            self._answer(404)

    def _send(self, path: str, asked: str) -> None:
        hub = self.server
        hub.asked.append((path, asked))
        if statuses := hub.statuses.get(path):
            self._answer(statuses.pop(0))
            return
        data, first = hub.sent[path], int(asked.removeprefix("bytes=").rstrip("-") or 0)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(data) - first))
        self.end_headers()
        self.wfile.write(data[first : first + hub.breaks.get(path, len(data))])

    def _answer(self, status: int, data: bytes = b"{}", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _entry(path: str, data: bytes, sizes: dict[str, int]) -> dict[str, object]:
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    large = {"lfs": {"oid": hashlib.sha256(data).hexdigest(), "size": len(data)}} if path.endswith("tensors") else {}
    return {"type": "file", "path": path, "size": sizes.get(path, len(data)), "oid": blob, **large}


if __name__ == "__main__":  # on the node of a test: python -m workload.hub ADDRESS PORT NAME
    Hub(sys.argv[3], dict(MODEL), (sys.argv[1], int(sys.argv[2]))).serve_forever()
