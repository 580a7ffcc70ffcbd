"""Copies that drifted apart: edited use cases, ours and those of a zoo, are imported exactly, setters too."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

import real
import sample
import tiny
from packyard.core.errors import InputError
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, plan
from packyard.writing.authoring.import_ import conversion as imports
from packyard.writing.source import compose, package, workspace

SEEDS = int(os.environ.get("PACKYARD_FUZZ", "400")) // 100
WORKSPACE = "apiVersion: packyard/v1\nkind: Workspace\nname: zoo\nprefix: quickstart/mlops\nlicense: LICENSE\n"
TORN = "setter comments that yield another text"


UseCases = dict[str, dict[str, str]]


def read_copies() -> dict[str, UseCases]:
    """Return the files of each use case of each package of ours."""
    found: dict[str, UseCases] = {}
    for path, text in tiny.read_tree("copies").items():
        name, _, below = path.partition("/")
        use_case, _, file = below.rpartition("/")
        found.setdefault(name, {}).setdefault(use_case, {})[file] = text
    return found


def read_zoo() -> dict[str, UseCases]:
    """Return the files of each use case of each model of the corpus."""
    found: dict[str, UseCases] = {}
    for case in sorted((real.corpus() / "zoo").glob("*.json")):
        model, *_, first, last = (
            f"{case.stem}__".split("__") if case.stem.endswith("serving") else case.stem.split("__")
        )
        path = "/".join(filter(None, (first, last)))
        mode = "inference" if "inference" in case.stem else "training"
        name = f"{model}-{mode}".replace("_", "-")
        found.setdefault(name, {})[path] = json.loads(case.read_text())["before"]
    return found


def edited(choose: random.Random, name: str, text: str) -> str:
    """Return a file as somebody left it: a comment lost, a value changed, an item of a list more or less."""
    if name == "Krmfile":
        return edited_krmfile(choose, text)
    lines = text.splitlines()
    for _ in range(choose.randrange(1, 4)):
        at, what = choose.randrange(len(lines)), choose.randrange(4)
        line = lines[at]
        is_item = line.strip().startswith("- ") and ":" not in line and "manifest" not in text
        key = line.partition(": ")[0]
        if what == 0:
            lines[at] = line.partition(" # {")[0]
        elif what == 1 and ": " in line and "#" not in line and "manifest" not in text:
            lines[at] = f"{key}: changed" if key.strip(" -") not in ("kind", "apiVersion", "name") else line
        elif what == 2 and is_item:
            lines.insert(at, f"{line.partition('- ')[0]}- extra-{choose.randrange(3)}")
        elif what == 3 and is_item:
            lines.pop(at)
    return "\n".join(lines) + "\n"


def edited_krmfile(choose: random.Random, text: str) -> str:
    root = yaml.safe_load(text)
    definitions = root["openAPI"]["definitions"]
    name = choose.choice(sorted(definitions))
    if choose.random() < 0.5:
        definitions[name]["description"] = "Other words."
    else:
        del definitions[name]
    return yaml.safe_dump(root, sort_keys=False)


def resources(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if name.endswith(".yaml")}


def objects(files: Mapping[str, bytes]) -> list[Any]:
    texts = [data for name, data in resources(files).items() if name != "kustomization.yaml"]
    found = [each for text in texts for each in yaml.load_all(text, yaml.CSafeLoader) if each]
    return sorted(found, key=lambda each: (each["kind"], each["metadata"]["name"]))


def set_value(files: Mapping[str, bytes], name: str, value: str) -> list[Any]:
    found = plan(PackageFiles(files["Krmfile"], resources(files)), Assignment({name: [value]})).files
    return objects({**files, **found})


@pytest.mark.nightly
@pytest.mark.parametrize("read", [read_copies, read_zoo])
@pytest.mark.parametrize("number", range(SEEDS))
def test_use_cases_that_drifted_apart_are_imported_exactly(
    tmp_path: Path, number: int, read: Callable[[], dict[str, UseCases]]
) -> None:
    choose = random.Random(f"{sample.SEED} {number}")
    name, use_cases = choose.choice(sorted(read().items()))
    before = {
        path: {
            file: (
                edited(choose, file, text) if file != "kustomization.yaml" and choose.random() < 0.5 else text
            ).encode()
            for file, text in files.items()
        }
        for path, files in use_cases.items()
    }
    for path, files in before.items():
        for file, data in files.items():
            tiny.write(tmp_path / "zoo" / path / file, data.decode())
    tiny.write(tmp_path / "ws/packyard.yaml", WORKSPACE)
    tiny.write(tmp_path / "ws/LICENSE", "license\n")
    imported = imports.of_use_cases(workspace.read(tmp_path / "ws"), name, tmp_path / "zoo", lambda _: b"", "zoo")
    imports.write_to(workspace.read(tmp_path / "ws"), imported)
    torn = {
        case.partition(":")[0].rpartition("/")[0] for note in imported.notes if TORN in note.what for case in note.cases
    }
    here = workspace.read(tmp_path / "ws")
    for each in compose.compose(here, package.read(here, name)).use_cases:
        path = each.use_case.path
        assert objects(each.files) == objects(before[path]), path
        definitions = yaml.safe_load(before[path]["Krmfile"])["openAPI"]["definitions"]
        for setter in each.definitions.setters.values():
            said = definitions[f"io.k8s.cli.setters.{setter.name}"]
            assert (setter.description, setter.value) == (said["description"], said["x-k8s-cli"]["setter"]["value"])
            value = "7" if setter.type in ("integer", "number") else "new"
            if path in torn:
                continue
            try:
                wanted = set_value(before[path], setter.name, value)
            except InputError:  # another substitution leads to nothing
                continue
            assert set_value(each.files, setter.name, value) == wanted, f"{path}: {setter.name}"
