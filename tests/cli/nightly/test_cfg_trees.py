"""`cfg list-setters` and `cfg set` on trees of many forms, generated from a seed, beside the real 3.8.7.

A Kptfile of kpt 0.x is given to the real program as what it is, a Krmfile by another name: kpt 0.x is built on the same
code. `make fuzz` tries many more trees (PACKYARD_FUZZ=N, of which a twentieth). What differs on purpose, and is in the
README's table:

- a list that is empty, or whose setter has no listValues, is set and counted;
- a comment of kpt 0.x, ``{"$kpt-set":"NAME"}``, binds in a package of kustomize too;
- which texts are quoted.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

import real
import tiny
from real import Cfg
from sample import tries
from tiny import inside

SEEDS = tries(1200) // 20
BATCH = 30

FOLDERS = (".h", "01", "Apps", "K", "Kz", "L", "a", "a.b", "sub", "z")
FILES = ("A.yaml", "a.yaml", "a.yml", "b.yaml", "kustomization.yaml", "zz.yaml", "notes.txt")
NAMES = ("A", "B", "L", "N", "S")

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


def definition(draw: random.Random, name: str) -> str:
    """Write one definition, with what may stand in it and in many places."""
    outside = draw.choice(["", "", "      description: outside\n", '      description: ""\n'])
    if name == "S":
        return (
            f"    io.k8s.cli.substitutions.S:\n{outside}      x-k8s-cli:\n        substitution:\n          name: S\n"
            "          pattern: ${A}-${B}\n          values:\n"
            "          - marker: ${A}\n            ref: '#/definitions/io.k8s.cli.setters.A'\n"
            "          - marker: ${B}\n            ref: '#/definitions/io.k8s.cli.setters.B'\n"
        )
    lines = [f"name: {name}"]
    if name == "L":
        outside += "      type: array\n"
        lines += [f"listValues: {draw.choice(['[a, b]', '[null, z]', '[~, a, ~]', '[only]'])}"]
    elif name == "N":
        outside += "      type: integer\n"
        lines += ['value: "3"']
    else:
        lines += [draw.choice(["value: old", 'value: "old"', "value: 'old'", "value: old # note"])]
    extra = ["description: inside", 'description: ""', "setBy: me", "required: true", "isSet: true", "isSet: false"]
    lines += draw.sample(extra, draw.choice([0, 0, 1, 2]))
    if sum(line.startswith("description") for line in lines) > 1:
        lines = [line for line in lines if line != 'description: ""']
    if len([line for line in lines if line.startswith("isSet")]) > 1:
        lines.remove("isSet: false")
    body = "".join(f"          {line}\n" for line in lines)
    return f"    io.k8s.cli.setters.{name}:\n{outside}      x-k8s-cli:\n        setter:\n{body}"


def definitions(draw: random.Random) -> str:
    """Write the definitions of a package; a few have none."""
    if draw.random() < 0.1:
        return draw.choice(["", "openAPI:\n", "openAPI:\n  definitions:\n"])
    names = [name for name in ("A", "B", "L", "N") if draw.random() < 0.8] or ["A"]
    names += ["S"] if {"A", "B"} <= set(names) and draw.random() < 0.6 else []
    draw.shuffle(names)
    return "openAPI:\n  definitions:\n" + "".join(definition(draw, name) for name in names)


def resource(draw: random.Random) -> str:
    """Write a file: fields with comments behind them and above them, lists, items, null, documents."""
    documents = []
    for _ in range(draw.choice([1, 1, 1, 2])):
        kind = draw.choice(["apiVersion: v1\nkind: ConfigMap\n", "apiVersion: apps/v1\nkind: Deployment\n", ""])
        lines = [kind] if kind else []
        lines += [entry(draw, f"k{number}") for number in range(draw.randint(1, 5))]
        documents.append("".join(lines))
    return "---\n".join(documents)


def comment(draw: random.Random, names: tuple[str, ...] = ("A", "B", "S")) -> str:
    name = draw.choice(names)
    forms = ['{{"$openapi":"{0}"}}'] * 4 + ['{{ "$openapi" : "{0}" }}', '{{"$openapi":"{0}","x":"y"}}']
    if name != "S":
        forms.append('{{"$ref":"#/definitions/io.k8s.cli.setters.{0}"}}')
    return "# " + draw.choice(forms).format(name)


def entry(draw: random.Random, key: str) -> str:
    shape = draw.randrange(12)
    value = draw.choice(["old", '"old"', "'old'", "some-text", "old-old"])
    if shape < 4:
        return f"{key}: {value} {comment(draw)}\n"
    if shape == 4:
        return f"{comment(draw)}\n{key}: {value}{draw.choice(['', ' # note'])}\n"
    if shape == 5:
        return f'{key}: 3 # {{"$openapi":"N"}}\n'
    if shape == 6:
        return f'{key}: # {{"$openapi":"L"}}\n- a\n- b\n'
    if shape == 7:
        return f"{key}:\n- {value} {comment(draw)}\n- x: {value} {comment(draw)}\n  y: 1\n"
    if shape == 8:
        return f"{key}: [old, 'b'] {comment(draw, ('A', 'B'))}\n"
    if shape == 9:
        return f"{key}:\n  inner: {value} {comment(draw)}\n  other: {value} # {draw.choice(['note', '{}', '{a'])}\n"
    if shape == 10:
        return f'# {{"$openapi":"L"}}\n{key}: [a, b]\n'
    return f'{key}: {value} # {{"$openapi":"NOPE"}}\n'


def tree(draw: random.Random) -> Tree:
    """Make a tree of packages of kustomize and of kpt 0.x."""
    marks = draw.choice([("Krmfile",), ("Krmfile",), ("Kptfile",), ("Krmfile", "Kptfile")])
    files: Tree = {}
    folders = [""]
    for name in draw.sample(FOLDERS, draw.randint(0, 3)):
        folders.append(f"{name}/")
        folders += [f"{name}/{inner}/" for inner in draw.sample(FOLDERS, draw.choice([0, 0, 1]))]
    for folder in folders:
        if not folder or draw.random() < 0.6:
            mark = draw.choice(marks) if folder else marks[0]
            head = {
                "Krmfile": "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n",
                "Kptfile": "apiVersion: kpt.dev/v1alpha1\nkind: Kptfile\nmetadata:\n  name: x\n",
            }[mark]
            stated = definitions(draw)
            if mark == "Kptfile" and "setters" not in stated:
                stated = "openAPI:\n  definitions:\n" + definition(draw, "A")
            files[folder + mark] = head + stated
        elif marks == ("Krmfile",) and draw.random() < 0.3:  # of kpt 1.x, which kustomize does not know
            files[folder + "Kptfile"] = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: x\n"
        for name in draw.sample(FILES, draw.randint(0, 3)):
            files[folder + name] = resource(draw)
    if draw.random() < 0.2:
        files[".krmignore"] = draw.choice(["sub/\n", "a*\n", "*.yml\n", "/a/b.yaml\n"])
    return files


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


COMMANDS = (
    ["list-setters", "."],
    ["list-setters", ".", "-R=false"],
    ["list-setters", ".", "--include-subst"],
    ["set", ".", "A", "new"],
    ["set", ".", "A", "new", "-R"],
    ["set", ".", "L", "x", "y", "z"],
    ["set", ".", "L", "x", "-R"],
    ["set", ".", "N", "4", "-R"],
    ["set", ".", "B", "new value", "--set-by", "you", "--description", "described"],
    ["set", ".", "NOPE", "x"],
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize("batch", range((SEEDS + BATCH - 1) // BATCH))
def test_trees_of_krmfiles_and_kptfiles_are_listed_and_set_as_in_the_real_program(
    cfg3: Cfg, tmp_path: Path, batch: int
) -> None:
    for seed in range(batch * BATCH, min((batch + 1) * BATCH, SEEDS)):
        draw = random.Random(seed)
        files = tree(draw)
        for words in draw.sample(COMMANDS, 3):
            found = differs(cfg3, tmp_path, files, words)
            assert found is None, (seed, words, files, *found)


def judge(cfg3: Cfg, root: Path, files: Tree, words: list[str]) -> str:
    """Return how the answers to a command differ; "" where they do not, or where ours only says where a fault is."""
    found = differs(cfg3, root, files, words)
    if found and found[0].code == 1 and found[0].files == found[1].files:
        says_as_much = found[1].code == 1 and found[0].error.removeprefix("Error: ") in found[1].error
        return "" if says_as_much else str((words, *found))
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
        if "Krmfile" in files:
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
