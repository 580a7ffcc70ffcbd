"""Results that are copied from a pod: the nodes run what is executed in it as processes of this machine, tar too."""

from __future__ import annotations

import errno
import io
import os
import signal
import tarfile
from pathlib import Path
from typing import Any

import pytest

import tiny
from controlplane.api import Api, Object, wait
from packyard.core.errors import ConflictError, PackyardError, UnavailableError
from packyard.core.files import atomic
from packyard.running.runs import results, transfer
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.transfer import Sent
from running import made
from running.nightly.test_reading import settled, started
from running.wanted import config_map
from tiny import packyard

RUN = "train"


def run(output: Path | str, fate: str = "run", **volume: Any) -> list[Object]:
    """Return a run that writes results into a folder of this machine, which a volume holds."""
    volume = volume or {"nfs": {"server": "10.0.0.5", "path": "/exports"}}
    root = str(Path(output).parent) if isinstance(output, Path) else "/out"
    job = made.job(RUN, fate, {"volumeMounts": [{"name": "storage", "mountPath": root}]})
    job["spec"]["template"]["spec"]["volumes"] = [{"name": "storage", **volume}]
    return [config_map("settings", OUTPUT_DIR=str(output)), job]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """What a run has written."""
    folder = tmp_path / "storage" / "output"
    for name, data in {"weights.h5": b"w" * 300_000, "logs/events 1": b"e", "run:1/-x": b"", "a/b/c": b"c"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        os.utime(folder / name, (1_700_000_000, 1_700_000_000))
    os.link(folder / "a/b/c", folder / "a/linked")
    (folder / "latest").symlink_to("a")
    return folder


@pytest.fixture
def privileged(cluster: Api, client: Kubectl) -> Kubectl:
    """A namespace that admits NFS."""
    labels = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "warn")}
    item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": client.namespace, "labels": labels}}
    cluster.merge(item).expect_done()
    pod = made.pod("privileged", "run")
    pod["spec"]["hostNetwork"] = True
    wait(lambda: [said] if (said := cluster.create(pod, client.namespace, dry_run=True).refusal) else [])
    return client


def left(api: Api, namespace: str) -> list[str]:
    return [
        each["metadata"]["name"] for each in api.list("batch/v1", "Job", namespace) if each["metadata"]["name"] != RUN
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_results_are_copied_by_a_pod_of_its_own_that_goes(
    privileged: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...], output: Path, tmp_path: Path
) -> None:
    made.put(privileged, {RUN: run(output)})
    shown = packyard("results", RUN, *flags)
    assert shown.stdout == f"{output} in the pods, 10.0.0.5:/exports/output by NFS\n"
    assert f"packyard results {RUN} --to DIR -n {namespace}" in shown.stderr
    to = tmp_path / "copied"
    done = packyard("results", RUN, "--to", to, *flags)
    assert (done.returncode, "is a link or a device" in done.stderr) == (1, True), done.stderr
    written, there = contents(to), contents(output)
    assert {"weights.h5", "logs/events 1", "run:1/-x"} <= {*written}
    assert all(there[name] == data for name, data in written.items())
    assert left(cluster, namespace) == []


def test_what_cannot_be_copied_is_said_with_what_to_do(
    client: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...], output: Path, tmp_path: Path
) -> None:
    def refused(*objects: Object, timeout: str = "5m") -> str:
        client.run("delete", "configmaps,jobs,pods", "--all", "--wait=false")
        wait(lambda: [each["metadata"]["name"] for each in cluster.list("batch/v1", "Job", namespace)])
        made.put(client, {RUN: objects})
        done = packyard("results", RUN, "--to", tmp_path / "to", "--timeout", timeout, *flags)
        assert (done.returncode, left(cluster, namespace)) == (1, []), done.stderr
        return str(done.stderr)

    assert "aws s3 sync s3://bucket/x DIR" in refused(*run("s3://bucket/x"))
    assert "no OUTPUT_DIR" in refused(made.job(RUN, "run"))
    assert "packyard exec train" in refused(*run(output, "complete", emptyDir={}))
    assert "its pods are refused by the namespace's Pod Security level" in refused(
        *run(output, "complete"), timeout="20s"
    )
    held = run(output, "complete", persistentVolumeClaim={"claimName": "disk"})
    assert "the pod that copies is starting: " in refused(*held, timeout="1s")  # the claim is not there


def test_an_interrupt_leaves_no_pod(
    privileged: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...], output: Path, tmp_path: Path
) -> None:
    # No such fate: neither the run's pod starts, nor the one that copies, which would be refused and gone at once.
    made.put(privileged, {RUN: run(output, "pending")})
    settled(privileged, train="starting")
    with started("results", RUN, "--to", tmp_path / "to", *flags) as process:
        wait(lambda: [] if left(cluster, namespace) else ["no Job yet"])
        process.send_signal(signal.SIGINT)
        process.communicate()
    wait(lambda: left(cluster, namespace))


