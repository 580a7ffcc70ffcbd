"""A use case of a package that is not here: fetched for one command, set by a values file, and gone afterwards."""

import json
import subprocess
from pathlib import Path

import pytest

import tiny
from cli.test_upgrade import CM, NEXT, pack
from cli.test_upgrade import FILES as FIRST
from packyard.core.bundle.bundle import Bundle
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import publish
from tiny import done, packyard, refused

OPTION = """\
# Waits in a queue.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: ConfigMap, name: run}
  patch: |
    - {op: add, path: /data/queue, value: a}
"""
FILES = {**FIRST, "run/options/queue/kustomization.yaml": OPTION}

VALUES = "# What our team runs.\noptions: [queue]\nWORKERS: 8\n"


def release(folder: Path, version: str, files: dict[str, str], channel: str = "channel") -> None:
    """Publish a version of the package p."""
    publish(DirectoryStore(folder / channel), [Bundle.open(pack(folder, version, files).read_bytes())])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder but for a channel with the package p in two versions, which is configured, and a values file."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    release(folder, "1.0", FILES)
    release(folder, "1.1", {**NEXT, "run/options/queue/kustomization.yaml": OPTION})
    tiny.write(folder / "values.yaml", VALUES)
    monkeypatch.setenv("PACKYARD_CHANNEL", str(folder / "channel"))
    return folder


@pytest.mark.parametrize("version", ["", "@1.0", "@~1.0", "@1.1"])
def test_prints_what_render_prints_of_the_package_that_get_and_set_leave(here: Path, version: str) -> None:
    before = sorted(path.name for path in here.iterdir())
    process = packyard("render", f"p{version}/nfs", "--built-in", "-f", "values.yaml")
    assert process.returncode == 0, process.stderr
    assert f"p@{'1.0' if '1.0' in version else '1.1'} from {here}/channel (PACKYARD_CHANNEL), " in process.stderr
    assert "not signed: nobody can tell who published it\n" in process.stderr
    assert sorted(path.name for path in here.iterdir()) == before
    done("get", f"p{version}", "--to", "got")
    done("set", "got/p/run/nfs", "-f", "values.yaml")
    assert process.stdout == done("render", "got/p/run/nfs", "--built-in")
    assert "queue: a" in process.stdout
    assert 'workers: "8"' in process.stdout


def test_a_package_in_the_working_directory_wins_unless_a_version_or_a_channel_is_named(here: Path) -> None:
    done("get", "p@1.0")
    tiny.replace(here / "p/run/nfs/cm.yaml", 'one: "1"', 'one: "mine"')
    assert "one: mine" in done("render", "p/nfs", "--built-in")
    for words in (["p@1.1/nfs"], ["p/nfs", "--from", "channel"]):
        assert 'one: "11"' in done("render", *words, "--built-in")


def test_a_name_that_a_version_moved_is_told_at_the_line_of_the_values_file(here: Path) -> None:
    tiny.write(here / "values.yaml", "WORKERS: 8\nOLD: x\nWRKERS: 3\n")
    said = refused("render", "p@1.1/nfs", "-f", "values.yaml")
    assert "error: values.yaml:2: OLD is no longer a parameter: NEW\n" in said
    assert "values.yaml:3: parameter 'WRKERS' is in no package below p@1.1/nfs (did you mean 'WORKERS'?)\n" in said
    assert "packyard-" not in said


def test_what_is_required_is_asked_for_on_the_command_line(here: Path) -> None:
    krmfile = FILES["run/nfs/Krmfile"].replace('value: ""', 'value: ""\n          required: true')
    release(here, "2.0", {**FILES, "run/nfs/Krmfile": krmfile})
    said = refused("render", "p/nfs", "--built-in", "-f", "values.yaml")
    assert "error: p/nfs: OLD is not set (" in said
    assert "packyard render p/nfs --built-in --values=values.yaml OLD=VALUE" in said


def test_a_lock_holds_the_version_and_its_bytes(here: Path) -> None:
    done("get", "p@1.0", "--lock", "packyard.lock", "--to", "got")
    assert 'one: "1"' in done("render", "p/nfs", "--built-in", "--locked")
    assert "pins p@1.0, not p@1.1" in refused("render", "p@1.1/nfs", "--locked")
    assert "does not pin q" in refused("render", "q/nfs", "--locked")
    release(here, "1.0", {**FILES, "run/nfs/cm.yaml": CM.replace('"1"', '"evil"')}, "other")
    assert "another one is pinned: tar sha256:" in refused("render", "p/nfs", "--locked", "--from", "other")


def test_what_packyard_carries_is_pinned_as_a_channel_is(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PACKYARD_CHANNEL")
    done("get", "mnist-fp32-training-k8s", "--lock", "packyard.lock", "--to", "got")
    words = ("render", "mnist-fp32-training-k8s/first-run/none", "--built-in", "--locked", "-o", "json")
    assert any(item["kind"] == "Job" for item in json.loads(done(*words)))
    lock = (here / "packyard.lock").read_text()
    before, _, after = lock.partition('"tar": "sha256:')
    tiny.write(here / "packyard.lock", f'{before}"tar": "sha256:{"1" if after[0] == "0" else "0"}{after[1:]}')
    assert "is not what is pinned" in refused(*words)


def test_diff_foretells_what_a_version_makes_of_a_values_file(here: Path) -> None:
    told = done("diff", "p@1.0/nfs", "p@1.1/nfs", "-f", "values.yaml")
    assert '-  one: "1"\n+  one: "11"\n' in told
    before, after = ((done("render", f"p@{version}/nfs", "-f", "values.yaml")) for version in ("1.0", "1.1"))
    tiny.write(here / "manifests.yaml", before)
    tiny.write(here / "change.diff", told)
    subprocess.run(["git", "apply", "change.diff"], check=True)
    assert (here / "manifests.yaml").read_text() == after
    assert packyard("diff", "p@1.0/nfs", "-f", "values.yaml").returncode == 2


def test_a_value_that_an_option_replaces_is_told(tmp_path: Path) -> None:
    done("get", "llm-serving", cwd=tmp_path)
    done("enable", "llm-serving/one-node", "amd", cwd=tmp_path)
    for verb, *words in (["explain", "IMAGE"], ["setters"], ["render", "PVC_NAME=a", "IMAGE=r/x:1"]):
        said = packyard(verb, "llm-serving/one-node", *words, cwd=tmp_path).stderr
        assert "IMAGE has no effect here: the option 'amd', which is enabled, replaces it" in said
