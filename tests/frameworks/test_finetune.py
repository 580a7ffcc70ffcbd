"""The pods that tune language models as processes with PyTorch itself: they train together, and go on when one is lost.

``make test-models`` installs PyTorch and names its Python in PACKYARD_TORCH. No other run of the tests has it.
Processes talk by gloo, on CPUs, and tune the model of tiny.py. What this cannot judge (FSDP, LoRA by PEFT, NCCL)
tests of arguments and manifests do.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import openaiserver
from real import free_port, pinned_program
from served import Served
from usecases import CATALOGUE, PACKAGES
from workload import catalogue, controllers, deploy, zoo
from workload.cluster import Cluster
from workload.models import MODEL, tensors
from workload.objects import Object, Objects
from workload.pod import Pod

PYTHON = os.environ.get("PACKYARD_TORCH", "")
NewCluster = Callable[[list[Object]], Cluster]

USE_CASES = {f"{item.name}/{each.path}": (item, each) for item in PACKAGES for each in item.use_cases}
SINGLE_NODE = "single-node/user-allocated-pvc"
BUCKET = "single-node-bucket/object-storage"
JOB_SET = "multi-node-job-set/user-allocated-pvc"
TORCH_JOB = "multi-node-torch-job/user-allocated-pvc"
MULTI_NODE = [JOB_SET, "multi-node-train-job/user-allocated-pvc", TORCH_JOB]

PROGRAM = CATALOGUE.root_dir / "overlays/programs/finetune/train.py"

pytestmark = [pytest.mark.skipif(not PYTHON, reason="run by make test-models"), pytest.mark.usefixtures("namespaces")]


@pytest.fixture(autouse=True, scope="module")
def patience() -> Iterator[None]:
    """PyTorch alone takes seconds to start, and a rendezvous half a minute to notice a loss."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("workload.pod.PATIENCE", 300.0)
        yield


def set_objects(path: str, **values: object) -> list[Object]:
    chosen = {"MODEL_PATH": "/models/tiny", "GPUS": 1, "MAX_LENGTH": 32, "LORA_RANK": 4, "LEARNING_RATE": "0.01"}
    objects = catalogue.set_objects(*USE_CASES[f"llm-finetune/{path}"], **chosen | values)
    for item in objects:
        if "CHECKPOINT_STEPS" in item.get("data", {}):
            item["data"]["CHECKPOINT_STEPS"] = "5"
    return objects


class Run:
    """The pods of a use case, on a node of their own or on that of an earlier run."""

    def __init__(self, cluster: Cluster, objects: list[Object]) -> None:
        self.cluster, self.objects = cluster, objects
        cluster.objects.apply(objects)
        install(cluster)
        self.pods = self.start()
        for item in deploy.of_kind(objects, "PyTorchJob"):
            services, described = controllers.torch_job(item)
            cluster.objects.apply(services)
            self.pods += [cluster.start(pod) for pod in described]

    def start(self, restarts: int = 0) -> list[Pod]:
        """Start the pods of Jobs, and of those that a JobSet makes at first or after so many restarts."""
        jobs = deploy.jobs_of(self.cluster, self.objects, restarts)
        return [self.cluster.start(pod) for item in jobs for pod in controllers.job(item)]

    def go_on(self) -> None:
        """Do after a loss what controllers do: a Job, or a JobSet, puts other pods in the place of all.

        A PyTorchJob keeps its pods: the kubelet starts what has failed.
        """
        if deploy.of_kind(self.objects, "PyTorchJob"):
            deploy.wait_until(self.have_succeeded, self.pods, seconds=300)
            return
        for pod in self.pods:
            pod.kill()
        self.pods = self.start(restarts=1)

    def have_succeeded(self) -> bool:
        """Whether all pods have; those that failed are started again."""
        failed = [pod for pod in self.pods if pod.has_ended and pod.wait()]
        for pod in failed:
            self.cluster.restart(pod)
        return all(pod.has_ended for pod in self.pods)

    @property
    def log(self) -> str:
        return "".join(pod.log for pod in self.pods)

    @property
    def later_log(self) -> tuple[int, str]:
        """The step that the run went on from, and what it said since."""
        ((step, text),) = re.findall(r"^going on after step (\d+)\n(.*?)(?=^---|\Z)", self.log, re.M | re.S)
        return int(step), text


def install(cluster: Cluster) -> None:
    """Have the image bring PyTorch for its python3, and torchrun."""
    for name, words in (("python3", ""), ("torchrun", " -m torch.distributed.run")):
        cluster.put(f"/usr/local/sbin/{name}", f'#!/bin/sh\nexec {PYTHON}{words} "$@"\n'.encode())


