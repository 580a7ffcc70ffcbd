"""`packyard set --site` and `--preset`: what the command line takes, finds, says and refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import reading
import tiny
from tiny import inside, packyard
from using.options import optioned


@pytest.fixture
def mlops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of use cases; a user's configuration of its own, and no variable."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("PACKYARD_SITE", raising=False)
    root = optioned.package(tmp_path)
    tiny.write(root / "presets/large.yaml", "# Large.\nWORKERS: 16\n")
    tiny.write(root / "presets/small.yaml", "# Small.\nWORKERS: 1\n")
    return root / optioned.PREFIX


def run(mlops: Path, *words: object, code: int = 0) -> tuple[str, str]:
    process = inside("set", "multi-node/claim", *words, cwd=mlops)
    assert process.returncode == code, process.stderr
    return process.stdout, process.stderr


def refused(mlops: Path, *words: object, code: int = 1) -> str:
    before = reading.files(mlops)
    out, err = run(mlops, *words, code=code)
    assert reading.files(mlops) == before
    assert not out
    return err


def workers(mlops: Path) -> str:
    listed = json.loads(inside("setters", "multi-node/claim", "-o", "json", cwd=mlops).stdout)
    found: str = next(row["value"] for row in listed[0]["setters"] if row["name"] == "WORKERS")
    return found


def test_the_flag_comes_before_the_variable_and_that_before_the_users_file(
    mlops: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {name: mlops / f"{name}.yaml" for name in ("flag", "variable")}
    files["default"] = mlops.parents[2] / "config/packyard/site.yaml"
    origins = []
    for number, (name, file) in enumerate(reversed(files.items())):
        tiny.write(file, f"values: {{WORKERS: {number + 3}}}\n")
        if name == "variable":
            monkeypatch.setenv("PACKYARD_SITE", str(file))
        run(mlops, f"--site={file}" if name == "flag" else "--site")
        assert workers(mlops) == str(number + 3)
        rows = json.loads(packyard("config", "-o", "json").stdout)
        origins.append(next((row["value"], row["origin"]) for row in rows if row["name"] == "site"))
    variable = (str(files["variable"]), "PACKYARD_SITE")
    assert origins == [(str(files["default"]), "default"), variable, variable]


def test_without_a_file_it_says_where_one_belongs(mlops: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    err = refused(mlops, "--site")
    assert err.startswith(f"error: {mlops.parents[2]}/config/packyard/site.yaml: there is no such file (write it, ")
    assert "gone.yaml: there is no such file (--site names it)" in refused(mlops, "--site=gone.yaml")
    monkeypatch.setenv("PACKYARD_SITE", "gone.yaml")
    assert "gone.yaml: there is no such file (PACKYARD_SITE names it)" in refused(mlops, "--site")


def test_a_site_that_is_no_file_to_read_is_refused(mlops: Path) -> None:
    assert "is not a regular file" in refused(mlops, f"--site={mlops}")
    os.mkfifo(mlops.parent / "pipe")
    assert "is not a regular file" in refused(mlops, f"--site={mlops.parent}/pipe")
    (mlops.parent / "large.yaml").write_bytes(b"#" * (1 << 20) + b"\n")
    assert "is larger than" in refused(mlops, f"--site={mlops.parent}/large.yaml")
    tiny.write(mlops / "bad.yaml", "- a\n")
    assert "bad.yaml:1: must be a mapping" in refused(mlops, "--site=bad.yaml")


def test_site_is_a_command_of_its_own(mlops: Path) -> None:
    tiny.write(mlops / "site.yaml", "values: {WORKERS: 3}\n")
    for words in (["WORKERS=4"], ["--values", "site.yaml"], ["--unset", "WORKERS"], ["--set-by", "me"]):
        err = refused(mlops, "--site=site.yaml", *words, code=2)
        assert "are two commands" in err
    hint = "type --site=site.yaml if this is the site's file"
    assert hint in refused(mlops, "--site", "site.yaml", code=2)
    assert hint in inside("set", "--site", "site.yaml", cwd=mlops).stderr


def test_a_name_that_no_package_knows_is_named_and_the_others_are_written(mlops: Path) -> None:
    values = "{WORKERS: 3, NFS_SERVER: a, NFS_SERVR: a, NAMESPACE: ml, SHM_SIZE: 1Gi}"
    tiny.write(mlops / "site.yaml", f"options: [gpus, qeue]\nvalues: {values}\n")
    _, err = run(mlops, "--site=site.yaml")
    assert "site.yaml:2: no package of the catalogue has a setter NFS_SERVR (did you mean 'NFS_SERVER'?)\n" in err
    assert "site.yaml:2: NAMESPACE is no longer a setter: kubectl apply -n" in err
    assert "site.yaml:2: SHM_SIZE is no longer a setter: gone\n" in err
    assert "site.yaml:1:17: no package of the catalogue has an option 'qeue' (did you mean 'queue'?)\n" in err
    assert "NFS_SERVER " not in err
    assert "gpus" not in err
    assert workers(mlops) == "3"


def test_names_that_only_this_package_has_are_known(mlops: Path) -> None:
    tiny.write(mlops / "own/Krmfile", (mlops / "volume/Krmfile").read_text().replace("PVC_NAME", "ONLY_HERE"))
    tiny.write(mlops / "site.yaml", "values: {ONLY_HERE: x, S3_BUCKET: b}\n")
    process = inside("set", ".", "--site=site.yaml", "-R", cwd=mlops)
    assert process.returncode == 0
    assert "no package" not in process.stderr


def test_json_has_what_is_enabled_and_what_stays(mlops: Path) -> None:
    tiny.write(mlops / "site.yaml", "options: [queue]\nvalues: {WORKERS: 3, PVC_NAME: team, QUEUE_NAME: a}\n")
    run(mlops, "WORKERS=9")
    own, options = json.loads(run(mlops, "--site=site.yaml", "-o", "json")[0])
    assert (own["package"], own["counts"], own["enabled"], own["stayed"]) == (
        ".",
        {"PVC_NAME": 1},
        ["queue"],
        ["WORKERS"],
    )
    assert (options["package"], options["counts"], options["enabled"]) == ("../../options", {"QUEUE_NAME": 1}, [])


def test_values_of_a_site_are_in_no_log(mlops: Path) -> None:
    tiny.write(mlops / "site.yaml", "values: {PVC_NAME: hunter2}\n")
    process = packyard("set", "multi-node/claim", "--site=site.yaml", "--dry-run", "--verbose", cwd=mlops)
    assert process.returncode == 0
    assert "hunter2" not in process.stderr
    run(mlops, "--site=site.yaml")
    assert inside("undo", ".", cwd=mlops).stderr == "undone: --site=site.yaml\n"


def test_a_preset_is_taken_by_its_name_and_words_come_before_it(mlops: Path) -> None:
    run(mlops, "--preset", "large")
    assert workers(mlops) == "16"
    run(mlops, "--preset", "large", "--preset", "small")
    assert workers(mlops) == "1"
    run(mlops, "--preset", "large", "WORKERS=5")
    assert workers(mlops) == "5"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lareg", "there is no preset 'lareg' (did you mean 'large'?)"),
        ("zzz", "there is no preset 'zzz' (there are large, small)"),
        ("../presets/large", "there is no preset '../presets/large'"),
        ("large.yaml", "there is no preset 'large.yaml'"),
        ("linked", "there is no preset 'linked'"),
        ("", "there is no preset ''"),
    ],
)
def test_an_unknown_preset_is_refused_with_those_that_there_are(mlops: Path, name: str, expected: str) -> None:
    (mlops.parents[1] / "presets/linked.yaml").symlink_to("/etc/passwd")
    assert expected in refused(mlops, "--preset", name)


def test_a_package_without_presets_says_so(mlops: Path) -> None:
    presets = mlops.parents[1] / "presets"
    presets.rename(mlops.parent / "elsewhere")
    presets.symlink_to(mlops.parent / "elsewhere")
    assert "there is no preset 'large' (its package has no presets)" in refused(mlops, "--preset", "large")


def test_completion_knows_presets(mlops: Path) -> None:
    process = inside("complete", "set", "multi-node/claim", "--preset", "l", cwd=mlops)
    assert process.stdout == "large\n"
