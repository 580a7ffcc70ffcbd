"""An empty workspace, what `packyard import` writes into it, and what that composes to."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import reading
import tiny
from packyard.core.bundle.archive import Member
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, plan
from packyard.writing.checks import exception
from packyard.writing.source import compose, package, program
from packyard.writing.source import workspace as workspaces

WORKSPACE = "apiVersion: packyard/v1\nkind: Workspace\nname: mine\nprefix: PREFIX\nlicense: LICENSE\n"


def workspace(folder: Path, prefix: str = "use-cases") -> Path:
    """Make an empty workspace."""
    return write(folder, {"packyard.yaml": WORKSPACE.replace("PREFIX", prefix), "LICENSE": "license\n"})


def write(folder: Path, files: Mapping[str, str]) -> Path:
    tiny.write_all(folder, files)
    return folder


def run(here: Path, *words: object) -> dict[str, Any]:
    code, out, err = tiny.run("import", *words, "--workspace", here, "--output", "json")
    assert code == 0, err
    (said,) = json.loads(out)
    return dict(said)


def composed(here: Path, name: str, into: Path) -> dict[str, Path]:
    """Compose a package without the comments that only its sources have, and return the folders of its use cases."""
    found = {}
    use_cases = compose.compose(read := workspaces.read(here), package.read(read, name)).use_cases
    tiny.write_all(into / "programs", program.files(read.sources, [use_case.sources for use_case in use_cases]))
    for use_case in use_cases:
        folder = found[use_case.use_case.path] = into / use_case.use_case.path
        members, _ = exception.take_out(Member(path=file, data=data) for file, data in use_case.files.items())
        for member in members:
            tiny.write(folder / member.path, member.data)
    return found


def objects(*texts: str) -> list[Any]:
    found = [each for text in texts for each in yaml.load_all(text, yaml.CSafeLoader) if each]
    return sorted(found, key=lambda each: (each["kind"], each["metadata"]["name"]))


def manifests(folder: Path) -> list[Any]:
    files = reading.manifests(folder)
    return objects(*(data.decode() for name, data in files.items() if name != "kustomization.yaml"))


def setters(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return description, type and value of each setter of a use case."""
    return {
        name.rpartition(".")[2]: (each.get("description"), each.get("type"), each["x-k8s-cli"]["setter"]["value"])
        for name, each in reading.definitions(folder).items()
        if ".setters." in name
    }


def set_values(folder: Path, values: Mapping[str, list[str]]) -> list[Any]:
    """Return the objects of a use case with other values."""
    files = reading.files(folder)
    resources = {name: data for name, data in files.items() if name.endswith(".yaml")}
    changed = plan(PackageFiles(files["Krmfile"], resources), Assignment(values)).files
    files |= changed
    return objects(*(files[name].decode() for name in resources if name != "kustomization.yaml"))


def cases(said: Mapping[str, Any], what: str) -> list[str]:
    return [case for note in said["notes"] if what in note["what"] for case in note["cases"]]
