"""`packyard set`, `setters`, `render` and `lint` on packages with rules; and the real 3.8.7, which keeps them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

import tiny
from packyard.setters.change import change_setters
from running import done, packyard

KRMFILE = tiny.text("rules/package/Krmfile")
RESOURCE = tiny.text("rules/package/a.yaml")
MESSAGE = "An evaluation comes at most as late as the last epoch"


def write(folder: Path, krmfile: str = KRMFILE) -> Path:
    folder.mkdir(parents=True)
    (folder / "Krmfile").write_text(krmfile)
    (folder / "a.yaml").write_text(RESOURCE)
    (folder / "kustomization.yaml").write_text("resources:\n- a.yaml\n")
    return folder


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return write(tmp_path / "package")


def files(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def refused(folder: Path, *words: str) -> list[str]:
    before = files(folder)
    process = packyard("set", ".", *words, cwd=folder)
    assert process.returncode == 1
    assert process.stdout == ""
    assert files(folder) == before
    return process.stderr.splitlines()


def test_set_refuses_values_that_break_a_rule_and_writes_nothing(package: Path) -> None:
    assert refused(package, "EVALS=4") == [
        f"Krmfile:27:9: {MESSAGE} (the rule is EVALS <= EPOCHS; EVALS is 4, EPOCHS is 1)"
    ]
    assert refused(package, "EVALS", "4", "--dry-run")


def test_set_checks_all_new_values_together(package: Path) -> None:
    done("set", ".", "EVALS=4", "EPOCHS=8", cwd=package)
    assert refused(package, "EPOCHS=2", "USER=root") == [
        f"Krmfile:29:9: {MESSAGE} (the rule is EVALS <= EPOCHS; EVALS is 4, EPOCHS is 2)",
        "Krmfile:31:9: Nobody is root (the rule is USER != 'root'; USER is root)",
    ]
    done("set", ".", "EPOCHS=2", "EVALS=1", cwd=package)


def test_unset_keeps_to_the_rules_together_with_what_is_set(package: Path) -> None:
    done("set", ".", "EVALS=4", "EPOCHS=8", cwd=package)
    assert MESSAGE in refused(package, "--unset", "EPOCHS")[0]
    assert MESSAGE in refused(package, "EVALS=2", "--unset", "EPOCHS")[0]
    done("set", ".", "EVALS=1", "--unset", "EPOCHS", cwd=package)
    done("set", ".", "EVALS=4", "EPOCHS=8", cwd=package)
    done("set", ".", "--unset", "EPOCHS", "--unset", "EVALS", cwd=package)


def test_a_rule_that_is_broken_already_stands_in_the_way_of_its_own_setters_alone(package: Path) -> None:
    (package / "Krmfile").write_text(
        KRMFILE.replace('name: EVALS\n          value: "1"', 'name: EVALS\n          value: "4"')
    )
    done("set", ".", "USER=alice", cwd=package)
    assert refused(package, "EPOCHS=3")
    done("set", ".", "EPOCHS=4", cwd=package)


def test_set_in_several_packages_is_refused_for_all_if_one_refuses(tmp_path: Path) -> None:
    write(tmp_path / "tree/one")
    write(tmp_path / "tree/two", KRMFILE.replace("EVALS <= EPOCHS", "EVALS <= EPOCHS * 100"))
    write(tmp_path / "tree/three")
    found = refused(tmp_path / "tree", "EVALS=4", "-R")
    assert [line.partition(":")[0] for line in found] == ["one/Krmfile", "three/Krmfile"]
    done("set", "tree", "EVALS=4", "EPOCHS=4", "-R", cwd=tmp_path)


def test_a_rule_that_means_nothing_is_refused_where_it_would_be_needed(package: Path) -> None:
    (package / "Krmfile").write_text(KRMFILE.replace("EVALS <= EPOCHS", "EVALS <= STEPS"))
    assert refused(package, "EVALS=4") == ["Krmfile:27:18: rule: there is no setter STEPS (did you mean 'EPOCHS'?)"]
    done("set", ".", "USER=alice", cwd=package)


def test_the_library_checks_rules_without_a_command_line(package: Path) -> None:
    (change,) = change_setters(package, {"EVALS": ["2"], "EPOCHS": ["2"]})
    assert change.plan.counts == {"EVALS": 1, "EPOCHS": 1}


def test_cfg_set_knows_no_rules_as_kustomize_does_not(package: Path) -> None:
    assert done("cfg", "set", ".", "EVALS", "4", cwd=package) == './\nset 1 field(s) of setter "EVALS" to value "4"\n'


def test_setters_shows_the_rules_and_which_are_broken(package: Path) -> None:
    done("cfg", "set", ".", "EVALS", "4", cwd=package)
    process = packyard("setters", ".", cwd=package)
    assert process.returncode == 0
    assert process.stdout.splitlines()[-5:] == [
        "RULE             HOLDS",
        "EVALS <= EPOCHS  BROKEN",
        "    An evaluation comes at most as late as the last epoch.",
        "USER != 'root'   not yet known",
        "    Nobody is root.",
    ]
    assert done("setters", ".", "--wide", cwd=package).splitlines()[-3:] == [
        "RULE             HOLDS          MESSAGE",
        "EVALS <= EPOCHS  BROKEN         An evaluation comes at most as late as the last epoch.",
        "USER != 'root'   not yet known  Nobody is root.",
    ]
    broken = f"Krmfile:28:9: {MESSAGE} (the rule is EVALS <= EPOCHS; EVALS is 4, EPOCHS is 1)"
    assert broken in process.stderr.splitlines()
    unset = packyard("setters", ".", "--unset", cwd=package)
    assert "RULE" not in unset.stdout
    assert broken in unset.stderr.splitlines()
    (listed,) = json.loads(done("setters", ".", "--output", "json", cwd=package))
    assert listed["rules"] == [
        {
            "rule": "EVALS <= EPOCHS",
            "message": "An evaluation comes at most as late as the last epoch.",
            "setters": ["EVALS", "EPOCHS"],
            "holds": False,
            "file": "Krmfile",
            "line": 28,
        },
        {
            "rule": "USER != 'root'",
            "message": "Nobody is root.",
            "setters": ["USER"],
            "holds": None,
            "file": "Krmfile",
            "line": 30,
        },
    ]


def test_render_refuses_broken_rules_beside_what_is_not_set(package: Path) -> None:
    done("cfg", "set", ".", "EVALS", "4", cwd=package)
    process = packyard("render", "--built-in", ".", cwd=package)
    assert (process.returncode, process.stdout) == (1, "")
    assert [line.partition(" (")[0] for line in process.stderr.splitlines()] == [
        "Krmfile:20: USER is not set",
        f"Krmfile:28:9: {MESSAGE}",
    ]
    done("set", ".", "EPOCHS=4", "USER=alice", cwd=package)
    assert "evals: 4" in done("render", "--built-in", ".", cwd=package)


def test_lint_names_a_rule_that_the_values_break(package: Path) -> None:
    done("cfg", "set", ".", "EVALS", "4", cwd=package)
    process = packyard("lint", ".", cwd=package)
    assert process.returncode == 1
    assert process.stdout.splitlines()[0] == (
        f"Krmfile:28:9: error: the values break the rule: {MESSAGE} [broken-rule] "
        "(the rule is EVALS <= EPOCHS; EVALS is 4, EPOCHS is 1)"
    )
    assert process.stdout.count(" error: ") == 1


def test_real_kustomize_keeps_the_rules(package: Path, kustomize3: Path) -> None:
    command = [kustomize3, "cfg", "set", package, "EVALS", "4"]
    subprocess.run(command, check=True, capture_output=True)
    krmfile = (package / "Krmfile").read_bytes()
    assert yaml.safe_load(krmfile)["rules"] == yaml.safe_load(KRMFILE)["rules"]
    assert b"# kept with care" in krmfile
    assert MESSAGE in refused(package, "EVALS=5")[0]


def test_creating_and_deleting_setters_leaves_the_rules_as_they_are(package: Path) -> None:
    done("cfg", "create-setter", ".", "NAME", "a", "--field", "metadata.name", cwd=package)
    done("cfg", "delete-setter", ".", "NAME", cwd=package)
    assert (package / "Krmfile").read_text() == KRMFILE
