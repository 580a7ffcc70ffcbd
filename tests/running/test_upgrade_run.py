"""`packyard upgrade RUN VERSION`: a deployed run moved to another version from its record, on a real control plane."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli.test_upgrade import CM, FILES, HEAD, KUSTOMIZATION, SETTER, pack
from commandline import packyard
from controlplane.api import Api
from packyard.core.bundle.bundle import Bundle
from packyard.running.runs.merged import Merge
from packyard.running.runs.prepared import list_items, list_text
from running.wanted import config_map, job, secret

SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {a: b}\n"
OLD = {**FILES, "run/nfs/kustomization.yaml": KUSTOMIZATION + "- key.yaml\n", "run/nfs/key.yaml": SECRET}
NEW = {
    **OLD,
    "run/nfs/Krmfile": HEAD + SETTER.format(name="WORKERS", value="4") + SETTER.format(name="OLD", value="new"),
    "run/nfs/cm.yaml": CM.replace('"2" #', '"4" #').replace('one: "1"', 'one: "11"').replace('old: ""', "old: new"),
    "run/nfs/kustomization.yaml": KUSTOMIZATION + "- key.yaml\n- more.yaml\n",
    "run/nfs/more.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n",
}
LIST = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: list}\n"
RUN = "p-nfs"


@pytest.fixture
def flags(cluster: Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A run of version 1, with a value, an option and two lines that were edited; and the bundles of both versions."""
    monkeypatch.chdir(tmp_path)
    flags = (f"--namespace={namespace}", f"--kubeconfig={cluster.folder / 'kubeconfig'}")
    pack(tmp_path, "1.0.0", OLD)
    pack(tmp_path, "2.0.0", NEW)
    top = Bundle.open((tmp_path / "1.0.0.tar.gz").read_bytes()).unpack(tmp_path)
    file = top / "run/nfs/cm.yaml"
    text = file.read_text().replace('two: "2"', 'two: "22"').replace("name: run\n", "name: run\n  labels: {a: b}\n")
    file.write_text(text)
    done = packyard("enable", top / "run/nfs", "queue")
    assert done.returncode == 0, done.stderr
    done = packyard("deploy", top / "run/nfs", "WORKERS=8", "--no-doctor", *flags)
    assert done.returncode == 0, done.stderr
    top.rename(tmp_path / "moved-away")
    return ("--base", str(tmp_path / "1.0.0.tar.gz"), "--no-doctor", *flags)


def test_what_was_set_enabled_and_edited_stays_and_what_is_new_arrives(
    cluster: Api, namespace: str, flags: tuple[str, ...]
) -> None:
    shown = packyard("upgrade", RUN, "2.0.0.tar.gz", "--dry-run", *flags)
    assert (shown.returncode, '+  one: "11"' in shown.stdout) == (0, True), shown.stderr
    done = packyard("upgrade", RUN, "2.0.0.tar.gz", *flags)
    assert done.returncode == 0, done.stderr
    assert f"run {RUN}: p upgraded from 1.0.0, record 1, to 2.0.0" in done.stderr
    assert "kept: 1 value of yours (WORKERS)" in done.stderr
    found = cluster.read(config_map("run"), namespace).body
    expected = {"workers": "8", "one": "11", "two": "22", "three": "3", "four": "4", "old": "new"}
    assert (found["data"], found["metadata"]["labels"]["a"], found["metadata"]["labels"]["q"]) == (expected, "b", "a")
    assert cluster.read(config_map("more"), namespace).status == 200
    assert cluster.read(secret("key"), namespace).body["data"] == {"a": "Yg=="}
    (_, last) = json.loads(packyard("rollback", RUN, "--list", "-o", "json", *flags[3:]).stdout)
    assert (last["version"], last["action"], last["source"]) == ("2.0.0", "upgrade", 1)
    assert "upgraded from record 1" in packyard("rollback", RUN, "--list", *flags[3:]).stdout
    back = packyard("rollback", RUN, *flags[3:])
    assert (back.returncode, cluster.read(config_map("more"), namespace).status) == (0, 404), back.stderr


def test_conflicts_are_told_and_decided(cluster: Api, namespace: str, tmp_path: Path, flags: tuple[str, ...]) -> None:
    pack(tmp_path, "3.0.0", {**NEW, "run/nfs/cm.yaml": CM.replace('two: "2"', 'two: "222"')})
    refused = packyard("upgrade", RUN, "3.0.0.tar.gz", *flags)
    assert refused.returncode == 1
    assert "ConfigMap run: data.two is 22 in the run, and 222 in the new version" in refused.stderr
    assert "--ours keeps what the run has" in refused.stderr
    done = packyard("upgrade", RUN, "3.0.0.tar.gz", "--theirs", "WORKERS=9", *flags)
    assert done.returncode == 0, done.stderr
    data = cluster.read(config_map("run"), namespace).body["data"]
    assert (data["two"], data["workers"]) == ("222", "9")