def sent(*members: tuple[str, bytes, str]) -> bytes:
    """Return a tar with members: a name, its bytes or the target of a link, and the type."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data, kind in members:
            item = tarfile.TarInfo(name)
            item.type, item.size = kind.encode(), len(data) if kind == "0" else 0
            item.linkname = "" if kind == "0" else data.decode()
            archive.addfile(item, io.BytesIO(data))
    return file.getvalue()


def received(folder: Path, printed: bytes, *, code: int = 0, said: str = "") -> list[Sent]:
    """Copy from a pod whose tar prints this into the folder ``to``."""
    (folder / "printed").write_bytes(printed)
    program = folder / "kubectl"
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\ncat {folder}/printed && exit {code}\n")
    program.chmod(0o755)
    kubectl = Kubectl(program=str(program), flags=(), context="test", namespace="test")
    return list(transfer.copy(kubectl, "pod", "results", "/out", folder / "to"))


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (("../x", b"1", "0"), ""),
        (("/etc/x", b"1", "0"), ""),
        (("./.git/hooks/x", b"1", "0"), "version control"),
        (("./a\\b", b"1", "0"), "character"),
        (("./a", b"/etc/passwd", "2"), ""),
        (("./a", b"./ok", "1"), ""),
        (("./a", b"", "3"), ""),
    ],
)
def test_nothing_is_written_but_files_by_names_that_stay_inside(
    member: tuple[str, bytes, str], reason: str, tmp_path: Path
) -> None:
    left, copied = received(tmp_path, sent(member, ("./ok:1", b"1", "0")))
    assert contents(tmp_path / "to") == {"ok:1": b"1"}
    assert copied == Sent("ok:1", 1, is_written=True)
    assert left.fault
    assert reason in left.fault


def test_what_is_here_stays_and_what_is_missing_comes(tmp_path: Path) -> None:
    printed = sent(("./a", b"1", "0"), ("./d", b"", "5"), ("./d/b", b"2" * 3000, "0"), ("./c", b"that", "0"))
    tiny.write(tmp_path / "to/a", "1")
    tiny.write(tmp_path / "to/c", "mine")
    same, written, differs = received(tmp_path, printed)
    assert contents(tmp_path / "to") == {"a": b"1", "c": b"mine", "d/b": b"2" * 3000}
    assert (same, written) == (Sent("a"), Sent("d/b", 3000, is_written=True))
    assert (differs.name, "differs from what is here, which stays" in differs.fault) == ("c", True)


def test_no_link_that_is_here_is_followed_and_no_folder_written_over(tmp_path: Path) -> None:
    (tmp_path / "to/folder").mkdir(parents=True)
    (tmp_path / "to/linked").symlink_to(tmp_path)
    copied = received(tmp_path, sent(("./linked/x", b"1", "0"), ("./linked", b"1", "0"), ("./folder", b"1", "0")))
    assert ([bool(each.fault) for each in copied], (tmp_path / "x").exists()) == ([True] * 3, False)
    (tmp_path / "to").rename(tmp_path / "other")
    (tmp_path / "to").symlink_to(tmp_path / "other")
    with pytest.raises(ConflictError, match="is no folder"):
        received(tmp_path, sent())


def test_a_file_that_cannot_be_written_is_told_and_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic, "write_all", full)
    with pytest.raises(UnavailableError, match=r"cannot be written: No space left on device \(what is whole stays"):
        received(tmp_path, sent(("./a", b"1", "0")))
    assert contents(tmp_path / "to") == {}


@pytest.mark.parametrize(
    ("size", "code", "said", "problem"),
    [
        (2000, 1, "error: connection reset by peer", "came: error: connection reset by peer"),
        (2000, 0, "", "came: unexpected end of data"),
        (0, 127, "sh: tar: not found", "no whole tar of /out came: sh: tar: not found"),
    ],
)
def test_a_tar_that_is_not_whole_says_why(size: int, code: int, said: str, problem: str, tmp_path: Path) -> None:
    whole = sent(("./a", b"1", "0"), ("./b", b"2" * 3000, "0"))
    with pytest.raises(PackyardError, match=problem):
        received(tmp_path, whole[:size], code=code, said=said)
    assert contents(tmp_path / "to") == ({"a": b"1"} if size else {})


def test_what_tar_complains_of_is_told(tmp_path: Path) -> None:
    said = "tar: a: Permission denied"
    assert received(tmp_path, sent(), code=2, said=said) == [Sent("/out", fault=said)]


def test_a_pod_that_reads_is_confined_and_is_the_user_of_the_run() -> None:
    objects = run("/out/x", nfs={"server": "10.0.0.5", "path": "/exports"})
    (place,) = results.places(objects)
    job = results.reader(place, RUN, "word")
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert (spec["automountServiceAccountToken"], spec["securityContext"]["runAsUser"]) == (False, 1000)
    assert container["volumeMounts"][0]["readOnly"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert job["spec"]["ttlSecondsAfterFinished"] == 600
