"""The memory of Wide and Deep: its program keeps all rows of the input data, and the shipped limit fits them."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from catalogue.pods import as_pods
from catalogue.usecases import PACKAGES, shipped
from packyard.writing.source.package import UseCase
from workload import catalogue

#: train.csv and eval.csv of the large Kaggle Display Advertising Challenge dataset.
ROWS = 8_000_000 + 2_000_000
GIB = 1024**3
SCRIPT = Path(__file__).with_name("rows.py")

(PACKAGE,) = (item for item in PACKAGES if item.name == "wide-deep-large-ds-fp32-training-k8s")


@pytest.fixture(scope="module")
def gib_of_a_million(tmp_path_factory: pytest.TempPathFactory) -> float:
    """How many GiB the program takes for a million rows, by what it takes for 40,000 like those of the dataset."""
    folder = tmp_path_factory.mktemp("rows")
    source = random.Random(0)
    for name, count in (("train.csv", 32_000), ("eval.csv", 8_000)):
        with (folder / name).open("w") as file:
            for _ in range(count):
                numbers = [str(source.randrange(100_000)) for _ in range(13)]
                categories = [f"{source.getrandbits(32):08x}" for _ in range(26)]
                file.write(",".join([str(source.randrange(2)), *numbers, *categories]) + "\n")
    done = subprocess.run(
        [sys.executable, SCRIPT, folder / "train.csv", folder / "eval.csv"], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[0]) * 1_000_000 / GIB


@pytest.mark.nightly
def test_a_million_rows_take_as_much_as_the_comment_says(gib_of_a_million: float) -> None:
    assert 3.6 < gib_of_a_million < 4.2


@pytest.mark.nightly
@pytest.mark.parametrize("use_case", [pytest.param(each, id=each.path) for each in PACKAGE.use_cases])
def test_the_rows_of_the_dataset_fit_and_leave_room_to_train(use_case: UseCase, gib_of_a_million: float) -> None:
    if "CHECKPOINT_DIR" not in shipped(PACKAGE, use_case).setters:
        pytest.skip("it trains nothing")
    objects = catalogue.set_objects(PACKAGE, use_case)
    pods = [pod["spec"] for _, pod in as_pods(objects)]
    (resources,) = [container["resources"] for pod in pods for container in pod["containers"] if "args" in container]
    for kind in ("requests", "limits"):  # without requests they are the limits
        memory = {**resources["limits"], **resources.get(kind, {})}["memory"]
        assert memory.endswith("Gi")
        assert int(memory[:-2]) >= gib_of_a_million * ROWS / 1_000_000 + 4
