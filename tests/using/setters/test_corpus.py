"""The shown cases of upstream, and the zoo's use cases with what the real 3.8.7 did to each, setter by setter."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import real
import tiny
from packyard.core.errors import InputError
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, plan
from reading import content

ZOO = real.corpus_files("zoo")
COMMANDS = ("set", "list-setters", "create-setter", "create-subst", "delete-setter", "delete-subst", "init")
CFG = [file for file in real.corpus_files("cfg") if json.loads(file.read_bytes())["command"] in COMMANDS]

#: What 3.8.7 refuses only because it pastes values unescaped into YAML (cfg-semantics 17.30).
ACCEPTED_BY_US = "with: colon # and hash"


def read(file: Path) -> dict[str, Any]:
    case: dict[str, Any] = json.loads(file.read_bytes())
    return case


def comments(text: str) -> list[str]:
    return [line.partition(" # ")[2].strip() for line in text.splitlines() if " # {" in line]


@pytest.mark.parametrize("file", real.of_corpus(ZOO), ids=lambda file: file.stem)
def test_the_zoo_is_set_as_the_real_program_sets_it(file: Path) -> None:
    case = read(file)
    before = case["before"]
    package = PackageFiles(
        before["Krmfile"].encode(), {path: text.encode() for path, text in before.items() if path.endswith(".yaml")}
    )
    judged = 0
    for recorded in case["cases"]:
        command, _, name, *rest = recorded["args"]
        if command != "set" or recorded["rc"] == 2:
            continue
        values = [word for word in rest if not word.startswith("--") and word != "someone"]
        if recorded["rc"] == 1 and values != [ACCEPTED_BY_US]:
            with pytest.raises(InputError):
                plan(package, Assignment({name: values}))
            judged += 1
            continue
        planned = plan(package, Assignment({name: values}, set_by="someone" if "--set-by" in rest else ""))
        ours = {path: planned.files.get(path, text.encode()).decode() for path, text in before.items()}
        theirs = {**before, **recorded["after"]}
        if values != [ACCEPTED_BY_US]:
            assert f"set {planned.counts[name]} field(s)" in recorded["stdout"], recorded["args"]
            for path in before:
                assert content(ours[path]) == content(theirs[path]), (path, recorded["args"])
                assert comments(ours[path]) == comments(theirs[path]), (path, recorded["args"])
        judged += 1
    assert judged >= 10


@pytest.mark.parametrize("file", real.of_corpus(ZOO), ids=lambda file: file.stem)
def test_the_zoo_is_listed_with_the_same_words(file: Path, tmp_path: Path) -> None:
    case = read(file)
    tiny.write_all(tmp_path, case["before"])
    listed = cfg(tmp_path, "list-setters", [".", "--include-subst"]).stdout
    assert words(listed) == words(case["list_setters"])


def words(table: str) -> list[str]:
    """Return the words of a table, in no order: the columns are ours."""
    return sorted(word for word in re.split(r"[\s,\[\]]+", table) if word.strip("-"))


@pytest.mark.parametrize("file", real.of_corpus(CFG), ids=lambda file: file.stem)
def test_upstreams_own_cases(file: Path, tmp_path: Path) -> None:
    case = read(file)
    tiny.write_all(tmp_path, case["files"])
    done = cfg(tmp_path, case["command"], case["args"])
    if "v1" in file.stem or case["expected_error"]:  # version 1 is refused
        assert done.returncode == 1
        assert {path: (tmp_path / path).read_text("utf-8") for path in case["files"]} == case["files"]
        return
    assert done.returncode == 0, done.stderr
    if case["command"] == "list-setters" and case["match"]["stdout"] != "none":
        assert set(words(case["expected_stdout"])) <= set(words(done.stdout))
    for path, text in (case["expected_files"] or {}).items():
        ours = (tmp_path / path).read_text("utf-8")
        assert content(ours) == content(text), ours
        assert comments(ours) == comments(text)


def cfg(directory: Path, command: str, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return tiny.inside("cfg", command, *arguments, cwd=directory)
