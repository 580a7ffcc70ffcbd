"""What copies from buckets, with the real aws and an S3 server: data for runs, and their events for TensorBoard."""

import hashlib
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

import real
import tiny
from sharing import buckets
from workload.machine import PATIENCE, running, wait_until

pytestmark = pytest.mark.nightly("workload")


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """What clients of a server are told whose buckets are folders of the test."""
    with buckets.versitygw(real.pinned_program("versitygw"), tmp_path) as server:
        yield {"S3_ENDPOINT": server.url, "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1"} | {
            "AWS_ACCESS_KEY_ID": buckets.ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": buckets.SECRET_KEY,
            "PATH": real.path_with("aws", "find", "bash"),
            "HOME": str(tmp_path),
        }


@pytest.fixture(params=["staging/job.yaml", "node-staging/deployment.yaml"], ids=["to a storage", "to a node"])
def command(request: pytest.FixtureRequest) -> list[str]:
    """What runs in the pods that copy."""
    spec = yaml.safe_load((real.REPOSITORY / "bases" / request.param).read_bytes())["spec"]["template"]["spec"]
    containers = [*spec.get("initContainers", []), *spec["containers"]]
    words: list[str] = next(container["command"] for container in containers if container["name"] == "staging")
    return words


def stage(command: list[str], target: Path, keys: Mapping[str, str], **values: str) -> subprocess.CompletedProcess[str]:
    asked = {"STAGE_SOURCE": f"s3://{buckets.BUCKET}/data", "STAGE_DIR": str(target), "STAGE_TRIES": "1"}
    environment = {**keys, **asked, "STAGE_TIMEOUT": "60", **values}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)


def test_copies_once_and_again_from_elsewhere(command: list[str], keys: Mapping[str, str], tmp_path: Path) -> None:
    target = tmp_path / "storage/data"
    tiny.write(tmp_path / buckets.BUCKET / "data/a", b"cats")
    done = stage(command, target, keys)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (target / "a").read_text() == "cats"
    assert (target / ".staged").read_text() == f"s3://{buckets.BUCKET}/data\n"
    nowhere = {"S3_ENDPOINT": "http://127.0.0.1:9"}
    assert stage(command, target, keys, **nowhere).returncode == 0
    assert stage(command, target, keys, **nowhere, STAGE_SOURCE=f"s3://{buckets.BUCKET}/other").returncode == 1
    assert not (target / ".staged").exists()


def test_a_prefix_without_files_is_refused_also_where_an_earlier_copy_left_some(
    command: list[str], keys: Mapping[str, str], tmp_path: Path
) -> None:
    tiny.write(tmp_path / buckets.BUCKET / "data/a", b"cats")
    assert stage(command, tmp_path / "storage", keys).returncode == 0
    for target in ("storage", "another"):
        done = stage(command, tmp_path / target, keys, STAGE_SOURCE=f"s3://{buckets.BUCKET}/dat")
        assert (done.returncode, (tmp_path / target / ".staged").exists()) == (1, False)
        assert done.stderr.splitlines()[-1] == f"no files below s3://{buckets.BUCKET}/dat: is its name right?"


@pytest.mark.parametrize("code", [0, 1])
def test_the_data_of_a_run_is_there_or_its_pod_fails(code: int, keys: Mapping[str, str], tmp_path: Path) -> None:
    """By the option dataset-bucket: each pod copies it to a volume of its own."""
    tiny.write(tmp_path / buckets.BUCKET / "data/a", b"cats")
    patch, _ = yaml.safe_load_all((real.REPOSITORY / "overlays/options/dataset-bucket/pods.yaml").read_bytes())
    copying = patch["spec"]["initContainers"][1]
    words = [word.replace("/dataset", str(tmp_path / "volume")) for word in copying["command"]]
    done = stage(words, tmp_path, keys, S3_BUCKET=buckets.BUCKET, S3_PREFIX="dat" if code else "data")
    assert done.returncode == code, done.stderr
    assert (tmp_path / "volume/a").exists() is not bool(code)


@pytest.mark.parametrize("is_whole", [False, True])
def test_data_that_brings_checksums_is_checked(
    is_whole: bool, command: list[str], keys: Mapping[str, str], tmp_path: Path
) -> None:
    tiny.write(tmp_path / buckets.BUCKET / "data/a", b"cats" if is_whole else b"bats")
    tiny.write(tmp_path / buckets.BUCKET / "data/SHA256SUMS", f"{hashlib.sha256(b'cats').hexdigest()}  a\n".encode())
    done = stage(command, tmp_path / "storage", keys)
    assert ((done.returncode == 0), (tmp_path / "storage/.staged").exists()) == (is_whole, is_whole), done.stderr


def test_events_grow_where_tensorboard_has_them_open_and_it_ends_at_once_when_its_pod_does(
    keys: Mapping[str, str], tmp_path: Path
) -> None:
    """Who has a file open reads no further in one that replaced it. A storage out of order is asked again."""
    operations = yaml.safe_load((real.REPOSITORY / "overlays/storage/bucket/deployment.yaml").read_bytes())
    (container,) = [each["value"] for each in operations if each.get("path", "").endswith("/containers/-")]
    *words, script = container["command"]
    script = script.replace("/storage", str(tmp_path / "storage")).replace("sleep 60", "sleep 0.2")
    runs_dir, key = tmp_path / "storage/user/model", "user/model/one/output/events.out.tfevents.1"
    values = {**keys, "BUCKET_PATH": f"s3://{buckets.BUCKET}/user/model", "RUNS_DIR": str(runs_dir)}
    (tmp_path / buckets.BUCKET).rename(tmp_path / "away")
    words = [str(real.program("bash")), *words[1:], script]
    with running(words, env=values, stderr=subprocess.PIPE) as process:
        assert process.stderr
        assert any("trying again in a minute" in line for line in process.stderr)  # reads up to that line
        (tmp_path / "away").rename(tmp_path / buckets.BUCKET)
        tiny.write(tmp_path / buckets.BUCKET / key, b"step 1\n")
        tiny.write(tmp_path / buckets.BUCKET / "user/model/one/output/model-1.data", b"large")
        events = runs_dir / "one/output/events.out.tfevents.1"
        wait_until(lambda: events.exists() and events.stat().st_size == 7, [])
        with events.open("rb") as opened:
            assert opened.read() == b"step 1\n"
            tiny.write(tmp_path / buckets.BUCKET / key, b"step 1\nstep 2\n")
            wait_until(lambda: events.stat().st_size == 14, [])
            assert opened.read() == b"step 2\n"
        assert not (runs_dir / "one/output/model-1.data").exists()
        process.terminate()
        process.communicate()
    assert process.returncode == 0
