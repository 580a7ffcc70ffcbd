"""What copies models to a storage, as the containers of its Job: from a hub, from versitygw, and from a registry.

huggingface_hub, rclone and oras are the real ones, with the words and variables that the manifests give them.
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import real
import tiny
from sharing import buckets, registries
from workload import copying
from workload.hub import COMMIT, Hub

pytestmark = pytest.mark.nightly("workload")

_NAME = "team/llm"
_LARGE = "model-00001-of-00002.safetensors"
_COPIED = {
    "config.json": b'{"num_attention_heads": 16}',
    _LARGE: os.urandom(300_000),
    "model-00002-of-00002.safetensors": os.urandom(100_000),
    "a folder/tokenizer.json": b"{}",
}
_Change = Callable[[bytes], bytes]


@pytest.fixture
def team_hub() -> Iterator[Hub]:
    with real.answering(Hub(_NAME, {**_COPIED, "README.md": b"# A model"})) as server:
        yield server


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "storage/models/llm"


def from_hub(server: Hub, target: Path, source: str = f"hf://{_NAME}", **more: str) -> copying.Done:
    return copying.copy(copying.HUB, target, {"HF_ENDPOINT": server.address, "MODEL_SOURCE": source, **more})


def read(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".staged"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_copies_a_repository_whole_and_says_which_commit_it_is_and_asks_for_nothing_again(
    team_hub: Hub, target: Path
) -> None:
    done = from_hub(team_hub, target)
    assert done.returncode == 0, done.stderr
    assert read(target) == _COPIED
    assert json.loads((target / ".staged").read_text()) == {"source": f"hf://{_NAME}", "version": COMMIT}
    assert [path.name for path in target.parent.iterdir()] == ["llm"]
    assert f"set MODEL_SOURCE to hf://{_NAME}@{COMMIT}" in done.stdout
    assert all(path.stat().st_mode & 0o444 == 0o444 for path in [target, *target.rglob("*")])
    team_hub.asked.clear()
    assert (from_hub(team_hub, target).returncode, team_hub.asked) == (0, [])


def test_refuses_another_model_under_the_same_name_and_a_directory_that_it_did_not_make(
    team_hub: Hub, target: Path
) -> None:
    from_hub(team_hub, target)
    done = from_hub(team_hub, target, "hf://team/other")
    assert (done.returncode, read(target)) == (1, _COPIED)
    assert f"holds hf://{_NAME}: delete it, or set another MODEL_PATH for hf://team/other" in done.stderr
    (target / ".staged").unlink()
    assert "was not made by staging" in from_hub(team_hub, target).stderr


@pytest.mark.parametrize(("version", "times"), [(COMMIT, 0), ("old", 1)], ids=["goes on", "of another version"])
def test_takes_of_an_earlier_job_what_is_of_the_same_version(
    team_hub: Hub, target: Path, version: str, times: int
) -> None:
    team_hub.sent["config.json"] = b'{"num_attention_heads": 17}'
    assert "config.json is not what" in from_hub(team_hub, target).stderr
    assert not (target.with_name("llm.partial") / "config.json").exists()
    target.with_name("llm.partial").joinpath(".staged").write_text(
        json.dumps({"source": f"hf://{_NAME}", "version": version})
    )
    team_hub.sent = dict(team_hub.files)
    team_hub.asked.clear()
    assert from_hub(team_hub, target).returncode == 0
    assert (team_hub.asked.count("config.json"), team_hub.asked.count(_LARGE)) == (1, times)
    assert read(target) == _COPIED


def test_a_renamed_and_gated_repository_is_copied_and_its_token_reaches_no_other_host(
    team_hub: Hub, target: Path
) -> None:
    team_hub.token, team_hub.former_name = "hf_secret", "team/old"
    with real.answering(Hub(_NAME, team_hub.files)) as other:
        team_hub.elsewhere = other.address.replace("127.0.0.1", "localhost")
        refused = from_hub(team_hub, target, "hf://team/old")
        done = from_hub(team_hub, target, "hf://team/old", HF_TOKEN="hf_secret")
    assert (refused.returncode, "Does the Secret model-credentials have an HF_TOKEN" in refused.stderr) == (1, True)
    assert (done.returncode, read(target)) == (0, _COPIED), done.stderr
    assert {*other.asked} == {name for name in _COPIED if name.endswith("tensors")}
    assert set(other.authorized) == {""}
    assert "hf_secret" not in done.stdout + done.stderr


def test_weights_that_no_server_reads_are_refused_by_name_before_anything_is_copied(
    team_hub: Hub, target: Path
) -> None:
    team_hub.files = team_hub.sent = {"config.json": b"{}", "pytorch_model.bin": b"x", "tokenizer.json": b"{}"}
    done = from_hub(team_hub, target)
    assert (done.returncode, team_hub.asked) == (1, [])
    assert f"hf://{_NAME} has no weights that servers read: STAGE_IGNORE leaves out pytorch_model.bin" in done.stderr
    assert from_hub(team_hub, target, STAGE_IGNORE="").returncode == 0


@pytest.mark.parametrize("programs", ["*.py", ""])
def test_programs_of_a_model_are_copied_only_where_they_are_trusted(team_hub: Hub, target: Path, programs: str) -> None:
    team_hub.files["modeling_mine.py"] = team_hub.sent["modeling_mine.py"] = b"print()"
    done = from_hub(team_hub, target, STAGE_PROGRAMS=programs)
    is_left = "left out: modeling_mine.py" in done.stdout
    assert (is_left, "modeling_mine.py" in read(target)) == (bool(programs), not programs)
    assert ("without modeling_mine.py: delete it" in from_hub(team_hub, target, STAGE_PROGRAMS="").stderr) == is_left


@pytest.mark.parametrize("path", ["../outside", "/etc/outside", "a/../../outside", ".staged"])
def test_a_file_outside_of_the_model_is_refused(team_hub: Hub, target: Path, path: str) -> None:
    team_hub.files[path] = b"x"
    done = from_hub(team_hub, target)
    assert (done.returncode, target.exists()) == (1, False)
    assert "would lie outside of the model" in done.stderr


def test_nothing_has_a_name_that_no_container_copied(target: Path) -> None:
    target.with_name("llm.partial").mkdir(parents=True)
    done = copying.finish(f"hf://{_NAME}", target)
    assert (done.returncode, target.exists()) == (1, False)
    assert "nothing was copied to" in done.stderr


@pytest.mark.parametrize("file", [copying.HUB, copying.BUCKET, copying.REGISTRY])
def test_a_source_of_another_kind_is_refused_with_the_option_that_copies_it(file: str, target: Path) -> None:
    source = "s3://bucket/team/llm" if file == copying.HUB else "hf://team/llm"
    done = copying.copy(file, target, {"MODEL_SOURCE": source})
    assert (done.returncode, target.exists()) == (1, False)
    assert f"MODEL_SOURCE is {source}" in done.stderr
    assert ("enable from-bucket for s3://" if file == copying.HUB else file.split("/")[-2]) in done.stderr


@pytest.mark.parametrize("is_lacking", [False, True])
def test_rclone_copies_a_prefix_of_a_bucket(tmp_path: Path, target: Path, is_lacking: bool) -> None:
    lines = [f"{hashlib.sha256(data).hexdigest()}  ./{path}" for path, data in _COPIED.items()]
    lines += [f"{'0' * 64} *missing"] if is_lacking else []
    files = {**_COPIED, "SHA256SUMS": "\n".join([*lines, ""]).encode()}
    with buckets.versitygw(real.pinned_program("versitygw"), tmp_path) as server:
        more = {"modeling.py": b"print()", "README.md": b"# A model"}
        tiny.write_all(tmp_path / buckets.BUCKET / "team/llm", {**files, **more})
        given = {"RCLONE_S3_ENDPOINT": server.url, **server.environment}
        source = {"MODEL_SOURCE": f"s3://{buckets.BUCKET}/team/llm"}
        done = copying.copy(copying.BUCKET, target, {**given, **source})
        empty = copying.copy(copying.BUCKET, target.with_name("empty"), {**given, "MODEL_SOURCE": "s3://models/none"})
    assert (empty.returncode, "has no files that are copied" in empty.stderr) == (1, True)
    assert (done.returncode, "SHA256SUMS names it" in done.stderr) == (int(is_lacking), is_lacking), done.stderr
    assert is_lacking or read(target) == files


def test_oras_copies_an_artifact_whose_layers_oras_or_modelpack_names(tmp_path: Path, target: Path) -> None:
    folder = tmp_path / "pushed"
    tiny.write_all(folder, {**_COPIED, "modeling.py": b"print()"})
    with registries.distribution(real.pinned_program("registry"), tmp_path) as address:
        host = address.replace("127.0.0.1", "localhost")  # which oras asks without TLS

        def oras(*words: str, given: bytes = b"") -> bytes:
            command = [str(real.pinned_program("oras")), *words]
            return subprocess.run(command, cwd=folder, input=given, check=True, stdout=subprocess.PIPE).stdout

        def copied(name: str, version: str) -> copying.Done:
            told = {"MODEL_SOURCE": f"oci://{host}/team/llm{version}"}
            return copying.copy(copying.REGISTRY, target.with_name(name), told)

        oras("push", f"{host}/team/llm:1", *_COPIED, "modeling.py")
        done = copied("llm", ":1")
        assert done.returncode == 0, done.stderr
        version = json.loads((target / ".staged").read_text())["version"]
        assert copied("by-digest", f"@{version}").returncode == 0
        manifest = oras("manifest", "fetch", f"{host}/team/llm:1")
        modelpack = manifest.replace(b"org.opencontainers.image.title", b"org.cncf.model.filepath")
        oras("manifest", "push", f"{host}/team/llm:modelpack", "-", given=modelpack)
        assert copied("by-path", ":modelpack").returncode == 0
        oras("push", f"{host}/team/llm:folder", "./")
        refused = copied("folder", ":folder")
        absent = copied("none", ":none")
    assert read(target) == read(target.with_name("by-digest")) == read(target.with_name("by-path")) == _COPIED
    assert "left out: modeling.py" in done.stdout
    assert (refused.returncode, "is not a file: push each file as a layer" in refused.stderr) == (1, True)
    assert (absent.returncode, "not found" in absent.stderr) == (1, True)
