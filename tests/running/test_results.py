"""Results that are copied from a pod: the nodes run what is executed in it as processes of this machine, tar too."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

import real
from commandline import packyard
from controlplane import webhooks
from controlplane.api import Api, Object, await_quota, wait
from packyard.core.errors import ConflictError, IntegrityError, PackyardError
from packyard.running.results import listing, received, transfer
from packyard.running.results.listing import CutError, Listed
from packyard.running.results.received import Folder, HostileError
from packyard.running.runs.kubectl import Kubectl
from running import made
from running.nightly.test_reading import settled, started
from running.wanted import config_map

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
def flags(cluster: Api, namespace: str) -> tuple[str, ...]:
    return (f"--namespace={namespace}", f"--kubeconfig={cluster.folder / 'kubeconfig'}")


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


def test_results_are_copied_by_a_pod_that_goes_and_again_only_what_is_missing(
    privileged: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...], output: Path, tmp_path: Path
) -> None:
    made.put(privileged, {RUN: run(output)})
    settled(privileged, train="running")
    shown = packyard("results", RUN, *flags)
    assert shown.stdout == f"{output} in the pods, 10.0.0.5:/exports/output by NFS\n"
    assert f"packyard results {RUN} --to DIR -n {namespace}" in shown.stderr
    to = tmp_path / "copied"
    done = packyard("results", RUN, "--to", to, *flags)
    assert done.returncode == 0, done.stderr
    assert "1 link" in done.stderr
    expected = {name: data for name, data in contents(output).items() if not name.startswith("latest")}
    assert contents(to) == expected
    assert (to / "weights.h5").stat().st_mtime == 1_700_000_000
    assert left(cluster, namespace) == []

    (to / "weights.h5").write_bytes(b"torn")
    os.utime(to / "weights.h5", (1, 1))
    (to / "a/b/c").write_bytes(b"mine")
    again = packyard("results", RUN, "--to", to, "-o", "json", *flags)
    assert again.stdout, again.stderr
    (row,) = json.loads(again.stdout)
    assert (again.returncode, row["files"], row["copied"], row["bytes"]) == (1, 5, 1, 300_000)
    assert [each["file"] for each in row["left"]] == ["a/b/c"]
    assert contents(to) == {**expected, "a/b/c": b"mine"}


def test_a_pod_that_copies_is_confined_and_on_the_node_that_has_its_claim(
    client: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...], output: Path, tmp_path: Path
) -> None:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "volumeName": f"v-{namespace}",
    }
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "disk"}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"v-{namespace}"}}
    source = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "nfs": {"server": "a", "path": "/"}}
    cluster.create({**volume, "spec": {**source, "storageClassName": ""}}).expect_done()
    # Its controller looks again for one that it does not know of yet, but after 15 seconds.
    wait(lambda: [] if cluster.read(volume).body["status"].get("phase") == "Available" else ["not available"])
    cluster.create({**claim, "spec": {**spec, "storageClassName": ""}}, namespace).expect_done()
    wait(lambda: [] if cluster.read(claim, namespace).body["status"].get("phase") == "Bound" else ["not bound"])
    made.put(client, {RUN: run(output, persistentVolumeClaim={"claimName": "disk"})})
    settled(client, train="running")
    made_of: dict[str, Object] = {}  # by their names; the Job that copies goes with that

    def note(request: Object) -> str:
        made_of[request["object"]["metadata"]["name"]] = request["object"]["spec"]["template"]["spec"]
        return ""

    with webhooks.asked(cluster, namespace, ["jobs"], note):
        done = packyard("results", RUN, "--to", tmp_path / "copied", *flags)
    assert done.returncode == 0, done.stderr
    (pod,) = (made_of[name] for name in {*made_of} - {RUN})
    assert pod["automountServiceAccountToken"] is False
    assert pod["containers"][0]["volumeMounts"] == [
        {"name": "storage", "mountPath": str(output.parent), "readOnly": True}
    ]
    assert pod["affinity"]["nodeAffinity"]  # the server admitted it at the level restricted
    assert left(cluster, namespace) == []
    cluster.delete(volume).expect_done()


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
    assert "claim disk is not there any more" in refused(*run(output, persistentVolumeClaim={"claimName": "disk"}))
    assert "no pod of train runs" in refused(*run(output, "complete", emptyDir={}))
    assert "its pods are refused by the namespace's Pod Security level" in refused(*run(output))  # NFS, inline
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none"}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "disk"}, "spec": spec}
    cluster.create(claim, namespace).expect_done()
    held = run(output, persistentVolumeClaim={"claimName": "disk"})
    assert "has not started: " in refused(*held, timeout="1s")  # the claim has no volume
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}}
    cluster.create(quota, namespace).expect_done()
    await_quota(cluster, "none", namespace)
    assert "beyond quota none" in refused(*held)


def test_results_in_a_pod_are_copied_from_it_while_it_runs(
    client: Kubectl, flags: tuple[str, ...], output: Path, tmp_path: Path
) -> None:
    made.put(client, {RUN: run(output, emptyDir={})})
    settled(client, train="running")
    done = packyard("results", RUN, "--to", tmp_path / "to", *flags)
    assert (done.returncode, "copying from pod train-" in done.stderr) == (0, True), done.stderr
    assert (tmp_path / "to/a/b/c").read_bytes() == b"c"
    shutil.rmtree(output)
    done = packyard("results", RUN, "--to", tmp_path / "to", *flags)
    assert (done.returncode, "the run has written no results yet" in done.stderr) == (1, True)


def test_an_interrupt_leaves_no_pod(
    privileged: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...], output: Path, tmp_path: Path
) -> None:
    # No such fate: neither the run's pod starts, nor the one that copies, which would be refused and gone at once.
    made.put(privileged, {RUN: run(output, "pending")})
    settled(privileged, train="starting")
    with started("results", RUN, "--to", tmp_path / "to", "--image", "x/y:1", *flags) as process:
        wait(lambda: [] if left(cluster, namespace) else ["no Job yet"])
        process.send_signal(signal.SIGINT)
        process.communicate()
    wait(lambda: left(cluster, namespace))


def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "to", lambda _: None)


def sent(*members: tuple[str, bytes, str]) -> io.BytesIO:
    """Return a tar with members: a name, its bytes or the target of a link, and the type."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data, kind in members:
            item = tarfile.TarInfo(name)
            item.type, item.size = kind.encode(), len(data) if kind == "0" else 0
            item.linkname = "" if kind == "0" else data.decode()
            archive.addfile(item, io.BytesIO(data))
    return io.BytesIO(file.getvalue())


