"""Lets requests through to OpenAI's protocol, health and metrics alone, for the option api-key.

vLLM asks for a key below /v1 only, and answers elsewhere with the same model (/invocations). Whom it lets in may load
adapters from any path.
"""

OPEN = {"/health", "/metrics"}
CLOSED = {"/v1/load_lora_adapter", "/v1/unload_lora_adapter"}


class OnlyV1:
    """A layer around vLLM's server, as its --middleware takes one."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        path = scope.get("path", "")
        if scope["type"] == "lifespan" or path in OPEN or (path.startswith("/v1/") and path not in CLOSED):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
