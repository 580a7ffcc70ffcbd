"""A server that takes vLLM's flags and answers as vLLM does: OpenAI's protocol, health, and metrics of its requests.

Its answers repeat the question.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

#: Arguments with a value, of which the server knows what it is for; another one is refused, as vLLM would.
_FLAGS = {
    "--port": int,
    "--served-model-name": str,
    "--max-model-len": int,
    "--tensor-parallel-size": int,
    "--gpu-memory-utilization": float,
    "--shutdown-timeout": int,
    "--data-parallel-size": int,
    "--api-server-count": int,
    "--lora-modules": str,
    "--max-lora-rank": int,
    "--max-loras": int,
    "--middleware": str,
    "--dtype": str,
    "--chat-template": str,
    "--reasoning-parser": str,
    "--tool-call-parser": str,
}


class OpenAIServer(ThreadingHTTPServer):
    """Serves one model, and its adapters; ``requests`` are those for answers."""

    def __init__(self, words: Sequence[str], key: str = "", address: tuple[str, int] | None = None) -> None:
        self.flags = parse(words)
        self.models = [self.flags.served_model_name]
        if self.flags.enable_lora and self.flags.lora_modules:
            self.models.append(self.flags.lora_modules.partition("=")[0])
        self.key = key
        self.requests: list[dict[str, object]] = []
        super().__init__(address or ("", self.flags.port), _Handler)


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Read the command line of a container: vllm serve MODEL and its flags."""
    parser = argparse.ArgumentParser(prog="vllm serve", exit_on_error=False)
    parser.add_argument("model")
    for flag in (
        "--enable-lora",
        "--enable-expert-parallel",
        "--trust-remote-code",
        "--enforce-eager",
        "--enable-auto-tool-choice",
    ):
        parser.add_argument(flag, action="store_true")
    for flag, kind in _FLAGS.items():
        parser.add_argument(flag, type=kind)
    assert words[:2] == ["vllm", "serve"], words
    return parser.parse_args(words[2:])


@contextmanager
def serve(words: Sequence[str], key: str = "") -> Iterator[OpenAIServer]:
    """Have a server on a free port of this machine, whatever its command says."""
    import real  # which a program of an image cannot

    server = OpenAIServer(words, key, ("127.0.0.1", 0))
    with real.answering(server):
        yield server


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


def load_adapter(folder: Path, longest: int) -> None:
    """Read an adapter in PEFT's layout as vLLM does; one that it cannot serve fails."""
    config = json.loads((folder / "adapter_config.json").read_text())
    assert (config["peft_type"], config["r"] <= longest) == ("LORA", True), config
    data = (folder / "adapter_model.safetensors").read_bytes()
    length = int.from_bytes(data[:8], "little")
    tensors = {name: each for name, each in json.loads(data[8 : 8 + length]).items() if name != "__metadata__"}
    assert max(tensor["data_offsets"][1] for tensor in tensors.values()) == len(data) - 8 - length
    sides: dict[str, str] = {}
    for name, each in sorted(tensors.items()):
        found = re.fullmatch(r"base_model\.model\.(.+)\.lora_([AB])\.weight", name)
        assert found, name
        assert each["shape"]["AB".index(found[2])] == config["r"], each
        sides[found[1]] = sides.get(found[1], "") + found[2]
    assert set(sides.values()) == {"AB"}, sides


def main() -> None:
    """Be the program vllm of an image."""
    words = ["vllm", *sys.argv[1:]]
    print(*words, flush=True)
    flags = parse(words)
    if flags.lora_modules:
        load_adapter(Path(flags.lora_modules.partition("=")[2]), flags.max_lora_rank)
    OpenAIServer(words, os.environ.get("VLLM_API_KEY", "")).serve_forever()


if __name__ == "__main__":
    main()
