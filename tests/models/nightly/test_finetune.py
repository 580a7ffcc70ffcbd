"""Language models tuned by TRL itself, on CPUs: what they learn, what is refused, and how a run goes on.

``make test-models`` names the Python that has TRL. No other run of the tests has it. The model is that of tiny.py; what
this cannot judge is NCCL, and weights of 16 bits.
"""

import base64
import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from catalogue.usecases import CATALOGUE
from real import free_port, path_with, pinned_program, program
from sharing import buckets
from workload import catalogue, controllers
from workload.environment import Object
from workload.machine import Machine, NewMachine, wait_until
from workload.models import tensors

PYTHON = os.environ.get("PACKYARD_TORCH", "")

SINGLE_NODE = "single-node/user-allocated-pvc"
BUCKET = "single-node-bucket/object-storage"
MULTI_NODE = [f"multi-node-{kind}/user-allocated-pvc" for kind in ("job-set", "train-job")]

_HERE = Path(__file__).parents[1]
PROGRAM = CATALOGUE.root_dir / "overlays/programs/finetune/train.py"
PROVERBS = {
    "A journey of a thousand miles": "begins with a single step.",
    "All that glitters": "is not gold.",
    "Better late": "than never.",
    "Birds of a feather": "flock together.",
    "Every cloud": "has a silver lining.",
    "Many hands": "make light work.",
    "Rome was not built": "in a day.",
    "Too many cooks": "spoil the broth.",
}

pytestmark = [pytest.mark.skipif(not PYTHON, reason="run by make test-models"), pytest.mark.usefixtures("namespaces")]


@pytest.fixture(autouse=True, scope="module")
def patience() -> Iterator[None]:
    """PyTorch alone takes seconds to start, and a rendezvous half a minute to notice a loss."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("workload.machine.PATIENCE", 600.0)
        yield


def chat(question: str, answer: str) -> Object:
    return {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}


CHATS = [chat(question, answer) for question, answer in PROVERBS.items()]


def write_lines(file: Path, rows: Sequence[object]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def losses(text: str) -> dict[int, float]:
    """Return the loss of each step."""
    return {int(step): float(loss) for step, loss in re.findall(r"^step (\d+) of \d+: loss ([0-9.]+)", text, re.M)}


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A run of a program that has come to its end."""

    codes: list[int]
    log: str

    @property
    def last(self) -> str:
        return self.log.splitlines()[-1]


