"""What copies ends with 0 only where all that it promised is on the storage; else it says why, and the next is whole.

| what | killed | starved | refused | lied to, or its volume was dropped |
| --- | --- | --- | --- | --- |
| the six that copy | here | here | here | here; a list without files: test_buckets, test_model_staging |
| stage_model.py finish | renames or not | copies nothing | asks nobody | test_model_staging: sums, shards |
| check_model.py | copies nothing | copies nothing | test_model_check: may not read | test_model_check: waits |
| train.py (test_finetune) | interrupted, lost a pod | full storage | buckets | weights not whole |
| runs of several pods | test_mpi, test_sets | test_programs: hidden failure, no model to publish | | |
"""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

import real
from sharing import buckets, registries
from workload.hub import Hub
from workload.machine import PATIENCE, running
from workload.nightly.test_model_staging import finish, variables, write

pytestmark = pytest.mark.nightly("workload")

#: What a source is told by, and what makes it refuse and lie, or no more.
Source = tuple[dict[str, str], Callable[[bool], object], Callable[[bool], object]]
_NAME = "model.safetensors"
_FILES = {"config.json": b"{}", _NAME: os.urandom(600_000)}
_SPOILED = bytes(600_000)


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
        write(objects, {**_FILES, "SHA256SUMS": sums.encode()})
        told = {"RCLONE_S3_ENDPOINT": server.url, "S3_ENDPOINT": server.url, "S3_BUCKET": buckets.BUCKET}
        told |= {"STAGE_SOURCE": source, "MODEL_SOURCE": source, "S3_PREFIX": "llm", **server.environment}
        yield (
            told,
            lambda on: told.update(AWS_SECRET_ACCESS_KEY="wrong" if on else buckets.SECRET_KEY),
            lambda on: write(objects, {_NAME: _SPOILED if on else _FILES[_NAME]}),
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
        write(folder / "pushed", _FILES)
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
    "bases/model-staging/job.yaml": (hub, "more bytes are needed", "HF_TOKEN that may read it", _CHANGED),
    "overlays/options/from-bucket/job.yaml": (bucket, "more KiB are needed", _REFUSED, _CHANGED),
    "overlays/options/from-registry/job.yaml": (
        registry,
        "more KiB are needed",
        "failed to resolve digest",
        "mismatch",
    ),
    "bases/staging/job.yaml": _OF_AWS,
    "bases/node-staging/deployment.yaml": _OF_AWS,
    "overlays/options/dataset-bucket/pods.yaml": _OF_AWS,
}


def commands(value: Any) -> Iterator[list[str]]:
    if isinstance(value, dict) and "command" in value:
        yield value["command"]
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from commands(each)


@pytest.mark.parametrize("fate", ["killed", "starved", "refused", "lied to"])
@pytest.mark.parametrize("who", _WHO, ids=lambda path: path.split("/")[-2])
def test_a_copy_that_is_not_whole_fails_with_its_reason(who: str, fate: str, tmp_path: Path) -> None:
    file, target, scratch = real.REPOSITORY / who, tmp_path / "storage/models/llm", tmp_path / "scratch"
    kind, *reasons = _WHO[who]
    words = next(commands(list(yaml.safe_load_all(file.read_text()))))
    for place, here in {"/tmp": scratch, "/program": file.parent, "/dataset": target, "sleep 10": "sleep 0"}.items():
        words = [word.replace(place, str(here)) for word in words]
    words[0] = sys.executable if words[0] == "python3" else words[0]
    target.parent.mkdir(parents=True)
    scratch.mkdir()
    given = {"PATH": real.path_with("aws", "awk", "find", "mount", "oras", "rclone"), "HOME": str(scratch)}
    given |= {"STAGE_TRIES": "1", "STAGE_TIMEOUT": "60", "AWS_MAX_ATTEMPTS": "1", "AWS_REGION": "us-east-1"}
    for config_map in (real.REPOSITORY / "bases/model-staging/config-map.yaml", file.with_name("config-map.yaml")):
        given = {**given, **(variables(config_map) if config_map.is_file() else {})}
    given |= {"STAGE_DIR": str(target), "HF_HOME": str(scratch), "HF_HUB_DISABLE_XET": "1"}

    def run(told: dict[str, str], *around: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*around, *words], env={**given, **told}, capture_output=True, text=True, timeout=PATIENCE
        )
        is_model = not done.returncode and any(name in who for name in ("model-staging", "from-"))
        return finish(told["MODEL_SOURCE"], target) if is_model else done

    with kind(tmp_path) as (told, refuse, lie):
        if fate == "killed":
            with socket.create_server(("127.0.0.1", 0)) as silent:
                address = f"http://127.0.0.1:{silent.getsockname()[1]}"
                asking = {**given, **told, **{name: address for name in told if name.endswith("ENDPOINT")}}
                if kind is registry:
                    asking["MODEL_SOURCE"] = f"oci://{address.removeprefix('http://')}/llm:1"
                group = running(words, env=asking, stderr=subprocess.DEVNULL, start_new_session=True)
                with group as process, silent.accept()[0]:
                    process.terminate()
                    assert process.wait(PATIENCE) in (-15, 143)
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)  # as the first process of a container ends all others
        elif fate == "starved":
            mount = 'mount -t tmpfs -o size=300k tmpfs "$0" && exec "$@"'
            done = run(told, str(real.program("unshare")), "--mount", "sh", "-c", mount, str(target.parent))
            assert (done.returncode, reasons[0] in done.stdout + done.stderr) == (1, True), done.stderr
        else:
            change, reason = (refuse, reasons[1]) if fate == "refused" else (lie, reasons[2])
            change(True)
            done = run(told)
            assert (done.returncode, reason in done.stdout + done.stderr) == (1, True), done.stdout + done.stderr
            change(False)
        assert not (target / ".staged").exists()
        done = run(told)
        assert done.returncode == 0, done.stderr
        assert {name: (target / name).read_bytes() for name in _FILES} == _FILES
