"""The layer that the option api-key puts around vLLM: which paths it lets through."""

from __future__ import annotations

import asyncio
import runpy

import pytest

import real

_LAYER = runpy.run_path(str(real.REPOSITORY / "bases/vllm/only_v1.py"))["OnlyV1"]


def answers(path: str, kind: str = "http") -> list[object]:
    """Return what is sent for a request, which is the word app where it reaches the server."""
    sent: list[object] = []

    async def app(*_: object) -> None:
        sent.append("app")

    async def send(message: object) -> None:
        sent.append(message)

    asyncio.run(_LAYER(app)({"type": kind, "path": path}, None, send))
    return sent


@pytest.mark.parametrize("path", ["/v1/models", "/v1/chat/completions", "/v1/responses/x", "/health", "/metrics"])
def test_openais_protocol_health_and_metrics_reach_the_server(path: str) -> None:
    assert answers(path) == ["app"]


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/invocations",
            "/tokenize",
            "/load",
            "/",
            "",
            "/v1",
            "/v10/models",
            "//v1/models",
            "/health/x",
            "/V1/models",
            "/ping",
            "/version",
        ),
        *("/v1/load_lora_adapter", "/v1/unload_lora_adapter", "/collective_rpc", "/docs", "/openapi.json"),
    ],
)
def test_any_other_path_is_not_there(path: str) -> None:
    first, *_ = answers(path)
    assert isinstance(first, dict)
    assert first["status"] == 404


def test_a_web_socket_elsewhere_is_closed_and_the_start_of_the_server_is_let_through() -> None:
    assert answers("/other", "websocket") == [{"type": "websocket.close", "code": 1008}]
    assert answers("/v1/realtime", "websocket") == ["app"]
    assert answers("", "lifespan") == ["app"]
