"""The program that looks at a model before vLLM loads it: what it waits for, and what it refuses."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import real
import tiny
from workload.machine import PATIENCE, running
from workload.models import ADAPTER, CONFIG, tensors

pytestmark = pytest.mark.nightly("workload")

_WORDS = [sys.executable, str(real.REPOSITORY / "bases/vllm/check_model.py")]
_VALUES = {"MAX_MODEL_LEN": "8192", "TENSOR_PARALLEL_SIZE": "1", "GPUS": "1", "GPU_MEMORY": "24Gi"}
_VALUES |= {"GPU_MEMORY_UTILIZATION": "0.9", "CHECK_SECONDS": "0.1", "MAX_LORA_RANK": "64", "PATH": os.environ["PATH"]}
_SECOND = "model-00002-of-00002.safetensors"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A whole model, in two files with an index, and beside it an adapter."""
    names = ["model-00001-of-00002.safetensors", _SECOND]
    index = json.dumps({"weight_map": {name: name for name in names}}).encode()
    config = json.dumps(CONFIG).encode()
    files = {
        "config.json": config,
        "model.safetensors.index.json": index,
        **dict.fromkeys(names, tensors({"w": [1000]})),
    }
    for folder, content in (("model", files), ("adapter", ADAPTER)):
        tiny.write_all(tmp_path / folder, content)
    return tmp_path / "model"


def variables(model: Path, **values: str) -> dict[str, str]:
    return {"MODEL_PATH": str(model), "ADAPTER_PATH": str(model.with_name("adapter")), **_VALUES, **values}


def run(model: Path, *arguments: str, **values: str) -> subprocess.CompletedProcess[str]:
    environment = variables(model, **values)
    return subprocess.run([*_WORDS, *arguments], env=environment, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.parametrize(
    ("name", "keep", "said"),
    [
        ("config.json", None, "is not there: copy it there, as the use case staging does, or set"),
        ("config.json", -1, "cannot be read: it was not copied whole"),
        ("model.safetensors.index.json", -1, "cannot be read: it was not copied whole"),
        (_SECOND, None, f"{_SECOND} is not there"),
        (_SECOND, -1, "it was not copied whole, copy it again"),
        (_SECOND, 20, "nothing that can be read"),
        ("../adapter/adapter_config.json", None, "adapter_config.json is not there"),
        ("../adapter/adapter_model.safetensors", -1, "it was not copied whole"),
    ],
)
def test_waits_for_what_is_not_there_or_half_there_and_says_what(
    model: Path, name: str, keep: int | None, said: str
) -> None:
    whole = (model / name).read_bytes()
    (model / name).unlink()
    if keep is not None:
        (model / name).write_bytes(whole[:keep])
    with running(_WORDS, env=variables(model), stdout=subprocess.PIPE) as process:
        assert process.stdout
        line = process.stdout.readline()
        (model / name).write_bytes(whole)
        assert process.wait(PATIENCE) == 0
    assert line.startswith("waiting: ")
    assert said in line


def weigh(model: Path, gib: int, kind: bytes = b"BF16") -> None:
    """Give a model weights of so many GiB on the storage, of one type of numbers."""
    size = gib * 2**30
    header = tensors({"w": [0]}).replace(b"[0, 0]", b"[0, %d]" % size).replace(b"U8", kind)[8:]
    with (model / "model-00001-of-00002.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)  # holes: no byte of it is written


_TWO = {"GPUS": "2", "TENSOR_PARALLEL_SIZE": "2"}


@pytest.mark.parametrize(
    ("gib", "kind", "values", "said"),
    [
        (0, b"BF16", {}, ""),
        (0, b"BF16", {"MAX_LORA_RANK": "4"}, "is 8, and MAX_LORA_RANK is 4: set it to 8 or more"),
        (40, b"F32", {}, ""),  # vLLM computes with 16 bits
        (40, b"BF16", {}, "1 GPUs of 24Gi have 21.6Gi: raise GPUS or GPU_MEMORY"),
        (40, b"BF16", _TWO, ""),
        (70, b"BF16", {"GPU_MEMORY": "79.6Gi"}, ""),
        (20, b"BF16", {"MAX_MODEL_LEN": "40000"}, "lower MAX_MODEL_LEN, or raise GPUS or GPU_MEMORY"),
    ],
)
def test_values_that_the_model_or_the_gpus_do_not_bear_are_named(
    model: Path, gib: int, kind: bytes, values: dict[str, str], said: str
) -> None:
    weigh(model, gib, kind)
    done = run(model, **values)
    assert (done.returncode == 0, said in done.stderr) == (not said, True), done.stderr


def test_a_model_that_its_user_may_not_read_is_waited_for_with_ids_and_mode(model: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is root's alone
        Path(folder).chmod(0o755)
        closed = Path(folder, "model")
        shutil.copytree(model, closed)
        closed.chmod(0o700)
        words = [str(real.program("setpriv")), "--reuid=1000", "--regid=1000", "--clear-groups", "/usr/bin/python3"]
        values = variables(closed, ADAPTER_PATH="")
        with running([*words, *_WORDS[1:]], env=values, stdout=subprocess.PIPE) as process:
            assert process.stdout
            line = process.stdout.readline()
            closed.chmod(0o755)
            assert process.wait(PATIENCE) == 0
    assert line == f"waiting: USER_ID 1000, GROUP_ID 1000 and FS_ID may not read {closed} (drwx------ 0:0)\n"


def test_programs_that_are_to_be_run_and_were_not_staged_are_named(model: Path) -> None:
    (model / "config.json").write_text(json.dumps({**CONFIG, "auto_map": {"AutoModel": "modeling_mine.Mine"}}))
    assert run(model).returncode == 0
    done = run(model, "--trust-remote-code")
    assert done.returncode == 1
    assert "modeling_mine.py is not there: stage the model with the option trust-remote-code" in done.stderr


def test_what_flashinfer_has_in_a_read_only_image_is_linked_to_where_it_may_write_beside_it(
    model: Path, tmp_path: Path
) -> None:
    image, target = tmp_path / "image/flashinfer_cubin", tmp_path / "cubins"
    (image / "cubins/fmha/trtllm").mkdir(parents=True)
    (image / "__init__.py").touch()
    (image / "cubins/fmha/checksums.txt").write_text("kernel.cubin 12\n")
    (image / "cubins/fmha/trtllm/kernel.cubin").write_bytes(b"kernel")
    values = {"PYTHONPATH": str(image.parent), "FLASHINFER_CUBIN_DIR": str(target)}
    for _ in range(2):  # a container that is started again finds them
        done = run(model, **values)
        assert done.returncode == 0, done.stderr
    assert (target / "fmha/trtllm/kernel.cubin").read_bytes() == b"kernel"
    (target / "fmha/trtllm/include").symlink_to(target)  # as FlashInfer does, with a lock beside it
    assert [path.name for path in (image / "cubins/fmha/trtllm").iterdir()] == ["kernel.cubin"]
