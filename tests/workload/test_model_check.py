"""The program that looks at a model before vLLM loads it, as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import faults
import real
from workload.models import ADAPTER, CONFIG, tensors
from workload.pod import PATIENCE

_PROGRAM = real.REPOSITORY / "bases/vllm/check_model.py"
_VALUES = {
    "MAX_MODEL_LEN": "8192",
    "TENSOR_PARALLEL_SIZE": "1",
    "GPUS": "1",
    "GPU_MEMORY": "24Gi",
    "GPU_MEMORY_UTILIZATION": "0.9",
    "CHECK_SECONDS": "0.1",
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A whole model, in two files with an index."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    names = [f"model-0000{number}-of-00002.safetensors" for number in (1, 2)]
    index = {"weight_map": {name: name for name in names}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    for name in names:
        (folder / name).write_bytes(tensors(1000))
    return folder


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """A whole adapter."""
    folder = tmp_path / "adapter"
    folder.mkdir()
    for name, data in ADAPTER.items():
        (folder / name).write_bytes(data)
    return folder


def run(model: Path, *arguments: str, **values: str) -> subprocess.CompletedProcess[str]:
    environment = {"MODEL_PATH": str(model), "PATH": os.environ["PATH"], **_VALUES, **values}
    words = [sys.executable, str(_PROGRAM), *arguments]
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


def change(model: Path, **fields: object) -> None:
    (model / "config.json").write_text(json.dumps({**CONFIG, **fields}))


def test_a_whole_model_passes(model: Path) -> None:
    done = run(model)
    assert (done.returncode, done.stdout) == (0, f"{model} is complete\n"), done.stderr


@pytest.mark.parametrize(
    "lacking",
    [
        *("everything", "config", "weights", "a file", "the end of a file", "a header", "a length", "a list"),
        *("the end of config.json", "the end of model.safetensors.index.json"),
    ],
)
def test_waits_for_what_is_not_there_or_half_there_and_says_what(model: Path, lacking: str) -> None:
    second = model / "model-00002-of-00002.safetensors"
    whole = {file: file.read_bytes() for file in model.iterdir()}
    removed = {
        "everything": list(whole),
        "config": [model / "config.json"],
        "weights": [file for file in whole if file.name != "config.json"],
        "a file": [second],
    }
    for file in removed.get(lacking, ()):
        file.unlink()
    if lacking == "the end of a file":
        second.write_bytes(whole[second][:-1])
    if lacking == "a header":
        second.write_bytes(whole[second][:20])
    if lacking == "a length":
        second.write_bytes(b"\xff" * len(whole[second]))
    if lacking == "a list":
        (model / "config.json").write_text("[1]")
    if lacking.endswith(".json"):
        file = model / lacking.removeprefix("the end of ")
        file.write_bytes(whole[file][:-1])
    environment = {"MODEL_PATH": str(model), "PATH": os.environ["PATH"], **_VALUES}
    words = [sys.executable, str(_PROGRAM)]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        said = process.stdout.readline()
        for file, data in whole.items():
            file.write_bytes(data)
        assert process.wait(PATIENCE) == 0
    problem = {
        "everything": f"{model / 'config.json'} is not there: copy it there, as the use case staging does, or set",
        "config": f"{model / 'config.json'} is not there",
        "weights": f"{model / 'model.safetensors'} is not there",
        "a file": f"{second} is not there",
        "the end of a file": "it was not copied whole, copy it again",
        "a header": "nothing that can be read",
        "a length": "nothing that can be read",
        "a list": f"{model / 'config.json'} cannot be read",
    }.get(lacking, f"{model}/{lacking.removeprefix('the end of ')} cannot be read: it was not copied whole")
    assert said.startswith("waiting: ")
    assert problem in said


@pytest.mark.parametrize("lacking", ["adapter_config.json", "adapter_model.safetensors", "the end"])
def test_waits_for_an_adapter_that_is_to_be_served(model: Path, adapter: Path, lacking: str) -> None:
    if lacking == "the end":
        (adapter / "adapter_model.safetensors").write_bytes(ADAPTER["adapter_model.safetensors"][:-1])
    else:
        (adapter / lacking).unlink()
    served = {"MODEL_PATH": str(model), "ADAPTER_PATH": str(adapter), "MAX_LORA_RANK": "64"}
    values = {"PATH": os.environ["PATH"], **_VALUES, **served}
    words = [sys.executable, str(_PROGRAM)]
    with subprocess.Popen(words, env=values, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        said = process.stdout.readline()
        for name, data in ADAPTER.items():
            (adapter / name).write_bytes(data)
        assert process.wait(PATIENCE) == 0
    assert said.startswith("waiting: ")
    assert ("it was not copied whole" if lacking == "the end" else f"{adapter / lacking} is not there") in said


def test_an_adapter_of_a_higher_rank_than_servers_have_room_for_is_named(model: Path, adapter: Path) -> None:
    (adapter / "adapter_config.json").write_text('{"r": 128}')
    done = run(model, ADAPTER_PATH=str(adapter), MAX_LORA_RANK="64")
    assert done.returncode == 1
    assert f"the adapter {adapter} is 128, and MAX_LORA_RANK is 64: set it to 128 or more" in done.stderr
    assert run(model, ADAPTER_PATH=str(adapter), MAX_LORA_RANK="128").returncode == 0


def test_names_what_staging_left_out(model: Path) -> None:
    for file in model.glob("*.safetensors*"):
        file.rename(file.with_suffix(".kept"))
    (model / ".staged").write_text('{"source": "hf://team/llm", "left": ["pytorch_model.bin"]}')
    words = [sys.executable, str(_PROGRAM)]
    values = {"PATH": os.environ["PATH"], "MODEL_PATH": str(model), **_VALUES}
    with subprocess.Popen(words, env=values, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        said = process.stdout.readline()
        process.terminate()
    assert "staging left out pytorch_model.bin, as its STAGE_IGNORE says: stage a model with .safetensors" in said


def test_ends_at_once_when_it_is_told_to(tmp_path: Path) -> None:
    environment = {"MODEL_PATH": str(tmp_path), **_VALUES, "CHECK_SECONDS": "600"}
    with subprocess.Popen([sys.executable, str(_PROGRAM)], env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        while faults.state_of(process.pid) != "S":  # just before a pause, a signal does not end that
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 143


def test_a_context_that_the_model_does_not_know_is_named(model: Path) -> None:
    done = run(model, MAX_MODEL_LEN="40961")
    assert done.returncode == 1
    assert "the model knows contexts of 40960 tokens: set it to 40960 or less" in done.stderr


@pytest.mark.parametrize("key", ["rope_scaling", "rope_parameters"])
def test_a_context_that_the_model_scales_to_passes(model: Path, key: str) -> None:
    change(model, **{key: {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}})
    assert run(model, MAX_MODEL_LEN="131072").returncode == 0
    assert run(model, MAX_MODEL_LEN="200000").returncode == 1


def test_gpus_that_cannot_share_the_heads_are_named(model: Path) -> None:
    done = run(model, GPUS="3", TENSOR_PARALLEL_SIZE="3")
    assert done.returncode == 1
    assert "3 GPUs cannot share 16 attention heads: split the model over 1, 2, 4, 8, 16" in done.stderr


def weigh(model: Path, gib: int, kind: bytes) -> None:
    """Give a model weights of so many GiB on the storage, of one type of numbers."""
    size = gib * 2**30
    header = tensors(0).replace(b"[0, 0]", b"[0, %d]" % size).replace(b"U8", kind)[8:]
    with (model / "model-00001-of-00002.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)  # holes: no byte of it is written


@pytest.mark.parametrize(("gib", "kind", "fits"), [(40, b"F32", True), (40, b"BF16", False), (20, b"F8_E4M3", True)])
def test_numbers_are_counted_as_vllm_computes_with_them(model: Path, gib: int, kind: bytes, fits: bool) -> None:
    weigh(model, gib, kind)
    done = run(model)
    assert (done.returncode == 0) == fits, done.stderr


@pytest.mark.parametrize("argument", ["--quantization=fp8", "--kv-cache-dtype=fp8", "--cpu-offload-gb=20"])
def test_where_an_argument_changes_the_memory_it_warns(model: Path, argument: str) -> None:
    weigh(model, 30, b"BF16")
    done = run(model, "--port=8000", argument)
    assert done.returncode == 0, done.stderr
    assert "warning: the weights take 30.0Gi, a request of MAX_MODEL_LEN 8192 0.9Gi, and 1 GPUs of 24Gi" in done.stdout
    assert f"unless {argument.partition('=')[0]} changes that" in done.stdout


def test_a_card_may_be_named_by_what_it_has(model: Path) -> None:
    weigh(model, 70, b"BF16")
    assert run(model, GPU_MEMORY="79.6Gi").returncode == 0
    assert "1 GPUs of 46068Mi have 40.5Gi" in run(model, GPU_MEMORY="46068Mi").stderr


def test_a_model_in_the_layout_of_mistral_is_whole_without_config_json(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text('{"dim": 4096}')
    (tmp_path / "consolidated.safetensors").write_bytes(tensors(1000))
    assert run(tmp_path).returncode == 0


def test_programs_that_are_to_be_run_and_were_not_staged_are_named(model: Path) -> None:
    change(model, auto_map={"AutoConfig": "configuration_mine.MyConfig", "AutoModel": "team/llm--modeling_mine.Mine"})
    (model / "configuration_mine.py").write_text("")
    assert run(model).returncode == 0
    done = run(model, "--trust-remote-code")
    assert (done.returncode, "configuration_mine" in done.stderr) == (1, False)
    assert "modeling_mine.py is not there: stage the model with TRUST_REMOTE_CODE" in done.stderr


def test_weights_that_do_not_fit_the_gpus_are_named(model: Path) -> None:
    weigh(model, 30, b"U8")
    done = run(model)
    assert done.returncode == 1
    assert "weights take 30.0Gi" in done.stderr
    assert done.stderr.endswith("1 GPUs of 24Gi have 21.6Gi: raise GPUS or GPU_MEMORY\n")
    assert run(model, GPUS="2", TENSOR_PARALLEL_SIZE="2").returncode == 0


def test_a_context_that_does_not_fit_beside_the_weights_is_named(model: Path) -> None:
    change(model, max_position_embeddings=1_000_000)
    done = run(model, MAX_MODEL_LEN="500000")  # of 112 KiB a token
    assert done.returncode == 1
    assert "a request of MAX_MODEL_LEN 500000 53.4Gi" in done.stderr
    assert "lower MAX_MODEL_LEN, or raise GPUS or GPU_MEMORY" in done.stderr
    assert run(model, MAX_MODEL_LEN="500000", GPUS="4", NODES="1", TENSOR_PARALLEL_SIZE="4").returncode == 0
    assert run(model, MAX_MODEL_LEN="500000", GPUS="1", NODES="4").returncode == 0


@pytest.mark.parametrize("odd", [{"sliding_window": 4096}, {"kv_lora_rank": 512}, {"layer_types": ["mamba"]}])
def test_a_model_whose_layers_differ_is_judged_by_its_weights_alone(model: Path, odd: dict[str, object]) -> None:
    change(model, max_position_embeddings=1_000_000, **odd)
    assert run(model, MAX_MODEL_LEN="500000").returncode == 0


def test_a_window_that_is_not_used_does_not_count(model: Path) -> None:
    full = {"sliding_window": 4096, "use_sliding_window": False, "layer_types": ["full_attention"] * 28}
    change(model, max_position_embeddings=1_000_000, **full)
    assert run(model, MAX_MODEL_LEN="500000").returncode == 1


def test_a_model_of_text_and_images_is_judged_by_its_text(model: Path) -> None:
    (model / "config.json").write_text(json.dumps({"text_config": CONFIG, "vision_config": {}}))
    assert run(model).returncode == 0
    assert run(model, MAX_MODEL_LEN="99999").returncode == 1