class Trainer:
    """Starts programs where TRL has been loaded already."""

    def __init__(self, folder: Path, python: str | Path) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "HF_HUB_OFFLINE": "1", "TMPDIR": str(folder)}
        environment |= {"HF_HUB_DISABLE_TELEMETRY": "1", "OMP_NUM_THREADS": "1"}
        words = [python, _HERE / "forked.py"]
        self.process = subprocess.Popen(
            words, env=environment, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._answer() == "ready\n"

    def _answer(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def run(
        self,
        folder: Path,
        *,
        program: Path = PROGRAM,
        processes: int = 1,
        until: Callable[[str], bool] | None = None,
        **values: object,
    ) -> Ended:
        """Run a program, and interrupt it when its log says so."""
        log = folder / "log"
        log.write_text("")
        asked = {"program": str(program), "log": str(log), "environments": environments(folder, processes, values)}
        assert self.process.stdin
        self.process.stdin.write(json.dumps(asked) + "\n")
        ids = json.loads(self._answer())
        if until:
            wait_until(lambda: until(log.read_text()), [], seconds=600)
            os.kill(ids[-1], signal.SIGTERM)
        return Ended(codes=json.loads(self._answer()), log=log.read_text())


def environments(folder: Path, processes: int, values: Mapping[str, object]) -> list[dict[str, str]]:
    """Return the variables of each process, as torchrun and the ConfigMap of a use case say them."""
    found: dict[str, object] = {"MODEL_PATH": folder / "tiny", "DATASET_DIR": folder / "data", "DATASET_REPO": ""}
    found |= {"OUTPUT_DIR": folder / "output", "METHOD": "sft", "LORA_RANK": 4, "QUANTIZATION": "none"}
    found |= {"SHARDING": "none", "BATCH_SIZE": 2, "ACCUMULATION_STEPS": 1, "MAX_LENGTH": 128, "TRAIN_EPOCHS": 4}
    found |= {"LEARNING_RATE": 0.01, "CHECKPOINT_STEPS": 5, "TRAINER_ARGUMENTS": "{logging_steps: 1}", "DEVICE": "cpu"}
    found |= {"WORLD_SIZE": processes, "LOCAL_WORLD_SIZE": processes, "MASTER_ADDR": "127.0.0.1"}
    found |= {"MASTER_PORT": free_port(), **values}
    shared = {name: str(value) for name, value in found.items()}
    return [{**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(processes)]


@contextmanager
def loaded(folder: Path, python: str | Path = PYTHON) -> Iterator[Trainer]:
    """Start a trainer, and end it however it was used."""
    found = Trainer(folder, python)
    with found.process:
        try:
            yield found
        finally:
            found.process.kill()


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trainer]:
    with loaded(tmp_path_factory.mktemp("trainer")) as found:
        yield found


def trained(trainer: Trainer, folder: Path, rows: Sequence[object] = CHATS, **values: object) -> Ended:
    """Train on some rows to the end."""
    if not (folder / "data/rows.jsonl").exists():
        write_lines(folder / "data/rows.jsonl", rows)
    ended = trainer.run(folder, **values)
    assert set(ended.codes) == {0}, ended.log
    assert ended.last.startswith("wrote "), ended.log
    return ended


def answer(trainer: Trainer, folder: Path, result: str, question: str) -> Ended:
    return trainer.run(folder, program=_HERE / "answer.py", RESULT=folder / "output" / result, QUESTION=question)


@pytest.mark.parametrize(("rank", "result"), [(0, "model"), (16, "adapter")])
def test_answers_of_chats_are_learned_and_results_load_in_16_bits(
    trainer: Trainer, tmp_path: Path, rank: int, result: str
) -> None:
    ended = trained(trainer, tmp_path, LORA_RANK=rank, TRAIN_EPOCHS=60, CHECKPOINT_STEPS=1000)
    found = losses(ended.log)
    assert found[max(found)] < found[1] / 10
    asked = answer(trainer, tmp_path, result, "All that glitters")
    assert "answer: is not gold.\n" in asked.log
    assert "types: ['torch.bfloat16']\n" in asked.log
    assert {file.name for file in (tmp_path / "output").iterdir()} == {"checkpoints", "logs", result}
    assert next(file.name for file in (tmp_path / "output/logs").iterdir()).startswith("events.out.tfevents")
    if not rank:
        assert json.loads((tmp_path / "output/model/config.json").read_text())["dtype"] == "bfloat16"


@pytest.mark.parametrize(
    ("rows", "learned"),
    [
        ([chat("Better late", "than never.")] * 2, len("than never.") + 1),
        ([{"prompt": "Better late", "completion": "than never."}] * 2, len("than never.") + 1),
        ([{"text": "Better late than never."}] * 2, len("Better late than never.")),
    ],
    ids=["chats", "prompts", "texts"],
)
def test_loss_is_that_of_answers_alone(trainer: Trainer, tmp_path: Path, rows: list[object], learned: int) -> None:
    """The end of a sequence counts where it is to be learned; the first token of all has nothing before it."""
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE)
    write_lines(tmp_path / "data/rows.jsonl", rows)
    ended = trainer.run(tmp_path, program=probe, PROGRAM=PROGRAM, TRAIN_EPOCHS=1)
    assert f"labels {learned}\n" in ended.log, ended.log


#: Runs the program, and says how many tokens of an example its trainer learns.
PROBE = """
import os, runpy, sys, trl
train = trl.SFTTrainer.train
def shown(self, **given):
    labels = self.train_dataset[0]["labels"]
    print("labels", sum(label != -100 for label in labels[1:]), flush=True)
    return train(self, **given)
trl.SFTTrainer.train = shown
sys.path.insert(0, os.path.dirname(os.environ["PROGRAM"]))
runpy.run_path(os.environ["PROGRAM"], run_name="__main__")
"""


def test_examples_are_packed_and_evaluated_and_steps_accumulate(trainer: Trainer, tmp_path: Path) -> None:
    write_lines(tmp_path / "data/eval.jsonl", CHATS[:2])
    arguments = "{packing: true, logging_steps: 1, eval_packing: false, weight_decay: 1e-3, lora_alpha: 3}"
    ended = trained(trainer, tmp_path, CHATS * 8, TRAINER_ARGUMENTS=arguments, ACCUMULATION_STEPS=2, TRAIN_EPOCHS=2)
    assert max(losses(ended.log)) < 2 * 64 / 4
    assert len(re.findall("eval_loss", ended.log)) == 2
    assert json.loads((tmp_path / "output/adapter/adapter_config.json").read_text())["lora_alpha"] == 3


def test_an_adapter_is_learned_beside_weights_of_4_bits(trainer: Trainer, tmp_path: Path) -> None:
    found = losses(trained(trainer, tmp_path, QUANTIZATION="nf4").log)
    assert found[max(found)] < found[1]


def test_preferences_are_learned(trainer: Trainer, tmp_path: Path) -> None:
    answers = {
        "chosen": [{"role": "assistant", "content": "Yes."}],
        "rejected": [{"role": "assistant", "content": "No."}],
    }
    rows = [{"prompt": [{"role": "user", "content": question}], **answers} for question in PROVERBS]
    ended = trained(trainer, tmp_path, rows, METHOD="dpo")
    assert re.findall(r"^step \d+ of \d+: loss .* rewards/accuracies ([\d.]+),", ended.log, re.M)[-1] == "1"
    assert (tmp_path / "output/adapter/adapter_model.safetensors").is_file()


@pytest.mark.parametrize("values", [{}, {"SHARDING": "fsdp"}, {"SHARDING": "fsdp", "LORA_RANK": 0}], ids=str)
def test_an_interrupted_run_goes_on_as_if_nothing_had_been(
    trainer: Trainer, tmp_path: Path, values: dict[str, object]
) -> None:
    """One of two processes is told to end; both write the step they are at, and data are not tokenized again."""
    values = {**values, "program": _HERE / "fsdp_on_cpus.py", "PROGRAM": PROGRAM, "processes": 2}
    (tmp_path / "left").mkdir()
    whole = trained(trainer, tmp_path / "left", **values)
    write_lines(tmp_path / "data/rows.jsonl", CHATS)
    first = trainer.run(tmp_path, until=lambda log: len(losses(log)) > 2, **values)
    assert first.codes == [143, 143], first.log
    assert "a run of the same name goes on from there" in first.log
    second = trained(trainer, tmp_path, **values)
    ((start,),) = [re.findall(r"going on after step (\d+)$", second.log, re.M)]
    assert int(start) == max(losses(first.log)) >= 3
    assert losses(first.log) | losses(second.log) == losses(whole.log)
    assert whole.log.count("Tokenizing train dataset:   0%") == 1
    assert "Tokenizing" not in second.log
    result = "model" if values.get("LORA_RANK") == 0 else "adapter"
    (one, other) = [
        next((folder / "output" / result).glob("*.safetensors")) for folder in (tmp_path, tmp_path / "left")
    ]
    assert one.read_bytes() == other.read_bytes()
    assert b"BF16" in one.read_bytes()  # weights, and not a header alone
    third = trainer.run(tmp_path, **{**values, "processes": 1})
    assert "WORKERS x GPUS 2, and not 1: set that again, or another RUN_NAME" in third.log


def weights(folder: Path, files: dict[str, bytes]) -> Path:
    """Make a directory of weights as Hugging Face lays it out, in several files."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


WHOLE = {"model-1.safetensors": tensors({"w": [4]}), "model-2.safetensors": tensors({"w": [4]})}


def refusal(trainer: Trainer, folder: Path, **values: object) -> str:
    """Return what the program says last of what it does not train with."""
    ended = trainer.run(folder, **values)
    assert ended.codes == [1], ended.log
    return ended.last


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "copy model-1.safetensors, model-2.safetensors again"),
        ({"model-1.safetensors": tensors({"w": [4]})}, "copy model-2.safetensors again"),
        (WHOLE | {"model-2.safetensors": tensors({"w": [4]})[:-1]}, "copy model-2.safetensors again"),
        (WHOLE | {"model-2.safetensors": tensors({"w": [4]})[:20]}, "copy model-2.safetensors again"),
        (WHOLE | {"model-2.safetensors": b""}, "copy model-2.safetensors again"),
        (
            WHOLE | {"config.json": b'{"hidden'},
            "config.json or model.safetensors.index.json is not whole: copy both again",
        ),
        (WHOLE | {"model.safetensors.index.json": b'{"weight_map": {'}, "index.json is not whole: copy both again"),
        (WHOLE, "no data"),
    ],
    ids=["none", "one", "half", "header", "empty", "config", "index", "whole"],
)
def test_refuses_weights_that_are_not_whole(
    files: dict[str, bytes], expected: str, trainer: Trainer, tmp_path: Path
) -> None:
    assert expected in refusal(trainer, tmp_path, MODEL_PATH=weights(tmp_path / "weights", files))


@pytest.mark.parametrize(
    ("config", "known"),
    [
        ('{"max_position_embeddings": 31}', 31),
        ('{"text_config": {"max_position_embeddings": 31}}', 31),
        ('{"max_position_embeddings": 16, "rope_scaling": {"factor": 2.0}}', 32),
    ],
)
def test_refuses_a_context_that_the_model_has_not(config: str, known: int, trainer: Trainer, tmp_path: Path) -> None:
    folder = weights(tmp_path / "weights", WHOLE | {"config.json": config.encode()})
    said = refusal(trainer, tmp_path, MODEL_PATH=folder, MAX_LENGTH=known + 1)
    assert f"is {known} tokens: lower MAX_LENGTH from {known + 1}" in said
    assert "no data" in refusal(trainer, tmp_path, MODEL_PATH=folder, MAX_LENGTH=known)  # what is wrong now


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (None, "no data: "),
        (b'{"text": "a"}\n{"text": "', ".jsonl:2: each line is "),
        (b'{"answer": "a"}', '.jsonl:1: each line is {"messages": [{"role": ...'),
        (b'{"text": "\xff"}', ".jsonl:1: each line is "),
        (b'["a"]', ".jsonl:1: each line is "),
        (b'{"messages": [{"role": "user", "content": "a"}]}', ':1: no message has the role "assistant"'),
        (b'{"messages": ["a"]}', ':1: each line is {"messages": [{"role": ..., "content": ...}]}'),
    ],
    ids=["absent", "half", "other", "encoding", "list", "question", "words"],
)
def test_refuses_data_that_it_cannot_learn(trainer: Trainer, rows: bytes | None, expected: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    if rows is not None:
        (tmp_path / "data/b.jsonl").write_bytes(rows)
    assert expected in refusal(trainer, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("{packing: ", "TRAINER_ARGUMENTS: "),
        ("{pack: true}", "not used by the HfArgumentParser: ['--pack', 'True']"),
        ("{learning_rate: 1}", "set LEARNING_RATE in place of learning_rate"),
    ],
)
def test_refuses_arguments_that_trl_has_not(trainer: Trainer, arguments: str, expected: str, tmp_path: Path) -> None:
    assert expected in trainer.run(tmp_path, TRAINER_ARGUMENTS=arguments).log


def test_says_so_when_the_storage_is_full(tmp_path: Path) -> None:
    script = """
        mount -t tmpfs -o size=2m tmpfs "$OUTPUT_DIR"
        head -c $((2 * 1024 * 1024 - 24000)) /dev/zero >"$OUTPUT_DIR/others"
        exec "$@"
    """
    (tmp_path / "output").mkdir()
    write_lines(tmp_path / "data/rows.jsonl", CHATS)
    words = [str(program("unshare")), "--mount", "sh", "-c", script, "sh", PYTHON, str(PROGRAM)]
    (environment,) = environments(tmp_path, 1, {"PATH": path_with("unshare", "mount", "sh", "head"), "HOME": tmp_path})
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1, done.stderr
    assert "is full: make room, and the run goes on from its last checkpoint" in done.stderr.splitlines()[-1]


def test_refuses_to_do_without_the_gpus_that_were_asked_for(trainer: Trainer, tmp_path: Path) -> None:
    assert "1 processes and sees 0 GPUs: set GPUS to what its node has" in refusal(trainer, tmp_path, DEVICE="")


class Run:
    """The pods of a use case, on a node of their own or on that of an earlier run."""

    def __init__(self, cluster: Machine, objects: list[Object]) -> None:
        self.cluster, self.objects = cluster, objects
        cluster.objects += objects
        cluster.replace("python3", Path(PYTHON))
        cluster.replace("torchrun", Path(PYTHON), "-m", "torch.distributed.run")
        added, workloads = controllers.pods_of(objects)
        cluster.objects += added
        self.pods = [cluster.start(pod) for pods in workloads for pod in pods]

    def go_on(self) -> None:
        """Put other pods in the place of all, as a Job or a JobSet does after a loss."""
        for pod in self.pods:
            pod.kill()
        self.pods = [self.cluster.start(pod.described) for pod in self.pods]

    @property
    def log(self) -> str:
        return "".join(pod.log for pod in self.pods)

    @property
    def later_log(self) -> tuple[int, str]:
        """The step that the run went on from, and what its first pod said since."""
        step, text = re.findall(r"^going on after step (\d+)\n(.*?)(?=^---|\Z)", self.log, re.M | re.S)[0]
        return int(step), text


def set_objects(path: str, **values: object) -> list[Object]:
    chosen: dict[str, object] = {"MODEL_PATH": "/models/tiny", "GPUS": 1, "MAX_LENGTH": 128, "LORA_RANK": 4}
    chosen |= {"LEARNING_RATE": "0.01", "BATCH_SIZE": 2, "CHECKPOINT_STEPS": 5, "TRAIN_EPOCHS": 8}
    objects = catalogue.set_objects(*catalogue.USE_CASES[f"llm-finetune/{path}"], **chosen | values)
    for item in objects:
        if "LORA_RANK" in item.get("data", {}):
            item["data"] |= {"DEVICE": "cpu", "HF_HUB_OFFLINE": "1", "TRAINER_ARGUMENTS": "{logging_steps: 1}"}
            item["data"]["CHECKPOINT_STEPS"] = "5"  # in buckets a plain line
    return objects


def store_chats(cluster: Machine) -> None:
    """Put chats where the storage has its data."""
    storage = cluster.storage({"name": "storage", "persistentVolumeClaim": {"claimName": "workdisk"}})
    write_lines(storage / "texts/chats.jsonl", CHATS)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[int, float]:
    """The losses of two processes in one pod that go on until they end."""
    with Machine(tmp_path_factory.mktemp("undisturbed") / "cluster", []) as cluster:
        store_chats(cluster)
        run = Run(cluster, set_objects(SINGLE_NODE, GPUS=2))
        assert run.pods[0].wait() == 0, run.log
        return losses(run.log)


@pytest.mark.parametrize("path", MULTI_NODE)
def test_workers_train_as_one_pod_does(path: str, new_machine: NewMachine, undisturbed: dict[int, float]) -> None:
    """Each has a part of every batch: as many processes in one pod have the same losses."""
    cluster = new_machine([])
    store_chats(cluster)
    run = Run(cluster, set_objects(path))
    assert {pod.wait() for pod in run.pods} == {0}, run.log
    assert losses(run.log) == undisturbed


@pytest.mark.parametrize(
    ("path", "sent"), [(SINGLE_NODE, signal.SIGTERM), *((path, signal.SIGKILL) for path in MULTI_NODE)]
)
def test_a_run_that_lost_a_pod_goes_on_as_if_nothing_had_been(
    path: str, sent: signal.Signals, new_machine: NewMachine, undisturbed: dict[int, float]
) -> None:
    """A pod that is told to end has its last step written; one that is killed, that of its last checkpoint."""
    cluster = new_machine([])
    store_chats(cluster)
    run = Run(cluster, set_objects(path, GPUS=2 if path == SINGLE_NODE else 1))
    wait_until(lambda: len(losses(run.log)) > 6, run.pods, seconds=600)
    (last,) = run.pods[-1].containers[-1:]
    last.terminate() if sent == signal.SIGTERM else last.kill()
    run.pods[-1].wait()
    done = max(losses(run.log))
    run.go_on()
    assert {pod.wait() for pod in run.pods} == {0}, run.log
    start, said = run.later_log
    assert (done if sent == signal.SIGTERM else done - 5) <= start <= done < len(undisturbed)
    assert losses(said) == {step: loss for step, loss in undisturbed.items() if step > start}


def test_a_run_in_buckets_goes_on_and_leaves_its_adapter_there(
    new_machine: NewMachine, undisturbed: dict[int, float]
) -> None:
    cluster = new_machine([])
    stored, url = cluster.folder / "buckets", "http://10.0.0.1:7070"
    write_lines(stored / "datasets/texts/chats.jsonl", CHATS)
    (stored / "results").mkdir()
    words = ("--access", "secret", "--secret", "secret", "--port", "10.0.0.1:7070", "--quiet", "posix", stored)
    cluster.serve(str(pinned_program("versitygw")), *map(str, words), cwd=stored)
    places = {"datasetsbucket": "datasets", "trainingbucket": "results", "endpoint_url": url}
    run = Run(cluster, [*set_objects(BUCKET, GPUS=2, **places), keys("s3-credentials")])
    wait_until(lambda: len(losses(run.log)) > 10, run.pods, seconds=600)
    run.pods[0].kill()
    left = stored / "results/nobody-here/llm-finetune/bucket/output/checkpoints/checkpoint-16/optimizer.pt"
    left.parent.mkdir()
    left.write_bytes(b"not a whole checkpoint: it has no shape")
    run.go_on()
    assert run.pods[0].wait() == 0, run.log
    start, said = run.later_log
    assert start >= 10
    assert losses(said) == {step: loss for step, loss in undisturbed.items() if step > start}

    results = stored / "results/nobody-here/llm-finetune/bucket/output"
    assert [file.name for file in (results / "checkpoints").iterdir()] == ["checkpoint-16"]
    assert (results / "adapter/adapter_model.safetensors").is_file()


def test_keys_of_buckets_are_those_of_the_secret_or_of_the_sdk_and_a_run_whose_keys_are_refused_fails(
    trainer: Trainer, tmp_path: Path
) -> None:
    places = dict.fromkeys(("MODEL_PATH", "DATASET_DIR", "OUTPUT_DIR"), "/tmp/no-such-run")
    places |= dict.fromkeys(("datasetsbucket", "trainingbucket"), buckets.BUCKET)
    with buckets.versitygw(pinned_program("versitygw"), tmp_path) as server:
        places |= {"endpoint_url": server.url, "region_name": "us-east-1"}
        found = refusal(trainer, tmp_path, **places, **server.environment)
        refused = refusal(trainer, tmp_path, **places, aws_access_key_id="other", aws_secret_access_key="wrong")
    assert "no weights in /tmp/no-such-run, which has no config.json: copy them there" in found
    assert "AWS Error" in refused


def keys(name: str) -> Object:
    """Return the Secret of that name with the keys of the buckets, as all programs call them."""
    names = ("aws_access_key_id", "aws_secret_access_key")
    data = dict.fromkeys((*names, *map(str.upper, names)), base64.b64encode(b"secret").decode())
    return {"kind": "Secret", "metadata": {"name": name}, "data": data}


def test_a_first_run_learns_with_nothing_set(new_machine: NewMachine) -> None:
    run = Run(new_machine([]), catalogue.set_objects(*catalogue.USE_CASES["llm-finetune/first-run/none"]))
    assert run.pods[0].wait() == 0, run.log
    found = losses(run.log)
    assert found[max(found)] < found[1] / 2
    limits = run.pods[0].described["spec"]["containers"][0]["resources"]["limits"]
    assert "nvidia.com/gpu" not in limits
