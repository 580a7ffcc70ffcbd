"""Every use case, as shipped and with options of a sample: kustomize and packyard's own builder build the same objects.

kustomize is that of the kubectl which comes as a wheel, so that this needs no other program.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

import real
from catalogue.usecases import Object, each_use_case, sampled_options, shipped
from packyard.writing.source.package import Package, UseCase
from tiny import done


@pytest.fixture(scope="session")
def kubectl_of_the_wheel() -> Path:
    return real.own_program("kubectl")


def objects(text: str) -> list[Object]:
    found = [item for item in yaml.load_all(text, Loader=yaml.CSafeLoader) if item]
    return sorted(found, key=lambda item: (item["kind"], item["metadata"]["name"]))


@each_use_case
def test_kustomize_builds_what_packyard_builds(
    package: Package, use_case: UseCase, kubectl_of_the_wheel: Path, tmp_path: Path
) -> None:
    directory = shipped(package, use_case)
    directory = directory.set(directory.examples)
    for option in ("", *sampled_options(package, use_case, of="kustomize")):
        directory.write(tmp_path, {"components": [f"../options/{option}"] if option else []})
        folder = tmp_path / "use-case"
        built = subprocess.run([kubectl_of_the_wheel, "kustomize", folder], capture_output=True, text=True, check=True)
        assert objects(built.stdout)
        assert objects(done("render", "--built-in", folder)) == objects(built.stdout), option