def test_what_the_new_version_requires_is_told_with_the_command_that_sets_it(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    required = SETTER.format(name="SERVER", value="").replace('value: ""', 'value: ""\n          required: true')
    run = {**NEW, "run/nfs/Krmfile": NEW["run/nfs/Krmfile"] + required}
    run["run/nfs/more.yaml"] += 'data:\n  server: "" # {"$openapi":"SERVER"}\n'
    pack(tmp_path, "3.0.0", run)
    refused = packyard("upgrade", RUN, "3.0.0.tar.gz", "WORKERS=3", *flags)
    (_, _, error) = refused.stderr.splitlines()
    place, hint = error.removesuffix(")").split(" (")
    assert (refused.returncode, place) == (1, "error: p/run/nfs/Krmfile:16: SERVER is not set"), refused.stderr
    assert hint.startswith(f"packyard upgrade {RUN} 3.0.0.tar.gz WORKERS=3 "), refused.stderr
    done = packyard(*shlex.split(hint)[1:-1], "SERVER=a", "--no-doctor")
    assert done.returncode == 0, done.stderr


def test_the_items_of_a_list_stay_what_they_are(tmp_path: Path, flags: tuple[str, ...]) -> None:
    listed = SETTER.format(name="ARGS", value="").replace('value: ""', 'listValues: ["a", "b"]')
    krmfile = listed.replace("ARGS:\n", "ARGS:\n      type: array\n")
    bound = 'rules:\n- apiGroups: [""]\n  verbs: [get]\n  resources: # {"$openapi":"ARGS"}\n  - a\n  - b\n'
    base = {**OLD, "run/nfs/Krmfile": OLD["run/nfs/Krmfile"] + krmfile, "run/nfs/list.yaml": LIST + bound}
    base["run/nfs/kustomization.yaml"] += "- list.yaml\n"
    theirs = {**base, "run/nfs/more.yaml": NEW["run/nfs/more.yaml"]}
    theirs["run/nfs/kustomization.yaml"] += "- more.yaml\n"
    pack(tmp_path, "3.0.0", base)
    pack(tmp_path, "4.0.0", theirs)
    top = Bundle.open((tmp_path / "3.0.0.tar.gz").read_bytes()).unpack(tmp_path)
    items = ["--betas=0.9,0.99", "a: 'b'", "1", "[x]"]
    done = packyard("set", top / "run/nfs", *(f"ARGS={item}" for item in items))
    assert done.returncode == 0, done.stderr
    done = packyard("deploy", top / "run/nfs", *flags[2:])
    assert done.returncode == 0, done.stderr
    done = packyard("upgrade", RUN, "4.0.0.tar.gz", "--base", "3.0.0.tar.gz", *flags[2:])
    assert done.returncode == 0, done.stderr
    (*_, before, after) = json.loads(packyard("rollback", RUN, "--list", "-o", "json", *flags[3:]).stdout)
    assert before["values"] == after["values"] == {"ARGS": """["--betas=0.9,0.99","a: 'b'","1","[x]"]"""}


@pytest.mark.parametrize("texts", [["a", "b"], ["a,b"], ["a: b", "- c", '"', "'", "\\"], ["1", "yes", "", "~"], []])
def test_items_are_read_as_they_were_recorded(texts: list[str]) -> None:
    assert list_items(list_text(texts)) == texts
    assert list_items("[--a: b,c]") == ["--a: b", "c"]  # of an earlier version


def test_a_value_that_the_new_version_does_not_take_is_told_by_its_name_in_the_package(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    narrow = NEW["run/nfs/Krmfile"].replace("      x-k8s-cli:\n", "      maximum: 4\n      x-k8s-cli:\n", 1)
    pack(tmp_path, "3.0.0", {**NEW, "run/nfs/Krmfile": narrow})
    refused = packyard("upgrade", RUN, "3.0.0.tar.gz", *flags)
    assert refused.returncode == 1
    assert "p/run/nfs/Krmfile:5: WORKERS is set to 8, and 3.0.0 does not admit that" in refused.stderr
    assert " conflicts; nothing is deployed (--ours keeps what the run has" in refused.stderr
    assert "/tmp/packyard-" not in refused.stderr
    refused = packyard("upgrade", RUN, "3.0.0.tar.gz", "--ours", *flags)
    assert "p/run/nfs/Krmfile:5: WORKERS takes a text of at most 4, not '8' (for example: packyard" in refused.stderr
    hint = refused.stderr.rpartition("example: ")[2].removesuffix(")\n")
    done = packyard(*shlex.split(hint)[1:], "--no-doctor")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--dry-run", "packyard upgrade: --dry-run and --replace exclude each other"),
        ("--diff", "packyard upgrade: --diff and --replace exclude each other"),
        ("--watch -o json", "--watch prints text only"),
        ("--watch --no-wait", "--watch prints text only, and excludes --no-wait"),
        ("--keep 0", "--keep 0: the last record stays"),
    ],
)
def test_flags_that_do_not_go_together_are_refused_before_replace_deletes_the_run(
    cluster: Api, namespace: str, flags: tuple[str, ...], words: str, problem: str
) -> None:
    assert cluster.delete(config_map("run"), namespace).status == 200  # a run that is incomplete is over: it would go
    before = cluster.read(secret("key"), namespace).body
    refused = packyard("upgrade", RUN, "2.0.0.tar.gz", "--replace", *words.split(), *flags)
    assert cluster.read(secret("key"), namespace).body == before
    assert (refused.returncode, problem in refused.stderr, refused.stdout) == (2, True, ""), refused.stderr