@pytest.mark.parametrize(
    "member",
    [
        ("../x", b"1", "0"),
        ("/etc/x", b"1", "0"),
        ("./other", b"1", "0"),
        ("./a", b"/etc/passwd", "2"),
        ("./a", b"", "5"),
        ("./a", b"", "3"),
    ],
)
def test_refuses_what_was_not_asked_for(member: tuple[str, bytes, str], tmp_path: Path) -> None:
    with pytest.raises(HostileError):
        folder(tmp_path).take(sent(member), {"a": Listed("a", 1, 0)}, lambda _: None)
    assert contents(tmp_path) == {}


def test_takes_each_name_once_and_nothing_of_a_file_that_is_cut(tmp_path: Path) -> None:
    wanted = {name: Listed(name, 1, 0) for name in ("a", "b")}
    with pytest.raises(HostileError):
        folder(tmp_path).take(sent(("./a", b"1", "0"), ("./a", b"2", "0")), wanted, lambda _: None)
    assert contents(tmp_path / "to") == {"a": b"1"}
    with pytest.raises(IntegrityError):
        folder(tmp_path).take(io.BytesIO(sent(("./b", b"2" * 2000, "0")).getvalue()[:1500]), wanted, lambda _: None)
    assert contents(tmp_path / "to") == {"a": b"1"}


def test_follows_no_link_that_is_here_and_writes_over_no_folder(tmp_path: Path) -> None:
    (tmp_path / "to").mkdir()
    (tmp_path / "to/linked").symlink_to(tmp_path)
    (tmp_path / "to/folder").mkdir()
    for name in ("linked/x", "linked", "folder"):
        with pytest.raises(ConflictError):
            folder(tmp_path).write(Listed(name, 1, 0), [b"1"], 1)
    with pytest.raises(ConflictError):
        Folder(tmp_path / "to/linked", lambda _: None)


def test_refuses_more_than_the_disk_has_room_for(tmp_path: Path) -> None:
    with pytest.raises(PackyardError, match="are free"):
        folder(tmp_path).check_room([Listed("a", 10**17, 0)])
    with pytest.raises(PackyardError, match="has 1" + "0" * 17 + " bytes"):
        folder(tmp_path).write(Listed("a", 1, 0), [], 10**17)


