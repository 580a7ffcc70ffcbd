"""Programs that packages bring for servers: clients, and the layer that keeps all but OpenAI's protocol from one."""

import asyncio
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import real
from readmes import modelserver, openaiserver

pytestmark = pytest.mark.nightly


def run(words: Sequence[str | Path], **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=variables, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (None, ["-b", "2", "-n", "2", "-w", "0"], "accuracy 0.7500 of 4 rows\n"),
        ("", [], "no rows"),
        ("1,2\n", [], "2 columns, not 40"),
        (None, ["-m", "other"], 'answers 404: {"error": "Servable not found for request"}'),
        (None, ["-b", "0"], "at least 1"),
    ],
)
def test_the_client_of_wide_and_deep_tells_how_often_the_model_is_right_or_what_is_wrong(
    tmp_path: Path, text: str | None, words: list[str], said: str
) -> None:
    rows = [(1, "0.9"), (0, "0.9"), (0, ""), (0, "0.1"), (1, "0.8")]
    lines = [",".join([str(label), first, *["0.25"] * 12, *["68fd1e64"] * 26]) + "\n" for label, first in rows]
    (tmp_path / "eval.csv").write_text("".join(lines) if text is None else text)
    client = real.REPOSITORY / "packages/wide-deep-large-ds-fp32-training-k8s/files/predict.py"
    with modelserver.serve("wide-deep-large-ds-fp32-training") as server:
        address = f"127.0.0.1:{server.server_address[1]}"
        done = run([sys.executable, "-I", client, "-s", address, "-d", tmp_path / "eval.csv", *words])
    assert said in (done.stderr or done.stdout)
    assert (done.returncode == 0) == said.startswith("accuracy")
    assert "Traceback" not in done.stderr


def test_the_smoke_test_asks_each_model_with_the_key_and_names_servers_that_do_not_answer() -> None:
    program = real.REPOSITORY / "bases/smoke-test/smoke_test.py"
    values = {"SERVER": "127.0.0.1", "QUESTION": "Hello!", "WAIT_SECONDS": "0"}
    values |= {"http_proxy": "http://127.0.0.1:1", "no_proxy": "10.0.0.0/8"}  # as pods of a closed network have it
    flags = ["--served-model-name=Team/Mine", "--enable-lora", "--lora-modules=tuned=/data/adapters/tuned"]
    with openaiserver.serve(["vllm", "serve", "/data/models/mine", *flags], key="secret") as server:
        port = str(server.server_port)
        done = run([sys.executable, program], **values, SERVER_PORT=port, API_KEY="secret")
        refused = run([sys.executable, program], **values, SERVER_PORT=port)
    assert (done.returncode, done.stdout) == (0, "Team/Mine: 'Hello!'\ntuned: 'Hello!'\n"), done.stderr
    assert (refused.returncode, "put the servers' key into the Secret api-key" in refused.stderr) == (1, True)
    silent = run([sys.executable, program], **values, SERVER_PORT="9")
    assert (silent.returncode, "http://127.0.0.1:9 does not answer" in silent.stderr) == (1, True)


#: The layer that the option api-key puts around vLLM.
_LAYER = runpy.run_path(str(real.REPOSITORY / "bases/vllm/only_v1.py"))["OnlyV1"]


def answered(path: str, kind: str = "http") -> Any:
    """Return what is sent first for a request, which is the word app where it reaches the server."""
    sent: list[object] = []

    async def app(*_: object) -> None:
        sent.append("app")

    async def send(message: object) -> None:
        sent.append(message)

    asyncio.run(_LAYER(app)({"type": kind, "path": path}, None, send))
    return sent[0]


def test_only_openais_protocol_health_and_metrics_reach_a_server_with_a_key() -> None:
    reached = ("/v1/models", "/v1/chat/completions", "/v1/responses/x", "/health", "/metrics")
    assert {*map(answered, reached), answered("", "lifespan"), answered("/v1/realtime", "websocket")} == {"app"}
    refused = ["/invocations", "/load", "/", "", "/v1", "/v10/models", "//v1/models", "/health/x", "/V1/models"]
    refused += ["/v1/load_lora_adapter", "/v1/unload_lora_adapter", "/openapi.json"]
    assert [path for path in refused if answered(path)["status"] != 404] == []
    assert answered("/other", "websocket") == {"type": "websocket.close", "code": 1008}
