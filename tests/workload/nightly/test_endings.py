"""What copies ends with 0 only where all that it promised is on the storage; else it says why, and the next is whole.

| what | killed | starved | refused | lied to, or its volume was dropped |
| --- | --- | --- | --- | --- |
| the six that copy | here | here | here | here; a list without files: test_buckets, test_model_staging |
| stage_model.py finish | renames or not | copies nothing | asks nobody | test_model_staging: sums, shards |
| check_model.py | copies nothing | copies nothing | test_model_check: may not read | test_model_check: waits |
| train.py (test_finetune) | interrupted, lost a pod | full storage | buckets | weights not whole |
| runs of several pods | test_mpi, test_sets | test_programs: hidden failure, no model to publish | | |
"""

import hashlib
import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import real
import tiny
from sharing import buckets, registries
from workload import catalogue, controllers, copying
from workload.hub import Hub
from workload.machine import PATIENCE, NewMachine, running

pytestmark = pytest.mark.nightly("workload")

#: What a source is told by, and what makes it refuse and lie, or no more.
Source = tuple[dict[str, str], Callable[[bool], object], Callable[[bool], object]]
_NAME = "model.safetensors"
_FILES = {"config.json": b"{}", _NAME: os.urandom(600_000)}
_SPOILED = bytes(600_000)
_HOST = re.compile(r"(localhost|127\.0\.0\.1):\d+")


@contextmanager
def hub(_: Path) -> Iterator[Source]:
    with real.answering(Hub("team/llm", dict(_FILES))) as server:
        yield (
            {"HF_ENDPOINT": server.address, "MODEL_SOURCE": "hf://team/llm"},
            lambda on: setattr(server, "token", "secret" if on else ""),
            lambda on: server.sent.update({_NAME: _SPOILED if on else _FILES[_NAME]}),
        )


@contextmanager
def bucket(folder: Path) -> Iterator[Source]:
    objects, source = folder / buckets.BUCKET / "llm", f"s3://{buckets.BUCKET}/llm"
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in _FILES.items())
    with buckets.versitygw(real.pinned_program("versitygw"), folder) as server:
        tiny.write_all(objects, {**_FILES, "SHA256SUMS": sums.encode()})
        told = {"RCLONE_S3_ENDPOINT": server.url, "S3_ENDPOINT": server.url, "S3_BUCKET": buckets.BUCKET}
        told |= {"STAGE_SOURCE": source, "MODEL_SOURCE": source, "S3_PREFIX": "llm", **server.environment}
        yield (
            told,
            lambda on: told.update(AWS_SECRET_ACCESS_KEY="wrong" if on else buckets.SECRET_KEY),
            lambda on: tiny.write(objects / _NAME, _SPOILED if on else _FILES[_NAME]),
        )


@contextmanager
def registry(folder: Path) -> Iterator[Source]:
    program, refusing = real.pinned_program("registry"), "auth: {htpasswd: {realm: r, path: /dev/null}}\n"
    (folder / "other").mkdir()
    with (
        registries.distribution(program, folder) as host,
        registries.distribution(program, folder / "other", more=refusing) as other,
    ):
        address, refused = (f"oci://localhost:{each.rpartition(':')[2]}/llm:1" for each in (host, other))
        tiny.write_all(folder / "pushed", _FILES)
        words = [str(real.pinned_program("oras")), "push", address.removeprefix("oci://"), *_FILES]
        subprocess.run(words, cwd=folder / "pushed", check=True, stdout=subprocess.PIPE)
        (blob,) = [each for each in folder.rglob("blobs/**/data") if each.stat().st_size == len(_SPOILED)]
        told = {"MODEL_SOURCE": address}
        yield (
            told,
            lambda on: told.update(MODEL_SOURCE=refused if on else address),
            lambda on: blob.write_bytes(_SPOILED if on else _FILES[_NAME]),
        )


_REFUSED, _CHANGED = "SignatureDoesNotMatch", "it was changed on its way"
_OF_AWS = (bucket, "No space left on device", _REFUSED, f"{_NAME}: FAILED")
#: The source of each, and what it says of a storage that is too small, of keys that are refused, and of spoiled bytes.
_WHO: dict[str, tuple[Any, str, str, str]] = {
    copying.HUB: (hub, "more bytes are needed", "HF_TOKEN that may read it", _CHANGED),
    copying.BUCKET: (bucket, "more KiB are needed", _REFUSED, _CHANGED),
    copying.REGISTRY: (registry, "more KiB are needed", "credential", "mismatch"),
    copying.STAGING: _OF_AWS,
    copying.NODE_STAGING: _OF_AWS,
    copying.DATASET: _OF_AWS,
}


@pytest.mark.parametrize("fate", ["killed", "starved", "refused", "lied to"])
@pytest.mark.parametrize("who", _WHO, ids=lambda path: path.split("/")[-2])
def test_a_copy_that_is_not_whole_fails_with_its_reason(who: str, fate: str, tmp_path: Path) -> None:
    target = tmp_path / "storage/models/llm"
    target.parent.mkdir(parents=True)
    kind, *reasons = _WHO[who]
    with kind(tmp_path) as (told, refuse, lie):
        if fate == "killed":
            with socket.create_server(("127.0.0.1", 0)) as silent:
                here = f"127.0.0.1:{silent.getsockname()[1]}"
                asked = {name: _HOST.sub(here, value) for name, value in told.items()}
                words, environment = copying.described(who, target, asked)
                group = running(words, env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
                with group as process, silent.accept()[0]:
                    process.terminate()
                    assert process.wait(PATIENCE) in (-15, 143)
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)  # as the first process of a container ends all others
        elif fate == "starved":
            mount = 'mount -t tmpfs -o size=300k tmpfs "$0" && exec "$@"'
            unshare = str(real.program("unshare"))
            done = copying.copy(who, target, told, unshare, "--mount", "sh", "-c", mount, str(target.parent))
            assert (done.returncode, reasons[0] in done.stdout + done.stderr) == (1, True), done.stderr
        else:
            change, reason = (refuse, reasons[1]) if fate == "refused" else (lie, reasons[2])
            change(True)
            done = copying.copy(who, target, told)
            assert (done.returncode, reason in done.stdout + done.stderr) == (1, True), done.stdout + done.stderr
            change(False)
        assert not (target / ".staged").exists()
        done = copying.copy(who, target, told)
        assert done.returncode == 0, done.stderr
        assert {name: (target / name).read_bytes() for name in _FILES} == _FILES


@pytest.mark.parametrize("path", ["llm-finetune/single-node", "mask-rcnn-fp32-training-k8s/staging"])
def test_a_pod_whose_volume_the_server_dropped_fails(path: str, new_machine: NewMachine) -> None:
    objects = catalogue.set_objects(*catalogue.USE_CASES[f"{path}/user-allocated-pvc"])
    ((pod,),) = controllers.pods_of(objects)[1]
    for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
        container["volumeMounts"] = [each for each in container["volumeMounts"] if each["name"] != "storage"]
    try:
        started = new_machine(objects).start(pod)
        code, log = started.wait(), started.log
    except AssertionError as error:  # of an init container
        code, log = 1, str(error)
    assert (code, "Read-only file system" in log) == (1, True), log