def store_texts(cluster: Cluster, count: int = 1000) -> None:
    """Put texts where the storage has its data."""
    write_texts(
        cluster.storage({"name": "storage", "persistentVolumeClaim": {"claimName": "workdisk"}}) / "texts", count
    )


def write_texts(folder: Path, count: int = 1000) -> None:
    folder.mkdir(parents=True)
    lines = [json.dumps({"text": f"The quick brown fox number {number} jumps."}) for number in range(count)]
    (folder / "texts.jsonl").write_text("\n".join(lines) + "\n")


def losses(text: str) -> dict[int, float]:
    """Return the loss of each step."""
    return {int(step): float(loss) for step, loss in re.findall(r"^step (\d+) of \d+: loss ([0-9.]+)$", text, re.M)}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[int, float]:
    """The losses of two processes in one pod that go on until they end."""
    with Cluster(tmp_path_factory.mktemp("undisturbed") / "cluster", Objects([])) as cluster:
        store_texts(cluster)
        run = Run(cluster, set_objects(SINGLE_NODE, GPUS=2))
        assert run.pods[0].wait() == 0, run.log
        return losses(run.log)


def test_processes_of_one_pod_learn(undisturbed: dict[int, float]) -> None:
    assert len(undisturbed) == max(undisturbed) > 100
    assert undisturbed[1] > 5 > 3 > undisturbed[max(undisturbed)]


@pytest.mark.parametrize("path", MULTI_NODE)
def test_workers_train_as_one_pod_does(path: str, new_cluster: NewCluster, undisturbed: dict[int, float]) -> None:
    """Each has a part of every batch: as many processes in one pod have the same losses."""
    cluster = new_cluster([])
    store_texts(cluster)
    run = Run(cluster, set_objects(path))
    assert {pod.wait() for pod in run.pods} == {0}, run.log
    assert losses(run.log) == undisturbed


@pytest.mark.parametrize(("path", "lost"), [(SINGLE_NODE, 0), *itertools.product(MULTI_NODE, (0, 1))])
def test_a_killed_run_goes_on_from_its_last_checkpoint_as_if_nothing_had_been(
    path: str, lost: int, new_cluster: NewCluster, undisturbed: dict[int, float]
) -> None:
    """No step before the checkpoint is done again, and those after it have the losses of a run that was left alone."""
    cluster = new_cluster([])
    store_texts(cluster)
    run = Run(cluster, set_objects(path, GPUS=2 if path == SINGLE_NODE else 1))
    deploy.wait_until(lambda: len(losses(run.log)) > 10, run.pods, seconds=120)
    run.pods[lost].kill()
    done = max(losses(run.log))
    run.go_on()
    assert {pod.wait() for pod in run.pods} == {0}, run.log
    start, said = run.later_log
    assert done - 5 <= start <= done < len(undisturbed)
    assert losses(said) == {step: loss for step, loss in undisturbed.items() if step > start}


def serve_adapter(cluster: Cluster, kustomize: Served, path: str) -> list[str]:
    """Start a server of llm-serving with its option `adapter`, and return the models that it serves."""
    serving = USE_CASES["llm-serving/one-node/user-allocated-pvc"]
    objects = catalogue.with_option(kustomize, *serving, "adapter", ADAPTER_PATH=path)
    cluster.objects.apply(objects)
    cluster.put("/usr/local/bin/vllm", b"#!/usr/bin/python3\n" + Path(openaiserver.__file__).read_bytes())
    (item,) = deploy.of_kind(objects, "Deployment")
    zoo.store_files(cluster, item, "/data/models/qwen3-0.6b", MODEL)
    (server,) = [cluster.start(pod) for pod in controllers.deployment(item)]
    cluster.wait_ready(server)
    listed = json.loads(cluster.run("curl", "--silent", f"http://{server.address}:8000/v1/models"))
    return [each["id"] for each in listed["data"]]


def test_the_adapter_that_a_run_leaves_on_a_claim_is_served(new_cluster: NewCluster, served5: Served) -> None:
    cluster = new_cluster([])
    store_texts(cluster, 200)
    run = Run(cluster, set_objects(SINGLE_NODE))
    assert run.pods[0].wait() == 0, run.log
    path = "/nobody-here/llm-finetune/single-node/output/adapter"
    assert serve_adapter(cluster, served5, path) == ["llm", "tuned"]


