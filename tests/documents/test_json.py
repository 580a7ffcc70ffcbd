"""The reference has every verb; what each prints with ``-o json`` is what it declares, and what the table says."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import real
import tiny
from documents import pages, reference
from packyard.cli import rows
from packyard.cli.complete import flags_of
from packyard.cli.verbs import VERBS
from tiny import done, packyard
from writing.source import libraries

NAME = "mnist-fp32-training-k8s"
#: Verbs that print no rows: other verbs one after another, files, scripts, and what other programs print.
OTHERS = {"cfg", "completion", "exec", "fn", "forward", "run"}
#: Verbs that meet a cluster: their rows are held by tests/cluster.
ON_CLUSTERS = {
    "deploy",
    "rollback",
    "rollback --list",
    "undeploy",
    "doctor",
    "status",
    "logs --events",
    "results",
}


def documented() -> dict[str, dict[str, set[str]]]:
    """Return for each verb the fields of its objects, and below each field that is a list those of its items."""
    found = {}
    for name, each in reference.declared().items():
        fields = rows.fields(each.fields)
        nested = {field.name: {item.name for item in field.items} for field in fields if field.items}
        found[name] = {"": {field.name for field in fields}, **nested}
    return found


def test_the_page_has_what_every_verb_declares() -> None:
    assert reference.rest() == reference.made(), "make docs writes it"


def test_a_verb_declares_what_it_prints() -> None:
    names = {name.partition(" ")[0] for name in reference.declared()}
    assert set(VERBS) - names == OTHERS
    for verb in VERBS:
        flags = set(flags_of(verb, []))
        assert ("--output" in flags) == (verb in names), verb


def seen(objects: list[dict[str, Any]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {"": set()}
    for item in objects:
        found[""] |= set(item)
        for name, value in item.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                found[name] = found.get(name, set()).union(*value)
    return found


@pytest.mark.nightly
def test_every_verb_prints_the_fields_of_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*words: object) -> list[dict[str, Any]]:
        printed = packyard(*words, "-o", "json")
        assert printed.stdout, printed.stderr
        found: list[dict[str, Any]] = json.loads(printed.stdout)
        assert found
        return found

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    workspace = ("--workspace", real.REPOSITORY)
    out, channel = tmp_path / "out", tmp_path / "channel"
    results = {
        "build": run("build", NAME, *workspace, "--version", "1.0.0", "--to", out),
        "publish": run("publish", NAME, *workspace, "--version", "1.0.0", "--to", channel),
        "test": run("test", NAME, *workspace),
        "new --list": run("new", "--list", *workspace),
        "init": run("init", tmp_path / "workspace"),
        "new": run("new", "hello", "--base", "claim", "--storage", "efs", "--workspace", tmp_path / "workspace"),
        "copy": run("copy", channel, tmp_path / "public"),
        "list": run("list"),
        "show": run("show", NAME, "--from", channel),
        "show --images": run("show", NAME, "--from", channel, "--images"),
        "get": run("get", NAME, "--from", channel, "--to", tmp_path),
        "verify FILE": run("verify", out / f"{NAME}.tar.gz"),
        "config": run("config"),
    }
    results["yank"] = run("yank", f"{NAME}@1.0.0", "--reason", "too slow", "--from", channel)
    results["gc"] = run("gc", channel, "--yanked", "--dry-run")
    (channel / "1.0.0" / f"{NAME}.tar.gz").unlink()
    results["fsck"] = run("fsck", channel)
    results["web"] = run("web", channel)
    (tmp_path / NAME / "LICENSE").unlink()
    results["verify DIR"] = run("verify", tmp_path / NAME)
    results["keys"] = run("keys", "new", "release", "--no-passphrase")
    use_case = tmp_path / NAME / "quickstart/mlops/multi-node/user-mounted-nfs"
    with (use_case / "Krmfile").open("a", encoding="utf-8") as file:
        file.write("rules:\n- {rule: WORKERS < 9, message: Few.}\n")
    (tmp_path / "values.yaml").write_text("{NFS_SERVER: 10.0.0.5, NFS_PATH: /exports}", "utf-8")
    nfs_volume, settings = use_case.parents[1] / "nfs-volume", ("--values", tmp_path / "values.yaml")
    results |= {
        "setters": run("setters", use_case),
        "set": run("set", use_case, "NFS_SERVER=10.0.0.5"),
        "explain": run("explain", use_case, "WORKERS"),
        "enable without NAME": run("enable", use_case),
        "enable": run("enable", use_case, "queue"),
        "undo --list": run("undo", use_case, "--list"),
        "undo": run("undo", use_case),
        "render --to": run("render", nfs_volume, *settings, "--to", tmp_path / "all"),
        "lint": run("lint", broken(tmp_path)),
        "import": run("import", real.REPOSITORY / "tests/trees/workspace/bases/one", "--workspace", new(tmp_path)),
        "diff": run("diff", tmp_path / NAME, "--base", out / f"{NAME}.tar.gz"),
        "upgrade": run("upgrade", tmp_path / NAME, out / f"{NAME}.tar.gz", "--base", out / f"{NAME}.tar.gz"),
    }
    libraries.workspace(tmp_path / "ws", "{path: ../parts}")
    libraries.write(tmp_path / "parts", A="1")
    table = documented()
    assert set(table) == {*results, "render", *ON_CLUSTERS}
    for verb, objects in results.items():
        found = seen(objects)
        for field, names in table[verb].items():
            assert found.get(field, names) == names, f"{verb} {field}"


def changed(folder: Path) -> tuple[str, Path]:
    """Return how to name a workspace in a checkout, with a change that was not committed."""
    root = tiny.workspace(folder / "changed")
    for words in (("init", "-q"), ("add", "."), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")):
        subprocess.run([real.program("git"), "-C", str(root), *words], check=True, capture_output=True)
    tiny.replace(root / "bases/one/cm.yaml", '"1"', '"2"')
    return "--workspace", root


def new(folder: Path) -> Path:
    packyard("init", folder / "zoo")
    return folder / "zoo"


def broken(folder: Path) -> Path:
    package = folder / "broken"
    package.mkdir()
    (package / "Krmfile").write_text("apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n", "utf-8")
    (package / "r.yaml").write_text(
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x} # {"$openapi":"NO"}\n', "utf-8"
    )
    return package


@pytest.mark.nightly
def test_the_page_of_packyard_json_has_every_field_of_a_real_one(tmp_path: Path) -> None:
    page = (pages.DOCS / "packyard-json.md").read_text("utf-8")
    (example,) = (block.text for block in pages.blocks(page) if block.kind == "json")
    done("build", NAME, "--workspace", real.REPOSITORY, "--version", "1.0.0", "--to", tmp_path)
    record = json.loads((tmp_path / NAME / "packyard.json").read_bytes())
    assert list(json.loads(example)) == list(record)
    fields = [name for cells in pages.rows(page, "| field |") for name in re.findall(r"`(\S+)`", cells[0])]
    said = {"requires", "options"}  # by nobody there
    assert [name for name in fields if "." not in name and name not in said] == list(record)
    assert {name.rpartition(".")[2] for name in fields if "." in name} == set().union(*record["useCases"].values())
    kinds = {name for cells in pages.rows(page, "| kind |") for name in re.findall(r"`(\w+)`", cells[0])}
    assert {each.split()[0] for case in record["useCases"].values() for each in case.get("requires", ())} <= kinds
