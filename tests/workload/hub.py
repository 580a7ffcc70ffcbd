"""A small Hugging Face: a repository at a commit, whose files it sends, or spoils as a test says.

It answers as the Hub does what huggingface_hub asks: HEAD before GET, small files by a redirection to another path of
the same host, large ones by one to another host, and the former name of a repository by one to its name of today.
"""

import hashlib
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_HEX = "[0-9a-f]{40}"


class Hub(ThreadingHTTPServer):
    """Serves one repository; ``asked`` has the paths of the files that were sent."""

    def __init__(self, name: str, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.name = name
        self.former_name = "nobody/nothing"
        self.files = files
        self.sent = dict(files)  # what is sent, where it is not what the list says
        self.token = ""
        self.asked: list[str] = []
        self.authorized: list[str] = []
        self.elsewhere = self.address  # of the host that sends large files

    @property
    def address(self) -> str:
        return f"http://{self.server_address[0]}:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        hub, url = self.server, urlsplit(self.path)
        path = unquote(url.path)
        hub.authorized.append(self.headers.get("Authorization", ""))
        if asked := re.fullmatch(rf"/cdn/(.+)|/cache/{hub.name}/{_HEX}/(.+)", path):
            self._send(asked[1] or asked[2])
        elif hub.token and hub.authorized[-1] != f"Bearer {hub.token}":
            self._answer(401, headers={"X-Error-Code": "GatedRepo"})
        elif f"/{hub.former_name}/" in path:
            self._answer(307, headers={"Location": self.path.replace(hub.former_name, hub.name)})
        elif asked := re.fullmatch(rf"/api/models/{hub.name}/revision/(main|{_HEX})", path):
            about = {"id": hub.name, "sha": COMMIT if asked[1] == "main" else asked[1]}
            self._answer(200, json.dumps({**about, "siblings": [{"rfilename": name} for name in hub.files]}).encode())
        elif re.fullmatch(rf"/api/models/{hub.name}/tree/{_HEX}", path):
            self._answer(200, json.dumps([_entry(name, data) for name, data in hub.files.items()]).encode())
        elif asked := re.fullmatch(rf"/{hub.name}/resolve/{_HEX}/(.+)", path):
            self._redirect(asked[1])
        else:
            self._answer(404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _redirect(self, path: str) -> None:
        hub = self.server
        data = hub.files[path]
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{_blob(data)}"'}
        if path.endswith("tensors"):
            linked = {"X-Linked-Size": str(len(data)), "X-Linked-ETag": f'"{hashlib.sha256(data).hexdigest()}"'}
            self._answer(302, headers={**headers, **linked, "Location": f"{hub.elsewhere}/cdn/{path}"})
        else:
            self._answer(307, headers={**headers, "Location": f"/cache/{hub.name}/{COMMIT}/{path}"})

    def _send(self, path: str) -> None:
        if self.command == "GET":
            self.server.asked.append(path)
        headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{_blob(self.server.files[path])}"'}
        self._answer(200, self.server.sent[path], headers)

    def _answer(self, status: int, data: bytes = b"{}", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _entry(path: str, data: bytes) -> dict[str, object]:
    about = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
    large = {"lfs": about} if path.endswith("tensors") else {}
    return {"type": "file", "path": path, "size": len(data), "oid": _blob(data), **large}
