"""Serving a channel and its page on this machine alone, for a look."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from packyard.core.errors import InputError, UnavailableError
from packyard.sharing.stores.content import cache_control, content_type
from packyard.sharing.stores.store import MissingStoreError, NotFoundError, Store

HOST = "127.0.0.1"


def server(store: Store, pages: Mapping[str, bytes], port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a page and of the channel that it reads, which listens; 0 is any free port."""
    return ThreadingHTTPServer((HOST, port), partial(_Handler, store, pages))


class _Handler(BaseHTTPRequestHandler):
    server: ThreadingHTTPServer
    protocol_version = "HTTP/1.1"

    def __init__(self, store: Store, pages: Mapping[str, bytes], *arguments: Any) -> None:
        self._store, self._pages = store, pages
        super().__init__(*arguments)

    def log_message(self, *_: object) -> None:
        """Say nothing of requests."""

    def do_GET(self) -> None:  # as http.server calls it
        """Answer with a file of the page, or an object of the channel."""
        with suppress(ConnectionError):  # the reader went on
            self._answer(*self._found(unquote(urlsplit(self.path).path).lstrip("/")))

    def _found(self, key: str) -> tuple[int, str, bytes]:
        # Another host's name that leads here is a page that wants to read a channel of ours.
        if self.headers.get("Host", "").rpartition(":")[0] not in (HOST, "localhost"):
            return 403, "", b"open the address that packyard printed\n"
        key = key or "index.html"
        if key in self._pages:
            return 200, key, self._pages[key]
        try:
            return 200, key, self._store.get(key)
        except (NotFoundError, MissingStoreError, InputError) as error:
            return 404, "", f"{error}\n".encode()
        except UnavailableError as error:
            return 502, "", f"{error}\n".encode()

    def _answer(self, status: int, key: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type(key) if key else "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", cache_control(key) if status == 200 else "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)
