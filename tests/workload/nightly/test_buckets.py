"""What copies from buckets, with the real aws and an S3 server: data for runs, and their events for TensorBoard."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

import real
import tiny
from sharing import buckets
from workload import copying
from workload.machine import running, wait_until

pytestmark = pytest.mark.nightly("workload")


@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """What clients of a server are told whose buckets are folders of the test."""
    with buckets.versitygw(real.pinned_program("versitygw"), tmp_path) as server:
        yield {"S3_ENDPOINT": server.url, **server.environment}


@pytest.fixture(params=[copying.STAGING, copying.NODE_STAGING], ids=["to a storage", "to a node"])
def file(request: pytest.FixtureRequest) -> str:
    """The manifest of what copies."""
    return str(request.param)


def stage(file: str, target: Path, keys: Mapping[str, str], **values: str) -> copying.Done:
    return copying.copy(file, target, {"STAGE_SOURCE": f"s3://{buckets.BUCKET}/data", **keys, **values})


def test_copies_once_also_what_changed_and_kept_its_size(file: str, keys: Mapping[str, str], tmp_path: Path) -> None:
    target = tmp_path / "storage/data"
    tiny.write(target / "a", b"dogs")
    subprocess.run(["touch", "-d", "@0", target / "a"], check=True)
    tiny.write(tmp_path / buckets.BUCKET / "data/a", b"cats")
    tiny.write(target / "of/killed.Ab12cD34", b"half")
    done = stage(file, target, keys)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name: path.read_text() for path in target.rglob("[ak]*")} == {"a": "cats"}
    assert stage(file, target, keys, S3_ENDPOINT="http://127.0.0.1:9").returncode == 0
    done = stage(file, target, keys, STAGE_SOURCE="s3://other")
    assert (done.returncode, f"holds s3://{buckets.BUCKET}/data\ndelete it" in done.stdout + done.stderr) == (1, True)


def test_a_prefix_without_files_is_refused_also_where_an_earlier_copy_left_some(
    file: str, keys: Mapping[str, str], tmp_path: Path
) -> None:
    tiny.write(tmp_path / buckets.BUCKET / "data/a", b"cats")
    tiny.write(tmp_path / "a/storage/a", b"cats")
    for target in ("storage", "another"):
        done = stage(file, tmp_path / "a" / target, keys, STAGE_SOURCE=f"s3://{buckets.BUCKET}/dat")
        assert (done.returncode, (tmp_path / "a" / target / ".staged").exists()) == (1, False)
        assert done.stderr.splitlines()[-1] == f"no files below s3://{buckets.BUCKET}/dat: is its name right?"


def test_a_pod_that_finds_no_data_of_a_run_fails(keys: Mapping[str, str], tmp_path: Path) -> None:
    told = {"S3_BUCKET": buckets.BUCKET, "S3_PREFIX": "dat"}
    tiny.write(tmp_path / buckets.BUCKET / "data/a", b"cats")
    done = stage(copying.DATASET, tmp_path / "volume/data", keys, **told)
    assert (done.returncode, "no files below s3://models/dat" in done.stderr) == (1, True)


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
    values |= {"PATH": real.path_with("aws", "find", "bash"), "AWS_DEFAULT_REGION": "us-east-1", "HOME": str(tmp_path)}
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