def test_a_run_in_buckets_goes_on_and_its_adapter_is_served(
    new_cluster: NewCluster, served5: Served, undisturbed: dict[int, float]
) -> None:
    cluster = new_cluster([])
    buckets, url = cluster.folder / "buckets", "http://10.0.0.1:7070"
    write_texts(buckets / "datasets/texts")
    (buckets / "results").mkdir()
    words = ("--access", "secret", "--secret", "secret", "--port", "10.0.0.1:7070", "--quiet", "posix", buckets)
    cluster.serve(str(pinned_program("versitygw")), *map(str, words), cwd=buckets)
    places = {"datasetsbucket": "datasets", "trainingbucket": "results", "endpoint_url": url}
    run = Run(cluster, [*set_objects(BUCKET, GPUS=2, **places), keys("s3-credentials")])
    deploy.wait_until(lambda: len(losses(run.log)) > 10, run.pods, seconds=120)
    run.pods[0].kill()
    left = buckets / "results/nobody-here/llm-finetune/bucket/output/checkpoints/step-145/part-0.pt"
    left.parent.mkdir()
    left.write_bytes(b"not a whole checkpoint: it has no shape")
    run.go_on()
    assert run.pods[0].wait() == 0, run.log
    start, said = run.later_log
    assert start >= 10
    assert losses(said) == {step: loss for step, loss in undisturbed.items() if step > start}

    results = "results/nobody-here/llm-finetune/bucket/output"
    assert [file.name for file in (buckets / results / "checkpoints").iterdir()] == ["step-145"]
    values = {"MODEL_SOURCE": f"s3://{results}/adapter", "MODEL_PATH": "/adapters/tuned", "S3_ENDPOINT": url}
    staging = catalogue.set_objects(*USE_CASES["llm-serving/staging/user-allocated-pvc"], **values)
    cluster.objects.apply([*staging, keys("model-credentials")])
    (copying,) = [cluster.start(pod) for item in deploy.of_kind(staging, "Job") for pod in controllers.job(item)]
    assert copying.wait() == 0, copying.log
    assert serve_adapter(cluster, served5, "/adapters/tuned") == ["llm", "tuned"]


def keys(name: str) -> Object:
    """Return the Secret of that name with the keys of the buckets, as all programs call them."""
    names = ("aws_access_key_id", "aws_secret_access_key")
    data = dict.fromkeys((*names, *map(str.upper, names)), base64.b64encode(b"secret").decode())
    return {"kind": "Secret", "metadata": {"name": name}, "data": data}


def test_a_first_run_learns_with_nothing_set(new_cluster: NewCluster) -> None:
    run = Run(new_cluster([]), catalogue.set_objects(*USE_CASES["llm-finetune/first-run/none"]))
    assert run.pods[0].wait() == 0, run.log
    found = losses(run.log)
    assert found[max(found)] < found[1] / 2
    limits = run.pods[0].described["spec"]["containers"][0]["resources"]["limits"]
    assert "nvidia.com/gpu" not in limits


