"""Web servers that answer whatever a test wants, however slowly, and without end."""

import contextlib
import itertools
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

Script = Callable[[bytes], Iterable[bytes]]
"""From a request, whole with its empty line and its body, to the pieces that are sent for it."""

PAUSE = 0.05  # seconds between the pieces of a server that is slow


@dataclass
class Server:
    """Where it listens, what was asked of it, and how many bytes it got rid of."""

    port: int
    scheme: str = "http"
    requests: list[bytes] = field(default_factory=list)
    sent: int = 0

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"


@contextmanager
def answering(script: Script, *, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Answer every connection by a script as long as the block runs."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Server(listening.getsockname()[1], "https" if tls else "http")

        def talk(connection: socket.socket) -> None:
            with contextlib.suppress(OSError), connection if tls is None else greeted(connection, tls) as connection:
                connection.settimeout(10)
                request = b""
                while b"\r\n\r\n" not in request:
                    if not (piece := connection.recv(65536)):
                        return
                    request += piece
                head, _, body = request.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)^content-length: *([0-9]+)", head, re.MULTILINE)
                while length and len(body) < int(length[1]) and (piece := connection.recv(65536)):
                    request, body = request + piece, body + piece
                server.requests.append(request)
                for piece in script(request):
                    if done.is_set():
                        return
                    connection.sendall(piece)
                    server.sent += len(piece)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=talk, args=(listening.accept()[0],), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            done.set()
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let a call take no longer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("packyard.sharing.stores.store.PATIENCE", seconds)
        yield


def greeted(connection: socket.socket, tls: ssl.SSLContext) -> socket.socket:
    """Return the connection with TLS."""
    try:
        connection.settimeout(10)
        return tls.wrap_socket(connection, server_side=True)
    except OSError:
        connection.close()
        raise


def answer(body: bytes = b"", *headers: bytes, status: bytes = b"200 OK") -> bytes:
    """Return a whole answer."""
    lines = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), b"Connection: close", *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def redirect(location: str) -> bytes:
    """Return an answer that leads elsewhere."""
    return answer(b"", b"Location: " + location.encode(), status=b"302 Found")


def slowly(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Send one piece after another, each after a pause."""
    for piece in pieces:
        yield piece
        time.sleep(PAUSE)


def for_ever(first: bytes, piece: bytes, *, slow: bool) -> Script:
    """Send something, and then the same piece for ever."""

    def script(_: bytes) -> Iterable[bytes]:
        pieces = itertools.chain([first], itertools.repeat(piece))
        return slowly(pieces) if slow else pieces

    return script


def files(content: dict[str, bytes]) -> Script:
    """Serve files by their path."""

    def script(request: bytes) -> Iterable[bytes]:
        path = request.split(b" ", 2)[1].decode()
        return [answer(content[path]) if path in content else answer(b"", status=b"404 Not Found")]

    return script
