"""What copies models to a storage, as the containers of its Job: from a hub, from versitygw, and from a registry.

huggingface_hub, rclone and oras are the real ones, with the words and variables that the manifests give them.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event

import pytest
import yaml

import real
import tiny
from sharing import buckets, registries
from workload.hub import COMMIT, Hub
from workload.machine import PATIENCE, running

pytestmark = pytest.mark.nightly("workload")

_BASE = real.REPOSITORY / "bases/model-staging"
_OPTIONS = real.REPOSITORY / "overlays/options"
_PROGRAM = _BASE / "stage_model.py"
_NAME = "team/llm"
_LARGE = "model-00001-of-00002.safetensors"
_COPIED = {
    "config.json": b'{"num_attention_heads": 16}',
    _LARGE: os.urandom(300_000),
    "model-00002-of-00002.safetensors": os.urandom(100_000),
    "a folder/tokenizer.json": b"{}",
}
Done = subprocess.CompletedProcess[str]
_Change = Callable[[bytes], bytes]


@pytest.fixture
def team_hub() -> Iterator[Hub]:
    with real.answering(Hub(_NAME, {**_COPIED, "README.md": b"# A model"})) as server:
        yield server


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "storage/models/llm"


def variables(file: Path) -> dict[str, str]:
    values: dict[str, str] = yaml.safe_load(file.read_text())["data"]
    return values


def environment_of(source: str, target: Path, more: Mapping[str, str]) -> dict[str, str]:
    home = target.parents[2] / "tmp"
    home.mkdir(exist_ok=True)
    shown = {**variables(_BASE / "config-map.yaml"), "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    path = real.path_with("awk", "oras", "rclone")
    return {**shown, "MODEL_SOURCE": source, "STAGE_DIR": str(target), "PATH": path, **more}


def run(words: list[str], source: str, target: Path, more: Mapping[str, str]) -> Done:
    environment = environment_of(source, target, more)
    words = [word.replace("/tmp", environment["HF_HOME"]) for word in words]  # each test has its own
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


def finish(source: str, target: Path) -> Done:
    return run([sys.executable, str(_PROGRAM), "finish"], source, target, {})


def then_finish(copied: Done, source: str, target: Path) -> Done:
    """Return what the Job's second container does, which starts where the first ended well, with what both said."""
    if copied.returncode:
        return copied
    done = finish(source, target)
    return subprocess.CompletedProcess([], done.returncode, copied.stdout + done.stdout, copied.stderr + done.stderr)


def from_hub(server: Hub, target: Path, source: str = f"hf://{_NAME}", **more: str) -> Done:
    given = {"HF_ENDPOINT": server.address, **more}
    return then_finish(run([sys.executable, str(_PROGRAM), "copy"], source, target, given), source, target)


def by_option(option: str, source: str, target: Path, **more: str) -> Done:
    job = yaml.safe_load((_OPTIONS / option / "job.yaml").read_text())
    (container,) = job["spec"]["template"]["spec"]["initContainers"]
    config_map = _OPTIONS / option / "config-map.yaml"
    given = variables(config_map) if config_map.is_file() else {}
    return then_finish(run(container["command"], source, target, {**given, **more}), source, target)


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
    asked = [path for path, _ in team_hub.asked]
    assert (asked.count("config.json"), asked.count(_LARGE)) == (1, times)
    assert read(target) == _COPIED


@pytest.mark.parametrize("name", ["config.json", _LARGE])
@pytest.mark.parametrize("change", [lambda data: bytes([data[0] ^ 1]) + data[1:], lambda data: data + b"more"])
def test_takes_no_file_with_another_digest_or_size(team_hub: Hub, target: Path, name: str, change: _Change) -> None:
    team_hub.sent[name] = change(team_hub.sent[name])
    done = from_hub(team_hub, target)
    assert (done.returncode, target.exists()) == (1, False)
    assert name in done.stderr
    team_hub.sent = dict(team_hub.files)
    done = from_hub(team_hub, target)
    assert (done.returncode, read(target)) == (0, _COPIED), done.stderr


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
    assert {path for path, _ in other.asked} == {name for name in _COPIED if name.endswith("tensors")}
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
    assert done.returncode == 0, done.stderr
    is_copied = "modeling_mine.py" in read(target)
    assert (is_copied, "left out: modeling_mine.py" in done.stdout) == (not programs, bool(programs))


@pytest.mark.parametrize("path", ["../outside", "/etc/outside", "a/../../outside", ".staged"])
def test_a_file_outside_of_the_model_is_refused(team_hub: Hub, target: Path, path: str) -> None:
    team_hub.files[path] = b"x"
    done = from_hub(team_hub, target)
    assert (done.returncode, target.exists()) == (1, False)
    assert "would lie outside of the model" in done.stderr


def test_a_copy_that_is_told_to_end_ends_and_the_next_goes_on(team_hub: Hub, target: Path) -> None:
    team_hub.holds[_LARGE] = Event()
    source, given = f"hf://{_NAME}", {"HF_ENDPOINT": team_hub.address}
    words, environment = [sys.executable, str(_PROGRAM), "copy"], environment_of(source, target, given)
    with running(words, env=environment) as copying:
        assert team_hub.is_held.wait(PATIENCE)
        copying.terminate()
        assert copying.wait(PATIENCE) == 143
    team_hub.holds.pop(_LARGE).set()
    done = from_hub(team_hub, target)
    assert (done.returncode, read(target)) == (0, _COPIED), done.stderr