def test_names_that_are_no_names_of_files_here_are_told_and_not_copied() -> None:
    names = ["ok", "run:1", "../up", ".git/hooks/x", "a\\b", "Case", "case", "x/../y", "\x1b[2J"]
    found = listing.parse(b"".join(b"1 2 ./%s\n" % name.encode() for name in names) + b"other\nother\nunread\nend\n")
    assert [each.path for each in found.files] == ["Case", "ok", "run:1"]
    assert (len(found.refused), found.others, found.is_partial) == (6, 2, True)
    for line in (b"1 2 x\n", b"-1 2 ./x\n", b"1 2\n", b"9" * 40 + b" 2 ./x\n"):
        with pytest.raises(IntegrityError):
            listing.parse(line)


@pytest.mark.parametrize("shell", ["sh", "busybox"])
def test_the_shell_of_small_images_lists_and_sends_the_same(shell: str, output: Path, tmp_path: Path) -> None:

    if shell == "busybox":
        applets = tmp_path / "applets"
        applets.mkdir()
        for name in ("sh", "find", "stat", "tar"):
            (applets / name).symlink_to(real.program("busybox"))
        path = str(applets)
    else:
        path = real.path_with("find", "tar")
    words = [shutil.which("sh", path=path) or "sh"]
    script = listing.SCRIPT
    done = subprocess.run(
        [*words, "-c", script, "sh", str(output)], capture_output=True, env={"PATH": path}, check=True
    )
    files = listing.parse(done.stdout).files
    assert {each.path for each in files} == {"weights.h5", "logs/events 1", "run:1/-x", "a/b/c", "a/linked"}
    command = [*words, "-c", transfer.SEND, "sh", str(output)]
    done = subprocess.run(command, input=received.names(files), capture_output=True, env={"PATH": path}, check=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        assert {each.name for each in archive} == {f"./{each.path}" for each in files}


def pod(tmp_path: Path, *answers: tuple[bytes, int]) -> transfer.Source:
    """Return a pod whose kubectl prints an answer and ends with a code, one for each call; the last again and again."""
    for number, (data, code) in enumerate(answers):
        (tmp_path / f"answer{number}").write_bytes(data)
        (tmp_path / f"code{number}").write_text(str(code))
    program = tmp_path / "kubectl"
    program.write_text(
        f"""#!/bin/sh
cd {tmp_path} && echo >>calls && number=$(($(wc -l <calls) - 1))
[ -e answer$number ] || number={len(answers) - 1}
echo 'E1127 03:47:39.229190    3910 v2.go:167] "Unhandled Error"' >&2
[ "$(cat code$number)" = 0 ] || echo 'error: connection reset by peer' >&2
cat answer$number && exit $(cat code$number)
"""
    )
    program.chmod(0o755)
    kubectl = Kubectl(program=str(program), flags=(), context="test", namespace="test")
    return transfer.Source(kubectl=kubectl, pod="pod", container="results", directory="/out", pauses=(0, 0))


FILES = [Listed("a", 1, 0), Listed("b", 3000, 0)]
WHOLE = sent(("./a", b"1", "0"), ("./b", b"2" * 3000, "0")).getvalue()
REST = sent(("./b", b"2" * 3000, "0")).getvalue()


@pytest.mark.parametrize("code", [1, 0])
def test_a_lost_connection_is_taken_up_again_also_before_the_first_file(code: int, tmp_path: Path) -> None:
    source = pod(tmp_path, (b"", code), (WHOLE[:2000], code), (REST, 0))
    copied: list[Listed] = []
    assert source.copy(FILES, folder(tmp_path), copied.append) == ()
    assert (copied, contents(tmp_path / "to")) == (FILES, {"a": b"1", "b": b"2" * 3000})


def test_a_connection_that_stays_lost_is_told_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(CutError, match="lost: error: connection reset by peer"):
        pod(tmp_path, (WHOLE[:2000], 1), (REST[:2000], 1)).copy(FILES, folder(tmp_path), lambda _: None)
    assert contents(tmp_path / "to") == {"a": b"1"}
    assert len((tmp_path / "calls").read_text()) == 3


def test_a_tar_that_ends_too_early_and_well_was_cut(tmp_path: Path) -> None:
    with pytest.raises(CutError, match="lost: the pod sent no end"):
        pod(tmp_path, (REST[:2000], 0)).copy(FILES[1:], folder(tmp_path), lambda _: None)


def test_a_list_that_was_cut_is_read_again(tmp_path: Path) -> None:
    assert pod(tmp_path, (b"1 2 ./x\n", 0), (b"1 2 ./x\nend\n", 0)).list().files == [Listed("x", 1, 2)]
