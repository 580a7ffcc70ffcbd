"""Copies of this repository's catalogue: to be changed, or with many packages."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import yaml

import real

SHARED = ("packyard.yaml", "LICENSE", "Krmfile", "bases", "overlays", "docs/readme")
#: Options that fit one package alone.
ONLY_FOR = {"efa": "mask-rcnn-fp32-training-k8s", "cpu": "llm-finetune"}
#: Patches of options for a Job that one package alone has.
_BENCHMARK = re.compile(r"^- (\{path|target): [^\n]*component=benchmark\}.*\n(  .*\n)*", re.MULTILINE)
PACKAGES = real.REPOSITORY / "packages"


def names() -> list[str]:
    """Return the names of the catalogue's packages."""
    return sorted(file.parent.name for file in PACKAGES.glob("*/package.yaml"))


def copy(folder: Path, packages: list[str]) -> Path:
    """Copy what packages share, and some of them, byte by byte with their modes."""
    for name in (*SHARED, *(f"packages/{name}" for name in packages)):
        source, target = real.REPOSITORY / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, copy_function=shutil.copy)
        else:
            shutil.copy(source, target)
    for option, package in ONLY_FOR.items():
        if package not in packages:
            shutil.rmtree(folder / "overlays/options" / option)
    if "rfcn-fp32-inference-k8s" not in packages:
        for file in folder.glob("overlays/options/*/kustomization.yaml"):
            file.write_text(_BENCHMARK.sub("", file.read_text()))
    return folder


def multiply(folder: Path, count: int, packages: list[str] | None = None) -> Path:
    """Copy the catalogue with each package ``count`` times: as other packages would be, for models of other names."""
    packages = names() if packages is None else packages
    copy(folder, packages)
    for name in packages:
        original = folder / "packages" / name
        for number in range(count):
            renamed = original.with_name(f"{name}-{number:03}")
            shutil.copytree(original, renamed, copy_function=shutil.copy)
            _rename(renamed, number)
        shutil.rmtree(original)
    return folder


def _rename(package: Path, number: int) -> None:
    """Give a package a model and texts of its own; no file but those shipped as they are stays as it was."""
    file = package / "package.yaml"
    found = yaml.safe_load(file.read_text())
    model_name = found.setdefault("setters", {}).get("MODEL_NAME", re.sub(r"-k8s-\d+$", "", package.name))
    found["setters"]["MODEL_NAME"] = f"{model_name[:28]}-{number:03}"
    found["model"]["name"] += f"-{number:03}"
    file.write_text(yaml.safe_dump(found, sort_keys=False))
    for file in files(package):
        if file.suffix == ".md":
            file.write_text(f"{file.read_text()}\nText {number}.\n")
        elif file.suffix == ".yaml" or file.name == "Krmfile":
            file.write_text(f"{file.read_text()}# {number}\n")


def files(folder: Path) -> Iterator[Path]:
    """Yield every file below a folder."""
    yield from (file for file in sorted(folder.rglob("*")) if file.is_file())
