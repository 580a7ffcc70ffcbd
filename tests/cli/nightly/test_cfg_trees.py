"""`cfg list-setters` and `cfg set` on use cases and on the packages of the corpus, beside the real 3.8.7."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

import real
import tiny
from real import Cfg
from tiny import inside

Tree = dict[str, str]


@dataclass(frozen=True)
class Said:
    """A program's exit code, and what the files say then; types are not compared: quotes differ on purpose."""

    code: int
    files: dict[str, object]


def write(root: Path, files: Tree) -> None:
    shutil.rmtree(root, ignore_errors=True)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    root.mkdir(exist_ok=True)


def as_krmfiles(files: Tree) -> Tree:
    """Return the tree with the name that kustomize knows for files with definitions."""
    return {re.sub(r"Kptfile\Z", "Krmfile", path) if "openAPI" in text else path: text for path, text in files.items()}


def values(root: Path) -> dict[str, object]:
    found = {}
    for file in sorted(root.rglob("*")):
        if file.is_file():
            text = file.read_text("utf-8")
            (name,) = as_krmfiles({file.relative_to(root).as_posix(): text})
            comments = sorted(re.findall(r"#.*", text)) if name.endswith("ml") else []
            is_yaml = name.endswith(("Krmfile", ".yaml", ".yml"))
            found[name] = (list(yaml.load_all(text, yaml.BaseLoader)), comments) if is_yaml else text
    return found


def differs(cfg3: Cfg, root: Path, files: Tree, words: list[str]) -> tuple[Said, Said] | None:
    """Run a command on two copies of a tree; return both answers where they differ."""
    write(root / "theirs", as_krmfiles(files))
    write(root / "ours", files)
    said = Said(cfg3(*words, cwd=root / "theirs").returncode, values(root / "theirs"))
    answered = Said(inside("cfg", *words, cwd=root / "ours").returncode, values(root / "ours"))
    return None if said == answered else (said, answered)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def setters(files: Tree) -> list[str]:
    return re.findall(r"io\.k8s\.cli\.setters\.([\w.-]+):", files["Krmfile"])


@pytest.mark.parametrize("path", ["detector/serving", "ranker/train-and-serve/claim", "unet/many-nodes/nfs"])
def test_use_cases_are_listed_and_set_as_in_the_real_program(cfg3: Cfg, tmp_path: Path, path: str) -> None:
    files = {file.name: file.read_text() for file in (tiny.TREES / "copies" / path).iterdir()}
    commands = [["list-setters", ".", "--include-subst"], ["set", ".", "NOPE", "1"], ["set", ".", "USER_ID", "many"]]
    commands += [["set", ".", name, "7"] for name in setters(files)]
    commands += [["set", ".", "REGISTRY", *words] for words in (["yes"], ["1.10"], ["a b"], ["v", "--set-by", "us"])]
    assert [(words, said) for words in commands if (said := differs(cfg3, tmp_path, files, words))] == []


@pytest.mark.usefixtures("corpus")
def test_the_packages_of_the_corpus_are_listed_and_set_as_in_the_real_program(cfg3: Cfg, tmp_path: Path) -> None:
    judged = 0
    for file in real.corpus_files("cfg"):
        files = json.loads(file.read_bytes())["files"]
        is_of_version_1 = any("x-kustomize" in text for text in files.values())  # which packyard refuses
        if "Krmfile" in files and not is_of_version_1:
            for words in [
                ["list-setters", ".", "--include-subst"],
                *(["set", ".", name, "4"] for name in setters(files)),
            ]:
                assert differs(cfg3, tmp_path, files, words) is None, (file.name, words)
                judged += 1
    assert judged > 30
