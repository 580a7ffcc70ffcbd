"""A server that takes vLLM's flags and answers as vLLM does: OpenAI's protocol, health, and metrics of its requests.

Its answers repeat the question.
"""

import argparse
import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import real


class OpenAIServer(ThreadingHTTPServer):
    """Serves one model, and its adapters; ``requests`` are those for answers."""

    def __init__(self, words: Sequence[str], key: str = "") -> None:
        self.flags = parse(words)
        self.models = [self.flags.served_model_name]
        if self.flags.lora_modules:
            self.models.append(self.flags.lora_modules.partition("=")[0])
        self.key = key
        self.requests: list[dict[str, object]] = []
        super().__init__(("127.0.0.1", 0), _Handler)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Read the command line of a container, vllm serve MODEL and its flags, of which tests/models knows all."""
    assert words[:2] == ["vllm", "serve"], words
    parser = argparse.ArgumentParser()
    for flag, kind in (
        ("--port", int),
        ("--served-model-name", str),
        ("--max-model-len", int),
        ("--lora-modules", str),
    ):
        parser.add_argument(flag, type=kind)
    return parser.parse_known_args(words)[0]


def serve(words: Sequence[str], key: str = "") -> AbstractContextManager[OpenAIServer]:
    """Have a server on a free port of this machine, whatever its command says."""
    return real.answering(OpenAIServer(words, key))


class _Handler(BaseHTTPRequestHandler):
    server: OpenAIServer

    def do_GET(self) -> None:
        if self.path == "/health":
            self._answer(200, b"")
        elif self.path == "/metrics":
            labels = f'{{model_name="{self.server.models[0]}"}}'
            names = ("vllm:num_requests_running", "vllm:num_requests_waiting")
            lines = [f"# TYPE {name} gauge\n{name}{labels} 0.0\n" for name in names]
            self._answer(200, "".join(lines).encode())
        elif self.path == "/v1/models" and self._may():
            longest = self.server.flags.max_model_len
            models = [{"id": name, "object": "model", "max_model_len": longest} for name in self.server.models]
            self._answer(200, json.dumps({"object": "list", "data": models}).encode())
        elif self.path != "/v1/models":
            self._refuse(404, "Not Found")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            self._refuse(404, "Not Found")
        elif not self._may():
            return
        elif body["model"] not in self.server.models:
            self._refuse(404, f"The model `{body['model']}` does not exist.")
        else:
            self.server.requests.append(body)
            message = {"role": "assistant", "content": body["messages"][-1]["content"]}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            self._answer(200, json.dumps({"object": "chat.completion", "choices": choices}).encode())

    def _may(self) -> bool:
        may = not self.server.key or self.headers.get("Authorization") == f"Bearer {self.server.key}"
        if not may:
            self._answer(401, b'{"error": "Unauthorized"}')
        return may

    def _refuse(self, status: int, message: str) -> None:
        self._answer(status, json.dumps({"error": {"message": message, "code": status}}).encode())

    def _answer(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
