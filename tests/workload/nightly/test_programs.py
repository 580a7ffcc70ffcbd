"""Programs that packages bring, each by itself: scripts of runs, and those that ask servers."""

import asyncio
import json
import os
import runpy
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

import real
from readmes import modelserver, openaiserver
from workload.machine import PATIENCE

pytestmark = pytest.mark.nightly("workload")


def run(words: Sequence[str | Path], **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": real.path_with("sed", "grep", "find", "python3"), **variables}
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.parametrize(("result", "code"), [("", 1), ("eval_accuracy = 0.9", 0)])
def test_a_launcher_that_hides_the_failure_of_its_program_fails(tmp_path: Path, result: str, code: int) -> None:
    job = yaml.safe_load((real.REPOSITORY / "overlays/programs/launch-benchmark/job.yaml").read_bytes())
    words = job["spec"]["template"]["spec"]["containers"][0]["command"][:-1]
    (tmp_path / "results.txt").write_text("eval_accuracy of an earlier run")
    (tmp_path / "launcher").write_text(f"open('results.txt', 'a').write({result!r})" if result else "")
    os.utime(tmp_path / "results.txt", (0, 0))
    script = f"cd {tmp_path}; {words[2]}"
    values = {"OUTPUT_DIR": str(tmp_path), "RESULT_FILE": "results.txt", "RESULT_TEXT": "eval_accuracy"}
    done = run([*words[:2], script, "launcher"], **values)
    assert (done.returncode, "the program failed, read above why" in done.stderr) == (code, bool(code))


# What gives a model to the servers.


def publish(output_dir: Path) -> subprocess.CompletedProcess[str]:
    script = real.REPOSITORY / "bases/train-and-serve/publish.sh"
    return run(["sh", "-eu", script], OUTPUT_DIR=str(output_dir))


def export(folder: Path, text: str, age: int = 0) -> None:
    folder.mkdir(parents=True)
    (folder / "saved_model.pb").write_text(text)
    os.utime(folder / "saved_model.pb", (time.time() - age,) * 2)


def test_publishes_the_newest_model_once_and_keeps_the_versions_before(tmp_path: Path) -> None:
    served = tmp_path / "served"
    done = publish(tmp_path)
    assert (done.returncode, served.exists()) == (1, False)
    assert "the training exported no model" in done.stderr
    export(tmp_path / "a/1700000005", "old", age=60)
    export(tmp_path / "b/1700000001", "new")
    export(served / "incoming/half", "half")
    export(served / "7", "by hand", age=-60)
    for _ in range(2):
        assert publish(tmp_path).returncode == 0
        models = {file.parent.name: file.read_text() for file in served.rglob("*.pb")}
        assert models == {"1700000001": "new", "7": "by hand"}
    export(tmp_path / "b/best", "best", age=-60)
    assert publish(tmp_path).returncode == 0
    models = {file.parent.name: file.read_text() for file in served.rglob("*.pb")}
    assert (models[max(models, key=int)], len(models)) == ("best", 3)


# What starts a try of a run on tensorpack.

#: Stands for mpirun and the program behind it, and deletes the log directory that it is given, as those do.
_PROGRAM = "import json, shutil, sys; shutil.rmtree(sys.argv[-1], ignore_errors=True); print(json.dumps(sys.argv[1:]))"
_HOSTS = "worker-0.run.ml.svc slots=1\nworker-1.run.ml.svc slots=1\n"


def save(log_dir: Path, *steps: int, shards: int = 2) -> None:
    """Write checkpoints as TensorFlow does, whose list of them is the last that it writes."""
    log_dir.mkdir(parents=True, exist_ok=True)
    for step in steps:
        for shard in range(shards):
            (log_dir / f"model-{step}.data-{shard:05}-of-{shards:05}").write_text("data")
        (log_dir / f"model-{step}.index").write_text("index")
    (log_dir / "checkpoint").write_text(
        "".join(f'all_model_checkpoint_paths: "{log_dir}/model-{step}"\n' for step in steps)
    )


def launch(folder: Path, hosts: str = _HOSTS, **values: str) -> subprocess.CompletedProcess[str]:
    (folder / "hostfile").write_text(hosts)
    variables = {"OUTPUT_DIR": str(folder), "TRY_NAME": "second", "IMAGES_PER_EPOCH": "1000", "BATCH_SIZE_PER_GPU": "2"}
    variables["PRTE_MCA_prte_default_hostfile"] = str(folder / "hostfile")
    script = real.REPOSITORY / "overlays/programs/tensorpack/launch.sh"
    return run(["sh", "-eu", script, "python3", "-c", _PROGRAM, "A=1"], **{**variables, **values})


def launched(folder: Path, hosts: str = _HOSTS, **values: str) -> list[str]:
    done = launch(folder, hosts, **values)
    assert done.returncode == 0, done.stderr
    words: list[str] = json.loads(done.stdout.splitlines()[-1])
    return words


def test_the_steps_of_an_epoch_follow_from_the_processes_of_all_workers(tmp_path: Path) -> None:
    assert launched(tmp_path) == ["A=1", "--logdir", f"{tmp_path}/train_log/second"]
    hosts = "".join(f"worker-{index}.run.ml.svc slots=8\n" for index in range(4))
    assert "STEPS=15" in launched(tmp_path, hosts, STEPS_NAME="STEPS")
    done = launch(tmp_path, IMAGES_PER_EPOCH="3")
    assert (done.returncode, done.stderr) == (64, "3 images are no step of 2 processes with 2 images each\n")


#: What befalls the checkpoint model-1000, after model-500.
_INCOMPLETE: dict[str, Callable[[Path], object]] = {
    "no index": lambda folder: (folder / "model-1000.index").unlink(),
    "an empty index": lambda folder: (folder / "model-1000.index").write_text(""),
    "a shard less": lambda folder: (folder / "model-1000.data-00001-of-00002").unlink(),
    "not yet named": lambda folder: (folder / "checkpoint").write_text('all_model_checkpoint_paths: "model-500"\n'),
}


@pytest.mark.parametrize("what", _INCOMPLETE)
def test_a_further_try_deletes_nothing_and_loads_the_newest_checkpoint_that_is_complete(
    what: str, tmp_path: Path
) -> None:
    logs = tmp_path / "train_log"
    save(logs / "a", 500, 1000)
    save(logs / "b", 750, shards=12)
    words = ["TRAIN.STARTING_EPOCH=5", "--load", f"{logs}/a/model-1000", "--logdir", f"{logs}/second"]
    assert launched(tmp_path)[1:] == words
    assert all((logs / name / "checkpoint").exists() for name in ("a", "b"))
    _INCOMPLETE[what](logs / "a")
    assert f"{logs}/b/model-750" in launched(tmp_path, TRY_NAME="third")


# Clients of servers.


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
