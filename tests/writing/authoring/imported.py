"""Packages that `packyard import` took into one workspace: their use cases as they came, and as they are composed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import reading
import tiny
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, plan
from packyard.writing.source import compose, package, workspace

PREFIX = "quickstart/mlops"
WORKSPACE = f"apiVersion: packyard/v1\nkind: Workspace\nname: zoo\nprefix: {PREFIX}\nlicense: LICENSE\n"


@dataclass
class Imported:
    """What was imported: the folders of use cases before and after, by the name of their package and their path."""

    root: Path
    before: dict[tuple[str, str], Path] = field(default_factory=dict)
    composed: dict[tuple[str, str], Path] = field(default_factory=dict)

    def list_lost(self, name: str) -> str:
        """Return the page of a package that lists what was lost."""
        return (self.root / "ws/packages" / name / "import.md").read_text()


def import_all(root: Path, packages: Mapping[str, Mapping[str, Mapping[str, str]]]) -> Imported:
    """Import packages, of which each has the files of its use cases by their paths, and compose them."""
    done = Imported(root)
    tiny.write(root / "ws/packyard.yaml", WORKSPACE)
    tiny.write(root / "ws/LICENSE", "license\n")
    for name, use_cases in packages.items():
        for path, files in use_cases.items():
            folder = done.before[name, path] = root / "zoo" / name / PREFIX / path
            for file, text in files.items():
                tiny.write(folder / file, text)
        code, out, err = tiny.run("import", root / "zoo" / name, "--workspace", root / "ws", "--output", "json")
        assert code == 0, err
        (said,) = json.loads(out)
        assert said["useCases"] == sorted(use_cases)
    here = workspace.read(root / "ws")
    for name in packages:
        for each in compose.compose(here, package.read(here, name)).use_cases:
            folder = done.composed[name, each.use_case.path] = root / "composed" / name / each.use_case.path
            for file, data in each.files.items():
                tiny.write(folder / file, data.decode())
    return done


def objects(files: Mapping[str, str]) -> list[Any]:
    """Return the objects of a use case, sorted."""
    texts = [text for name, text in files.items() if name not in ("Krmfile", "kustomization.yaml")]
    found = [each for text in texts for each in yaml.load_all(text, yaml.CSafeLoader) if each]
    return sorted(found, key=lambda each: (each["kind"], each["metadata"]["name"]))


def texts(folder: Path) -> dict[str, str]:
    """Return the texts of a use case's files."""
    return {name: data.decode() for name, data in reading.files(folder).items()}


def set_value(folder: Path, name: str, value: str) -> list[Any]:
    """Return the objects of a use case with another value of a setter."""
    files = reading.files(folder)
    resources = {path: data for path, data in files.items() if path.endswith(".yaml")}
    changed = plan(PackageFiles(files["Krmfile"], resources), Assignment({name: [value]})).files
    return objects({**texts(folder), **{path: data.decode() for path, data in changed.items()}})


def setters(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return description, type and value of each setter of a use case."""
    return {
        name.rpartition(".")[2]: (each.get("description"), each.get("type"), each["x-k8s-cli"]["setter"]["value"])
        for name, each in reading.definitions(folder).items()
        if ".setters." in name
    }
