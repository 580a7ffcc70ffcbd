"""The machine of tests/workload, and the programs that `make test-models` installs."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import real
from workload.nightly.conftest import namespaces, new_machine

__all__ = ["namespaces", "new_machine"]

_HERE = Path(__file__).parents[1]


def _named(variable: str) -> Path:
    """Return what a variable of `make test-models` names."""
    named = os.environ.get(variable)
    if named and Path(named).exists():
        return Path(named)
    if os.environ.get("PACKYARD_REQUIRE_MODELS") == "1":
        pytest.fail(f"{variable} names nothing that is there: run make test-models", pytrace=False)
    return real.lacking(variable, remedy="run make test-models")


@pytest.fixture(scope="session")
def vllm() -> Path:
    """The Python that has vLLM for processors."""
    return _named("PACKYARD_VLLM")


@pytest.fixture(scope="session")
def trainer() -> Path:
    """The Python that has PyTorch, transformers, PEFT and TRL."""
    return _named("PACKYARD_TORCH")


@pytest.fixture(scope="session")
def newest() -> Path:
    """The sources of the newest vLLM."""
    return _named("PACKYARD_NEWEST")


@pytest.fixture(autouse=True, scope="module")
def patience() -> Iterator[None]:
    """vLLM loads for a minute."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("workload.machine.PATIENCE", 900.0)
        yield


@pytest.fixture(scope="session")
def model(vllm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model, as Hugging Face lays it out."""
    folder = tmp_path_factory.mktemp("model")
    subprocess.run([vllm, _HERE / "make_model.py", folder], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def adapter(vllm: Path, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An adapter for it, as PEFT lays it out."""
    folder = tmp_path_factory.mktemp("adapter") / "tuned"
    subprocess.run([vllm, _HERE / "make_adapter.py", model, folder], check=True, capture_output=True)
    return folder
