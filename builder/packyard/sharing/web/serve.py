"""Serving the pages of a channel on this machine alone, for a look."""

import io
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from packyard.sharing.web import page

HOST = "127.0.0.1"


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of the files of a page in a folder, which listens; 0 is any free port."""
    _Handler.error_message_format = (folder / page.MISSING).read_text().replace("%", "%%")
    return ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(folder)))


class _Handler(SimpleHTTPRequestHandler):
    server: ThreadingHTTPServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing of requests."""

    def do_GET(self) -> None:  # as http.server calls it
        """Answer with a file of the page."""
        # Another host's name that leads here is a page that wants to read a channel of ours. Port 80 is not named.
        if self.headers.get("Host", "").partition(":")[0] not in (HOST, "localhost"):
            self.send_error(403, "open the address that packyard printed")
            return
        super().do_GET()

    def list_directory(self, path: object) -> io.BytesIO | None:  # noqa: ARG002  # as http.server calls it
        """Refuse: folders have no pages."""
        self.send_error(404)
        return None