def test_what_is_replaced_keeps_its_secrets(cluster: Api, namespace: str, flags: tuple[str, ...]) -> None:
    assert cluster.delete(config_map("run"), namespace).status == 200
    before = cluster.read(secret("key"), namespace).body["data"]
    replaced = packyard("upgrade", RUN, "2.0.0.tar.gz", "--replace", *flags)
    assert replaced.returncode == 0, replaced.stderr
    assert cluster.read(secret("key"), namespace).body["data"] == before
    assert cluster.read(config_map("run"), namespace).status == 200


def test_a_folder_of_that_name_wins_and_it_is_said(tmp_path: Path, flags: tuple[str, ...]) -> None:
    (tmp_path / RUN).mkdir()
    refused = packyard("upgrade", RUN, "2.0.0.tar.gz", *flags)
    assert (refused.returncode, f"{RUN} is a folder here" in refused.stderr) == (1, True)
    unknown = packyard("upgrade", "p-nsf", "2.0.0.tar.gz", *flags)
    assert (unknown.returncode, f"did you mean '{RUN}'?" in unknown.stderr) == (1, True), unknown.stderr
    nothing = packyard("upgrade", "2.0.0", "-n", "ml")
    assert (nothing.returncode, "packyard upgrade RUN 2.0.0" in nothing.stderr) == (2, True)
    wrong = packyard("upgrade", "p-nsf", "2.0.0.tar.gz", *flags, "--base", "2.0.0.tar.gz")
    assert wrong.returncode == 1


def merged(*sides: list[dict[str, Any]], decision: str = "") -> tuple[list[dict[str, Any]], list[str]]:
    merge = Merge(decision)
    return merge.objects(*sides), merge.conflicts


def test_objects_are_merged_by_names_of_containers_and_conflicts_have_their_place() -> None:
    def change(image: str = "registry.example/training:1", **variables: str) -> dict[str, Any]:
        made = job()
        (container,) = made["spec"]["template"]["spec"]["containers"]
        env = [{"name": name, "value": value} for name, value in variables.items()]
        pod = {**made["spec"]["template"]["spec"], "containers": [{**container, "image": image, "env": env}]}
        made["spec"]["template"]["spec"] = pod
        return made

    ours, theirs = change(A="1", MINE="2"), change(image="b", A="1", NEW="3")
    assert merged([change(A="1")], [ours], [theirs]) == ([change(image="b", A="1", NEW="3", MINE="2")], [])
    found, conflicts = merged([change()], [change(image="a", API_KEY="x")], [change(image="b", API_KEY="y")])
    place = "Job work: spec.template.spec.containers.training"
    assert conflicts == [
        f"{place}.image is a in the run, and b in the new version",
        f"{place}.env.API_KEY.value is *** in the run, and *** in the new version",
    ]
    assert found == [change(image="a", API_KEY="x")]
    one, two = config_map("one", a="1"), config_map("one", a="2")
    assert merged([one], [one], []) == ([], [])  # it left the package
    assert merged([], [one], []) == ([one], [])  # added by hand
    assert merged([one], [], [one]) == ([], [])  # removed by hand
    assert merged([one], [], [two])[1] == ["ConfigMap one: it is removed in the run, and changed in the new version"]
    assert merged([one], [], [two], decision="theirs")[0] == [two]
    assert merged([one], [two], [])[1] == ["ConfigMap one: it is removed in the new version, and changed in the run"]
