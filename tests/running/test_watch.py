"""What `--watch` draws on a real terminal, as an emulator of terminals shows it; and how far programs are."""

from __future__ import annotations

import io
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from tqdm import tqdm

from controlplane import fates
from controlplane.api import Api
from packyard.cli.running import frames
from packyard.cli.running.frames import Size
from packyard.running.runs import progress
from packyard.running.runs.kubectl import Kubectl
from running import made
from sample import some
from terminal import Screen, on_terminal


@contextmanager
def watched(client: Kubectl, folder: Path, *words: str, columns: int = 80, rows: int = 24) -> Iterator[Screen]:
    """Watch runs of the namespace on a terminal."""
    flags = (*client.flags, f"--namespace={client.namespace}")
    env = {"TERM": "xterm-256color"}
    with on_terminal(*words, *flags, cwd=folder, columns=columns, rows=rows, env=env) as terminal:
        yield Screen(terminal, columns, rows)


def has(*texts: str) -> Callable[[Sequence[str]], bool]:
    """Return whether each text stands in a line."""
    return lambda lines: all(any(text in line for line in lines) for text in texts)


def first_pod(lines: Sequence[str]) -> str:
    """Return the line below the heading of pods, of a screen that has one."""
    return next(below for line, below in pairwise(lines) if line.startswith("POD "))


@pytest.mark.nightly
@pytest.mark.parametrize("columns", [80, 120])
def test_a_run_is_drawn_with_its_pods_in_time_and_its_steps_and_fits_when_the_terminal_changes(
    columns: int, cluster: Api, client: Kubectl, tmp_path: Path
) -> None:
    cluster.print(client.namespace, "Epoch 2/5, step 40/100")
    made.put(client, {"first": [made.mpi_job("first", "run", "crash")]}, package="mnist-训练-中文")
    with watched(client, tmp_path, "status", "first", "--watch", columns=columns) as screen:
        lines = screen.until(has("failing", "epoch 2/5, step 40/100", "40%", "running, 3 restarts"))
        assert screen.color("failing") == "red"
        assert any(line.startswith("worker 1") and "█" in line for line in lines)
        assert max(map(cell_len, lines)) < columns
        screen.resize(50, 12)
        screen.until(lambda lines: has("failing", "worker 1")(lines) and max(map(cell_len, lines)) < 50)
        screen.resize(columns)
        screen.until(lambda lines: any(line.startswith("launcher") and cell_len(line) > 50 for line in lines))
        screen.terminal.process.send_signal(signal.SIGINT)
        said = screen.terminal.whole()
        assert screen.terminal.process.wait() == 130
    assert "Traceback" not in said
    assert "\x1b[?25h\x1b[?1049l" in said  # the cursor, and what was on the terminal, are back
    assert "worker 1" in said.rpartition("\x1b[?1049l")[2]  # and what was drawn last is there


@pytest.mark.nightly
def test_two_hundred_pods_and_many_runs_are_counted_where_there_is_no_room(client: Kubectl, tmp_path: Path) -> None:
    bad = made.job("bad", "never-ready")
    runs = {f"run-{number}": [made.pod(f"run-{number}", "run")] for number in range(30)}
    made.put(client, {"many": [*(made.pod(f"pod-{number}", "run") for number in range(199)), bad], **runs})
    with watched(client, tmp_path, "status", "many", "--watch") as screen:
        # What is not well comes first, once the others run.
        screen.until(lambda lines: has("more pods: ")(lines) and first_pod(lines).startswith("bad "))
    with watched(client, tmp_path, "status", "--watch", rows=16) as screen:
        screen.until(has("namespace test-", "more: "))


@pytest.mark.nightly
def test_a_run_that_ends_leaves_its_last_picture_and_what_to_type_next(client: Kubectl, tmp_path: Path) -> None:
    made.put(client, {"over": [made.job("over", "fail")]})
    with watched(client, tmp_path, "status", "over", "--watch") as screen:
        said = screen.terminal.whole()
        assert screen.terminal.process.wait() == 1
    left = said.rpartition("\x1b[?1049l")[2]
    assert "✗" in left
    assert "exit code 7" in left
    assert "next: packyard logs over" in left


