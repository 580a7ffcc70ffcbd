"""The client that the package of Wide and Deep ships, against a server that answers as TensorFlow Serving does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import real
from readmes import modelserver
from readmes.modelserver import ModelServer

CLIENT = real.REPOSITORY / "packages/wide-deep-large-ds-fp32-training-k8s/files/predict.py"
MODEL = "wide-deep-large-ds-fp32-training"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with modelserver.serve(MODEL) as server:
        yield server


def row(label: int, first: str) -> str:
    return ",".join([str(label), first, *["0.25"] * 12, *["68fd1e64"] * 26]) + "\n"


def predict(server: ModelServer, data_file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    address = f"127.0.0.1:{server.server_address[1]}"
    command = [sys.executable, "-I", CLIENT, "-s", address, "-d", data_file, *words]
    return subprocess.run(command, capture_output=True, text=True)


def test_tells_how_often_the_model_is_right(server: ModelServer, tmp_path: Path) -> None:
    data_file = tmp_path / "eval.csv"
    data_file.write_text(row(1, "0.9") + row(0, "0.9") + row(0, "") + row(0, "0.1") + row(1, "0.8"))
    done = predict(server, data_file, "-b", "2", "-n", "2", "-w", "0")
    assert done.stderr == ""
    assert done.stdout.startswith("accuracy 0.7500 of 4 rows\n")
    assert "rows a second" in done.stdout
    first = server.requests[0]
    assert first["signature_name"] == "predict"
    assert isinstance(first["instances"], list)
    assert first["instances"][0] == {
        "I1": 0.9,
        **{f"I{number}": 0.25 for number in range(2, 14)},
        **{f"C{number}": "68fd1e64" for number in range(1, 27)},
    }
    assert [len(request["instances"]) for request in server.requests] == [2, 2]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("", [], "no rows"),
        ("1,2\n", [], "2 columns, not 40"),
        (row(1, "x"), [], "could not convert string to float: 'x'"),
        (row(1, "1"), ["-m", "other"], 'answers 404: {"error": "Servable not found for request"}'),
        (row(1, "1"), ["-b", "0"], "at least 1"),
    ],
)
def test_says_what_is_wrong(server: ModelServer, tmp_path: Path, text: str, words: list[str], message: str) -> None:
    data_file = tmp_path / "eval.csv"
    data_file.write_text(text)
    done = predict(server, data_file, *words)
    assert done.returncode
    assert message in done.stderr
    assert "Traceback" not in done.stderr
