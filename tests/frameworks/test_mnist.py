"""The programs of the MNIST package with TensorFlow itself: two workers take real steps, agree, and go on later.

``make test-tensorflow`` installs TensorFlow in an environment of its own and names its Python in PACKYARD_TENSORFLOW.
No other run of the tests has it, nor is it missed there: up to the framework, the programs run in tests/workload.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

import real

PYTHON = os.environ.get("PACKYARD_TENSORFLOW", "")
PROGRAMS = real.REPOSITORY / "overlays/mnist-programs"
DATA = """\
import sys, numpy
random = numpy.random.default_rng(0)
images = random.integers(0, 255, (600, 28, 28), dtype=numpy.uint8)
labels = random.integers(0, 10, 600, dtype=numpy.uint8)
numpy.savez(sys.argv[1], x_train=images, y_train=labels)
"""

pytestmark = pytest.mark.skipif(not PYTHON, reason="run by make test-tensorflow")


def train(program: str, folder: Path, *arguments: str) -> list[str]:
    """Run two workers to their end, and return what each has said."""
    ports = free_ports(2)
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    workers = []
    for index in range(len(ports)):
        environment = {
            **os.environ,
            "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}}),
            "DATASET_DIR": str(folder),
            "OUTPUT_DIR": str(folder / "output"),
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "2",
        }
        command = [PYTHON, PROGRAMS / program, "--steps-per-epoch", "3", "--batch-size", "8", *arguments]
        workers.append(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        )
    said = [worker.communicate(timeout=600)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0], "\n".join(said)
    return said


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def losses(said: str) -> list[tuple[str, str]]:
    return re.findall(r"^epoch (\d+): loss (\S+)$", said, re.M)


@pytest.mark.parametrize("program", ["keras_mnist.py", "custom_training_mnist.py"])
def test_workers_agree_and_the_first_keeps_the_model(program: str, tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-c", DATA, tmp_path / "mnist.npz"], check=True)
    first, second = (losses(said) for said in train(program, tmp_path, "--epochs", "2"))
    assert first == second
    assert [epoch for epoch, _ in first] == ["1", "2"]
    assert (tmp_path / "output/model/mnist.keras").stat().st_size > 0


def test_a_loop_of_its_own_goes_on_after_its_last_checkpoint(tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-c", DATA, tmp_path / "mnist.npz"], check=True)
    train("custom_training_mnist.py", tmp_path, "--epochs", "1")
    for said in train("custom_training_mnist.py", tmp_path, "--epochs", "2"):
        assert "continuing after epoch 1\n" in said
        assert [epoch for epoch, _ in losses(said)] == ["2"]
        assert "could not be found" not in said