@pytest.fixture
def held(untarred: Callable[[str], Path]) -> Path:
    """The first run of a package, whose pod runs until it is given another fate."""
    directory = untarred("mnist-fp32-training-k8s") / "first-run/none"
    job = directory / "job.yaml"
    job.write_text(
        job.read_text().replace("      annotations:\n", f"      annotations:\n        {fates.ANNOTATION}: run\n")
    )
    return directory


@pytest.mark.nightly
@pytest.mark.parametrize(("verb", "columns"), some(product(("deploy", "run"), (80, 120)), lambda case: case))
def test_what_is_deployed_is_drawn_until_it_is_over_and_stays_once(
    verb: str, columns: int, cluster: Api, client: Kubectl, held: Path, tmp_path: Path
) -> None:
    cluster.print(client.namespace, "epoch 1/4")
    what = str(held) if verb == "deploy" else "mnist-fp32-training-k8s/first-run"
    with watched(client, tmp_path, verb, what, "--watch", columns=columns) as screen:
        lines = screen.until(has("running", "epoch 1/4", "25%", "ready"))
        assert max(map(cell_len, lines)) < columns
        assert any(line.startswith("training ") and "█" in line for line in lines)
        (pod,) = cluster.list("v1", "Pod", client.namespace)
        cluster.merge(made.fated(pod["metadata"]["name"], "complete"), client.namespace).expect_done()
        said = screen.terminal.whole()
        assert screen.terminal.process.wait() == 0, said
    *_, left = said.split("\x1b[?1049l")
    assert ("✓" in left, left.count("POD ")) == (True, 1)
    assert "has succeeded" in left or "next: packyard logs" in left


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ({}, "step"),
        ({"desc": "train"}, "step"),
        ({"desc": "Epoch 3"}, "step"),
        ({"desc": "Epochs", "ascii": True}, "epoch"),
        ({"unit": "B", "unit_scale": True}, "percent"),
    ],
)
def test_tqdm_is_read_in_each_of_its_forms(options: dict[str, Any], unit: str) -> None:
    printed = io.StringIO()
    with tqdm(total=5000, file=printed, mininterval=0, **options) as bar:
        for _ in range(50):
            bar.update(50)
        found = progress.parse(printed.getvalue())
    assert (found[-1].unit, found[-1].share) == (unit, 0.5), printed.getvalue()[-100:]


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("step 40/100, loss 0.31", ["step 40/100"]),
        ("epoch 3: loss 0.312", ["epoch 3/5"]),
        ("Epoch 2/5\n 40/100 [==>...] - ETA: 1s - loss: 0.2", ["epoch 2/5", "step 40/100"]),
        ("Epoch 2/5\n\x1b[1m40/100\x1b[0m \x1b[32m━━━━\x1b[0m 2s 48ms/step", ["epoch 2/5", "step 40/100"]),
        ("Epoch [3/10], Step [40/100], Loss: 0.2", ["epoch 3/10", "step 40/100"]),
        ("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.3", ["epoch 1/5", "sample 640/60000"]),
        ("w.bin: from 10 of 400 bytes", ["bytes 10/400"]),
        ("epoch 1: loss 3\nepoch 2: loss 1", ["epoch 2/5"]),
        ("epoch 7: loss 3", ["epoch 7"]),
        ("step 999/5, 2026-10/06, {'epoch': 0.4}, http://a/1/2", []),
        ("step " + "9" * 500 + "/1", []),
    ],
)
def test_what_programs_print_of_how_far_they_are(printed: str, said: list[str]) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"TRAIN_EPOCHS": "5"}}
    assert list(map(str, progress.parse(printed, progress.totals([config])))) == said


def test_a_terminal_without_room_gets_what_fits() -> None:
    for rows in range(6):
        for columns in (1, 2, 9, 40):
            assert len(frames.of_runs([], "namespace 名前", Size(columns, rows))) <= max(rows, 0)
