"""The program that asks servers of a language model whether they answer, as a process."""

from __future__ import annotations

import os
import subprocess
import sys

import real
from readmes import openaiserver
from workload.pod import PATIENCE

_PROGRAM = real.REPOSITORY / "bases/smoke-test/smoke_test.py"
_WORDS = ["vllm", "serve", "/data/models/mine", "--served-model-name=Team/Mine"]


def run(port: int, **more: str) -> subprocess.CompletedProcess[str]:
    values = {"SERVER": "127.0.0.1", "SERVER_PORT": str(port), "QUESTION": "Hello!", "WAIT_SECONDS": "0"}
    words = [sys.executable, str(_PROGRAM)]
    environment = {**values, "PATH": os.environ["PATH"], **more}
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_each_model_is_asked_and_its_answer_shown() -> None:
    words = [*_WORDS, "--enable-lora", "--lora-modules=tuned=/data/adapters/tuned"]
    with openaiserver.serve(words) as server:
        done = run(server.server_port)
    assert (done.returncode, done.stdout) == (0, "Team/Mine: 'Hello!'\ntuned: 'Hello!'\n"), done.stderr
    assert [each["model"] for each in server.requests] == ["Team/Mine", "tuned"]


def test_a_key_is_taken_from_its_secret_and_asked_for_where_it_lacks() -> None:
    with openaiserver.serve(_WORDS, key="secret") as server:
        assert run(server.server_port, API_KEY="secret").returncode == 0
        done = run(server.server_port)
    assert done.returncode == 1
    assert "401" in done.stderr
    assert "put the servers' key into the Secret api-key" in done.stderr


def test_servers_that_do_not_answer_are_named() -> None:
    done = run(9)
    assert done.returncode == 1
    assert "http://127.0.0.1:9 does not answer" in done.stderr
    assert "Set SERVER to the name of the servers' Service" in done.stderr
