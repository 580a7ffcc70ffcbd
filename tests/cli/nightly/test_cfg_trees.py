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

#: The heads of a table of setters without a row.
EMPTY_TABLE = re.compile(r"^ *NAME .* IS SET +\n(?=\n|\Z| *--)", re.MULTILINE)

#: Cases of upstream in which a definition's name is not that of its key: ours lists what `set` takes, the key.
MISNAMED = {
    "set__TestSetOpenAPI_Filter__000-set-replicas",
    "set__TestSetOpenAPI_Filter__002-set-replicas-description",
    "set__TestSetOpenAPI_Filter__003-set-replicas-set-by",
    "set__TestSetOpenAPI_Filter__004-set-replicas-set-by-empty",
    "set__TestSet_Filter__005-set-replicas-enum-large",
}

Tree = dict[str, str]


@dataclass(frozen=True)
class Said:
    """What a program answered, and what the files say then; types are not compared: quotes differ on purpose."""

    code: int
    stdout: str
    error: str
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


def theirs(cfg3: Cfg, root: Path, words: list[str]) -> Said:
    done = cfg3(*words, cwd=root)
    ended = EMPTY_TABLE.search(done.stdout)  # where a process of its own exits
    stdout = done.stdout[: ended.end()] if ended else done.stdout
    return Said(1 if ended else done.returncode, stdout, done.stderr.strip(), values(root))


def ours(root: Path, words: list[str]) -> Said:
    done = inside("cfg", *words, cwd=root)
    return Said(done.returncode, done.stdout, done.stderr.split("\nusage:")[0].strip(), values(root))


def differs(cfg3: Cfg, root: Path, files: Tree, words: list[str]) -> tuple[Said, Said] | None:
    """Run a command on two copies of a tree; return both answers where they differ."""
    write(root / "theirs", as_krmfiles(files))
    write(root / "ours", files)
    said = theirs(cfg3, root / "theirs", words)
    answered = ours(root / "ours", words)
    return None if said == answered else (said, answered)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def judge(cfg3: Cfg, root: Path, files: Tree, words: list[str]) -> str:
    """Return how the answers to a command differ; "" where they do not, or where both fail, each in its own words."""
    found = differs(cfg3, root, files, words)
    if found and found[0].code == found[1].code == 1 and found[0].files == found[1].files:
        return "" if found[1].error else str((words, *found))
    return str((words, files, *found)) if found else ""


def setters(files: Tree) -> list[str]:
    return re.findall(r"io\.k8s\.cli\.setters\.([\w.-]+):", files["Krmfile"])


@pytest.mark.parametrize("path", ["detector/serving", "ranker/train-and-serve/claim", "unet/many-nodes/nfs"])
def test_use_cases_are_listed_and_set_as_in_the_real_program(cfg3: Cfg, tmp_path: Path, path: str) -> None:
    files = {file.name: file.read_text() for file in (tiny.TREES / "copies" / path).iterdir()}
    commands = [["list-setters", ".", "--include-subst"], ["set", ".", "NOPE", "1"], ["set", ".", "USER_ID", "many"]]
    commands += [["set", ".", name, "7"] for name in setters(files)]
    commands += [["set", ".", "REGISTRY", *words] for words in (["yes"], ["1.10"], ["a b"], ["v", "--set-by", "us"])]
    assert [said for words in commands if (said := judge(cfg3, tmp_path, files, words))] == []


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
                said = judge(cfg3, tmp_path, files, words)
                assert not said or file.stem in MISNAMED, (file.name, said)
                judged += 1
    assert judged > 30


SETTER = "openAPI:\n  definitions:\n    io.k8s.cli.setters.A:\n{}      x-k8s-cli: {{setter: {{name: A, {}}}}}\n"


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        ({"Krmfile": SETTER.format("", 'value: "1", description: inside')}, " inside "),
        ({"Krmfile": SETTER.format("      description: out\n", 'value: "1", description: inside')}, " out "),
        ({"Krmfile": SETTER.format("      type: array\n", "listValues: [null, z, ~]")}, " [z] "),
    ],
)
def test_descriptions_and_null_items_are_those_of_the_real_program(
    cfg3: Cfg, tmp_path: Path, files: Tree, shown: str
) -> None:
    assert differs(cfg3, tmp_path, files, ["list-setters", "."]) is None
    assert shown in ours(tmp_path / "ours", ["list-setters", "."]).stdout
