"""Serving the pages of a channel on this machine alone, for a look."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from packyard.sharing.stores.content import content_type
from packyard.sharing.web import page

HOST = "127.0.0.1"


def server(files: Mapping[str, bytes], port: int = 0) -> ThreadingHTTPServer:
    """Return a server of the files of a page, which listens; 0 is any free port."""
    return ThreadingHTTPServer((HOST, port), partial(_Handler, files))


class _Handler(BaseHTTPRequestHandler):
    server: ThreadingHTTPServer
    protocol_version = "HTTP/1.1"

    def __init__(self, files: Mapping[str, bytes], *arguments: Any) -> None:
        self._files = files
        super().__init__(*arguments)

    def log_message(self, *_: object) -> None:
        """Say nothing of requests."""

    def do_GET(self) -> None:  # as http.server calls it
        """Answer with a file of the page."""
        # Another host's name that leads here is a page that wants to read a channel of ours. Port 80 is not named.
        if self.headers.get("Host", "").partition(":")[0] not in (HOST, "localhost"):
            self._answer(403, "plain.txt", b"open the address that packyard printed\n")
            return
        key = unquote(urlsplit(self.path).path).lstrip("/") or page.INDEX
        if key in self._files:
            self._answer(200, key, self._files[key])
        else:
            self._answer(404, page.MISSING, self._files[page.MISSING])

    def _answer(self, status: int, key: str, body: bytes) -> None:
        with suppress(ConnectionError):  # the reader went on
            self.send_response(status)
            self.send_header("Content-Type", content_type(key))
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-cache")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            self.wfile.write(body)
