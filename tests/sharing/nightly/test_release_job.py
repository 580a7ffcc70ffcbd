"""A release in parts, as the pods of a Job publish it, one of them killed: the bytes of one process."""

import itertools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

import sample
import tiny
from bench import peak
from catalogue.usecases import PACKAGES, shipped
from packyard.sharing.index import access
from packyard.sharing.publishing import fsck
from packyard.sharing.stores import open_store
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust
from sharing.buckets import BUCKET, BucketServer
from sharing.servers import answering, slowly
from tiny import COMMAND, environment, programs_dir

pytestmark = pytest.mark.nightly

KEY = SigningKey.new()
PEM = {"PACKYARD_SIGNING_KEY": KEY.to_pem(None).decode()}
PODS, COUNT = 8, 2000 if sample.WHOLE else 400


def generate(folder: Path, count: int) -> Path:
    """Make a workspace with so many packages."""
    root = tiny.workspace(folder)
    for number in range(count):
        tiny.another(root, f"p-{number:05}")
    shutil.rmtree(root / "packages/p")
    return root


def command(root: Path, channel: str | Path, *words: object) -> list[str]:
    return [*map(str, (*COMMAND, "publish", "--workspace", root, "--version", "1.0", "--to", channel, *words))]


def start(root: Path, channel: str | Path, *words: object) -> subprocess.Popen[str]:
    publishing, rows = command(root, channel, *words), subprocess.DEVNULL
    return subprocess.Popen(publishing, env=environment(**PEM), stdout=rows, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    """Return what a process printed on stderr."""
    _, err = process.communicate(timeout=600)
    assert process.returncode == code, err
    return err


def content(address: str | Path) -> Mapping[str, object]:
    """Return what a channel has, but for its id and number, and for what its index does not name any more."""
    store = open_store(str(address))
    index = access.read(store, Trust.of(KEY.public))
    named = {key: store.get(key) for key in index.files_below()}
    files = {key: store.get(key) for key in store.list("") if not key.startswith("index/")}
    return {**named, **files, "index": (index.listed, index.shards, index.releases)}


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize("where", ["directory", "on_versitygw", "on_azurite", "on_gcs"])
def test_eight_pods_of_which_one_is_killed_and_run_again_give_the_bytes_of_one_process(
    where: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    opened = request.getfixturevalue(where) if where != "directory" else lambda: DirectoryStore(tmp_path / "parts")
    address, root = opened().address, generate(tmp_path / "sources", COUNT)
    alone = peak(*command(root, tmp_path / "one", "--close", "--jobs", 1), env=environment(**PEM), timeout=900)
    pods = [start(root, address, "--shard", f"{number}/{PODS}", "--close", "--jobs", 1) for number in range(PODS)]
    store, victim = open_store(address), pods[3]
    while "1.0/p-00003.tar.gz" not in store.list("1.0/p-00003"):
        victim.send_signal(signal.SIGCONT)
        time.sleep(0.02)
        victim.send_signal(signal.SIGSTOP)  # so it is at work, however long the list takes
    victim.kill()
    victim.communicate()
    assert victim.returncode == -signal.SIGKILL
    for pod in pods:
        if pod is not victim:
            finish(pod)
    assert not access.read(store).release("1.0").closed
    again = command(root, address, "--shard", f"3/{PODS}", "--close", "--jobs", 1)
    pod_needs = peak(*again, env=environment(**PEM), timeout=900)
    assert content(address) == content(tmp_path / "one")
    assert list(fsck.check(store, Trust.of(KEY.public))) == []
    print(f"{where}: {COUNT} packages, {alone:.0f} MB alone, {pod_needs:.0f} MB in a pod")
    assert max(alone, pod_needs) < 120


def job(shards: int, channel: str) -> tuple[dict[str, str], list[str]]:
    """Return the environment and the command of the pods of the catalogue's package ``release-job``."""
    (package,) = [item for item in PACKAGES if item.name == "release-job"]
    directory = shipped(package, package.use_cases[0])
    values = directory.examples | {"SHARDS": str(shards), "CHANNEL": channel, "RELEASE": "1.0"}
    objects = {item["kind"]: item for item in directory.set(values).parse()}
    spec = objects["Job"]["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", shards, shards)
    (container,) = spec["template"]["spec"]["containers"]
    assert [each for each in container["envFrom"] if "secretRef" in each] == [
        {"secretRef": {"name": "release-credentials"}}
    ]
    return objects["ConfigMap"]["data"], [*container["command"], *container["args"]]


def test_the_pods_of_the_catalogues_job_publish_all_packages_with_their_commit(
    tmp_path: Path, versitygw: BucketServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sources are those of another user, as in an image."""
    for variable, value in versitygw.environment.items():
        monkeypatch.setenv(variable, value)
    root, address = generate(tmp_path / "sources", 12), f"s3://{BUCKET}/job"
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "Begin")):
        who = ("-c", "user.name=r", "-c", "user.email=r@example.com")
        subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True).stdout
    if os.geteuid() == 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, 12345, 12345)
    data, command = job(3, address)
    bin_dir = programs_dir(tmp_path / "bin", {})
    own = {"PATH": f"{bin_dir}:{os.environ['PATH']}", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    own |= {"AWS_ENDPOINT_URL": versitygw.url, "XDG_CONFIG_HOME": str(tmp_path / "config")}

    def pod(number: int, **more: str) -> subprocess.Popen[str]:
        env = environment(**{**data, **PEM, **own, "JOB_COMPLETION_INDEX": str(number), **more})
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=root, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True)

    pods = [pod(number) for number in (0, 2)]
    with answering(lambda _: slowly(itertools.repeat(b""))) as silent:
        killed = pod(1, AWS_ENDPOINT_URL=silent.address)  # at work, and before it has uploaded anything
        while not silent.requests:
            assert killed.poll() is None
            time.sleep(0.02)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
    for process in pods:
        finish(process)
    store = open_store(address)
    assert len(access.read(store).entries) == 8
    assert not access.read(store).release("1.0").closed
    finish(pod(1))
    assert len(access.read(store).entries) == 12
    assert access.read(store).release("1.0").closed
    made = provenance.check_beside(store, access.read(store).named("p-00007").get("1.0"), NOBODY)
    assert made
    assert (made.commit, made.dirty) == (commit.strip(), False)