def test_nothing_has_a_name_that_no_container_copied(target: Path) -> None:
    target.with_name("llm.partial").mkdir(parents=True)
    done = finish(f"hf://{_NAME}", target)
    assert (done.returncode, target.exists()) == (1, False)
    assert "nothing was copied to" in done.stderr


@pytest.mark.parametrize("option", ["", "from-bucket", "from-registry"])
def test_a_source_of_another_kind_is_refused_with_the_option_that_copies_it(option: str, target: Path) -> None:
    source = "hf://team/llm" if option else "s3://bucket/team/llm"
    if option:
        done = by_option(option, source, target)
    else:
        done = run([sys.executable, str(_PROGRAM), "copy"], source, target, {})
    assert (done.returncode, target.exists()) == (1, False)
    assert f"MODEL_SOURCE is {source}" in done.stderr
    assert (option or "enable from-bucket for s3://") in done.stderr


@pytest.mark.parametrize("sums", ["right", "wrong", "lacking", "none"])
def test_rclone_copies_a_prefix_of_a_bucket(tmp_path: Path, target: Path, sums: str) -> None:
    lines = [f"{hashlib.sha256(data).hexdigest()}  ./{path}" for path, data in _COPIED.items()]
    lines[1] = f"{'0' * 64}  {lines[1].split(maxsplit=1)[1]}" if sums == "wrong" else lines[1]
    lines += [f"{'0' * 64} *missing"] if sums == "lacking" else []
    files = _COPIED if sums == "none" else {**_COPIED, "SHA256SUMS": "\n".join([*lines, ""]).encode()}
    source = f"s3://{buckets.BUCKET}/team/llm"
    with buckets.versitygw(real.pinned_program("versitygw"), tmp_path) as server:
        more = {"modeling.py": b"print()", "README.md": b"# A model"}
        tiny.write_all(tmp_path / buckets.BUCKET / "team/llm", {**files, **more})
        keys = {"AWS_ACCESS_KEY_ID": buckets.ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": buckets.SECRET_KEY}
        given = {"RCLONE_S3_ENDPOINT": server.url, **keys}
        done = by_option("from-bucket", source, target, **given)
        wrong = by_option("from-bucket", source, target, **{**given, "AWS_SECRET_ACCESS_KEY": "wrong"})
        empty = by_option("from-bucket", f"s3://{buckets.BUCKET}/nothing", tmp_path / "storage/models/empty", **given)
    assert (empty.returncode, "has no files that are copied" in empty.stderr) == (1, True)
    if sums in ("right", "none"):
        assert (done.returncode, read(target)) == (0, files), done.stderr
        assert wrong.returncode == 0  # it is there, and the server is not asked
    else:
        assert (done.returncode, target.exists()) == (1, False)
        assert ("it was changed on its way" if sums == "wrong" else "SHA256SUMS names it") in done.stderr
        assert (wrong.returncode, "SignatureDoesNotMatch" in wrong.stderr) == (1, True)


def test_oras_copies_an_artifact_whose_layers_oras_or_modelpack_names(tmp_path: Path, target: Path) -> None:
    folder = tmp_path / "pushed"
    tiny.write_all(folder, {**_COPIED, "modeling.py": b"print()"})
    with registries.distribution(real.pinned_program("registry"), tmp_path) as address:
        host = address.replace("127.0.0.1", "localhost")  # which oras asks without TLS

        def oras(*words: str, given: bytes = b"") -> bytes:
            command = [str(real.pinned_program("oras")), *words]
            return subprocess.run(command, cwd=folder, input=given, check=True, stdout=subprocess.PIPE).stdout

        oras("push", f"{host}/team/llm:1", *_COPIED, "modeling.py")
        done = by_option("from-registry", f"oci://{host}/team/llm:1", target)
        assert done.returncode == 0, done.stderr
        version = json.loads((target / ".staged").read_text())["version"]
        by_digest = tmp_path / "storage/models/by-digest"
        assert by_option("from-registry", f"oci://{host}/team/llm@{version}", by_digest).returncode == 0
        manifest = oras("manifest", "fetch", f"{host}/team/llm:1")
        modelpack = manifest.replace(b"org.opencontainers.image.title", b"org.cncf.model.filepath")
        oras("manifest", "push", f"{host}/team/llm:modelpack", "-", given=modelpack)
        by_path = tmp_path / "storage/models/by-path"
        assert by_option("from-registry", f"oci://{host}/team/llm:modelpack", by_path).returncode == 0
        oras("push", f"{host}/team/llm:folder", "./")
        refused = by_option("from-registry", f"oci://{host}/team/llm:folder", tmp_path / "storage/models/folder")
        absent = by_option("from-registry", f"oci://{host}/team/llm:none", tmp_path / "storage/models/none")
    assert read(target) == read(by_digest) == read(by_path) == _COPIED
    assert "left out: modeling.py" in done.stdout
    assert (refused.returncode, "is not a file: push each file as a layer" in refused.stderr) == (1, True)
    assert (absent.returncode, "not found" in absent.stderr) == (1, True)
