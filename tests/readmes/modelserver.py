"""A server that answers as TensorFlow Serving does over REST, for two models that are quickly computed.

*Wide and Deep* takes the 39 features by name and says 1 where I1 is over 0.5. *ResNet50* takes images of 224 by 224
pixels, and tells of 1000 classes the one whose number is the first pixel's first value the likeliest.
"""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import real

_CLASSES = 1000
_SIDE = 224


class ModelServer(ThreadingHTTPServer):
    """Serves version 1 of one model on a free port of this machine; ``requests`` are those for predictions."""

    def __init__(self, model: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
        self.requests: list[dict[str, object]] = []


def serve(model: str) -> AbstractContextManager[ModelServer]:
    return real.answering(ModelServer(model))


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_GET(self) -> None:
        address = f"/v1/models/{self.server.model}"
        state = {"version": "1", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
        spec = {"name": self.server.model, "signature_name": "", "version": "1"}
        answers: dict[str, object] = {
            address: {"model_version_status": [state]},
            f"{address}/metadata": {"model_spec": spec, "metadata": {"signature_def": {}}},
        }
        self._answer(*((200, answers[self.path]) if self.path in answers else _ABSENT))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        if self.path != f"/v1/models/{self.server.model}:predict":
            self._answer(*_ABSENT)
            return
        try:
            self._answer(200, {"predictions": [_predict(instance) for instance in body["instances"]]})
        except (KeyError, TypeError, ValueError) as error:
            self._answer(400, {"error": f"{error!r}"})

    def _answer(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


_ABSENT = (404, {"error": "Servable not found for request"})


def _predict(instance: object) -> object:
    if isinstance(instance, dict):
        chance = float(instance["I1"])
        return {"probabilities": [1 - chance, chance]}
    if not isinstance(instance, list) or [*_shapes(instance)] != [[_SIDE, _SIDE, 3]]:
        raise ValueError(f"an image has {_SIDE} rows of {_SIDE} pixels of 3 values")
    return [float(number == int(instance[0][0][0])) for number in range(_CLASSES)]


def _shapes(value: object) -> Iterator[list[int]]:
    """Yield the one shape that all parts of a tensor have; several, or none, where they differ."""
    if not isinstance(value, list):
        yield []
        return
    for shape in {tuple(each) for part in value for each in _shapes(part)}:
        yield [len(value), *shape]