def given(folder: Path, **values: object) -> dict[str, str]:
    """Return the variables of a process that is alone, with texts to train on."""
    (folder / "texts").mkdir(exist_ok=True)
    (folder / "texts/a.jsonl").write_text('{"text": "%s"}\n' % ("a" * 400))
    found: dict[str, object] = {
        "MODEL_PATH": folder / "tiny",
        "DATASET_DIR": folder / "texts",
        "OUTPUT_DIR": folder / "output",
    }
    found |= {"BATCH_SIZE": 4, "TRAIN_EPOCHS": 1, "MAX_LENGTH": 32, "LORA_RANK": 4, "CHECKPOINT_STEPS": 5}
    found |= {"LEARNING_RATE": 0.01, "SHARDING": "none", "RANK": 0, "LOCAL_RANK": 0, "WORLD_SIZE": 1}
    found |= {"LOCAL_WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 0}
    return {name: str(value) for name, value in (found | values).items()}


def refusal(folder: Path, **values: object) -> str:
    """Return what the program says last of what it does not train with."""
    done = subprocess.run([PYTHON, PROGRAM], env=given(folder, **values), capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    return done.stderr.splitlines()[-1]


def weights(folder: Path, files: dict[str, bytes]) -> Path:
    """Make a directory of weights as Hugging Face lays it out, in several files."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


WHOLE = {"model-1.safetensors": tensors(4), "model-2.safetensors": tensors(4)}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "copy model-1.safetensors, model-2.safetensors again"),
        ({"model-1.safetensors": tensors(4)}, "copy model-2.safetensors again"),
        (WHOLE | {"model-2.safetensors": tensors(4)[:-1]}, "copy model-2.safetensors again"),
        (WHOLE | {"model-2.safetensors": tensors(4)[:20]}, "copy model-2.safetensors again"),
        (WHOLE | {"model-2.safetensors": b""}, "copy model-2.safetensors again"),
        (WHOLE | {"config.json": b'{"hidden'}, "config.json is not whole: copy it again"),
        (WHOLE | {"model.safetensors.index.json": b'{"weight_map": {'}, "copy model.safetensors.index.json again"),
        (WHOLE, "1 processes and sees 0 GPUs: set GPUS to what its node has"),
    ],
    ids=["none", "one", "half", "header", "empty", "config", "index", "whole"],
)
def test_refuses_weights_that_are_not_whole(files: dict[str, bytes], expected: str, tmp_path: Path) -> None:
    assert expected in refusal(tmp_path, MODEL_PATH=weights(tmp_path / "weights", files))


def test_refuses_a_directory_without_weights(tmp_path: Path) -> None:
    assert "has no config.json: copy them there, or set MODEL_PATH" in refusal(tmp_path, MODEL_PATH=tmp_path / "no")


@pytest.mark.parametrize(
    "config", ['{"max_position_embeddings": 31}', '{"text_config": {"max_position_embeddings": 31}}']
)
def test_refuses_a_context_that_the_model_has_not(config: str, tmp_path: Path) -> None:
    folder = weights(tmp_path / "weights", WHOLE | {"config.json": config.encode()})
    assert "is 31 tokens: lower MAX_LENGTH from 32" in refusal(tmp_path, MODEL_PATH=folder)
    assert "GPUs" in refusal(tmp_path, MODEL_PATH=folder, MAX_LENGTH=31)  # the context is not what is wrong now


def test_a_context_that_a_model_stretches_is_not_too_long(tmp_path: Path) -> None:
    config = b'{"max_position_embeddings": 16, "rope_scaling": {"factor": 2.0}}'
    folder = weights(tmp_path / "weights", WHOLE | {"config.json": config})
    assert "GPUs" in refusal(tmp_path, MODEL_PATH=folder)


def test_refuses_fewer_texts_than_a_step_takes(tmp_path: Path) -> None:
    said = refusal(tmp_path, BATCH_SIZE=16)
    assert "are 12 rows of 32 tokens, and a step takes 16: bring more texts" in said


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (None, "*.jsonl are 0 rows of 32 tokens, and a step takes 4: bring more texts, set DATASET_DIR"),
        (b"", "*.jsonl are 0 rows of 32 tokens"),
        (b'{"text": "a"}\n{"text": "', '.jsonl:2: each line is {"text": "..."}: JSONDecodeError'),
        (b'{"prompt": "a"}', '.jsonl:1: each line is {"text": "..."}: KeyError'),
        (b'{"text": "\xff"}', '.jsonl:1: each line is {"text": "..."}: UnicodeDecodeError'),
        (b'["a"]', '.jsonl:1: each line is {"text": "..."}: TypeError'),
    ],
    ids=["absent", "empty", "half", "other", "encoding", "list"],
)
def test_refuses_texts_that_it_cannot_read(texts: bytes | None, expected: str, tmp_path: Path) -> None:
    folder = tmp_path / "others"
    if texts is not None:
        folder.mkdir()
        (folder / "b.jsonl").write_bytes(texts)
    assert expected in refusal(tmp_path, DATASET_DIR=folder)


def test_says_so_when_the_storage_is_full_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    script = """
        mount -t tmpfs -o size=2m tmpfs "$OUTPUT_DIR"
        head -c $((2 * 1024 * 1024 - 24000)) /dev/zero >"$OUTPUT_DIR/others"
        "$@" && exit
        rm "$OUTPUT_DIR/others"
        exec "$@"
    """
    (tmp_path / "output").mkdir()
    words = ["unshare", "--mount", "sh", "-c", script, "sh", PYTHON, PROGRAM]
    environment = {**given(tmp_path, CHECKPOINT_STEPS=1, MASTER_PORT=free_port()), "PATH": os.environ["PATH"]}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "is full: make room, and the run goes on from its last checkpoint" in done.stderr.splitlines()[-1]
    assert list(losses(done.stdout)) == [1, 2, 3]
    assert re.findall(r"^going on after step (\d)", done.stdout, re.M) == ["1"]


@pytest.mark.parametrize(
    ("was", "expected"),
    [
        ({"WORKERS x GPUS": "4"}, "WORKERS x GPUS 4, and not 1: set that again, or another RUN_NAME"),
        ({"LORA_RANK": "8", "BATCH_SIZE": "2"}, "LORA_RANK 8, and not 4; BATCH_SIZE 2, and not 4"),
    ],
)
def test_refuses_a_checkpoint_of_another_run(was: dict[str, str], expected: str, tmp_path: Path) -> None:
    shape = {"WORKERS x GPUS": "1", "LORA_RANK": "4", "SHARDING": "none", "BATCH_SIZE": "4", "MAX_LENGTH": "32"}
    folder = tmp_path / "output/checkpoints/step-10"
    folder.mkdir(parents=True)
    (folder / "shape.json").write_text(json.dumps(shape | was))
    assert expected in refusal(tmp_path)


#: Starts the program where PyTorch knows FSDP, and transformers and PEFT are there, as far as it asks: each says what
#: it was given. The model is that of tiny.py, on a CPU.
STAND_INS = """
import json, runpy, sys, types
import torch

def said(name, result=None):
    def call(*words, **given):
        shown = [type(word).__name__ if isinstance(word, torch.nn.Module) else str(word) for word in words]
        print("called", json.dumps([name, shown, {key: str(value) for key, value in given.items()}]))
        return result(*words) if result else None
    return call

def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)

sys.path.insert(0, sys.argv[1].rpartition("/")[0])
import tiny

torch.cuda.device_count = lambda: 1
model = tiny.Model(4)
model._no_split_modules = ["Linear"]
model.gradient_checkpointing_enable = said("gradient_checkpointing_enable")
class Tokenizer:
    eos_token = "!"
    save_pretrained = said("save_pretrained")
    def __call__(self, text):
        return {"input_ids": list(text.encode())}
class Of:
    def __init__(self, name, made):
        self.from_pretrained = said(name, lambda *_: made)
module("transformers", AutoTokenizer=Of("tokenizer", Tokenizer()), AutoModelForCausalLM=Of("model", model))
module("peft", LoraConfig=said("LoraConfig"), get_peft_model=said("get_peft_model", lambda model, _: model))
fully_shard = said("fully_shard", lambda module: module)
module("torch.distributed.fsdp", fully_shard=fully_shard, MixedPrecisionPolicy=said("policy"))
state_dict = {"StateDictOptions": said("options"), "get_model_state_dict": lambda model, options: model.state_dict()}
module("torch.distributed.checkpoint.state_dict", **state_dict)
module("torch.distributed.checkpoint", state_dict=sys.modules["torch.distributed.checkpoint.state_dict"])
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def called(folder: Path, **values: object) -> dict[str, list[tuple[list[str], dict[str, str]]]]:
    """Return what the program asked of libraries that are not there, by their functions."""
    weights(folder / "weights", WHOLE)
    environment = given(folder, MODEL_PATH=folder / "weights", MASTER_PORT=free_port(), **values)
    words = [PYTHON, "-c", STAND_INS, PROGRAM]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, list[tuple[list[str], dict[str, str]]]] = {}
    for line in re.findall("^called (.*)$", done.stdout, re.M):
        name, shown, named = json.loads(line)
        found.setdefault(name, []).append((shown, named))
    return found


