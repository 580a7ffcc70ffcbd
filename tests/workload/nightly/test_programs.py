"""Programs that packages bring, each by itself: scripts of runs."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

import real
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