def test_an_adapter_is_asked_of_peft(tmp_path: Path) -> None:
    found = called(tmp_path)
    assert found["model"] == [([str(tmp_path / "weights")], {"dtype": "torch.bfloat16"})]
    config = {"task_type": "CAUSAL_LM", "r": "4", "lora_alpha": "8", "lora_dropout": "0.05"}
    assert found["LoraConfig"] == [([], {**config, "target_modules": "all-linear"})]
    assert found["get_peft_model"] == [(["Model", "None"], {"autocast_adapter_dtype": "True"})]
    assert "fully_shard" not in found
    openaiserver.load_adapter(tmp_path / "output/adapter", longest=4)


def test_weights_are_shared_by_fsdp(tmp_path: Path) -> None:
    found = called(tmp_path, SHARDING="fsdp", LORA_RANK=0)
    assert found["model"] == [([str(tmp_path / "weights")], {"dtype": "torch.float32"})]
    assert found["policy"] == [([], {"param_dtype": "torch.bfloat16", "reduce_dtype": "torch.float32"})]
    assert [shown for shown, _ in found["fully_shard"]] == [["Linear"]] * 3 + [["Model"]]
    assert found["options"] == [([], {"full_state_dict": "True", "cpu_offload": "True"})]
    assert found.keys() & {"LoraConfig", "get_peft_model"} == set()
    assert (tmp_path / "output/model").is_dir()
