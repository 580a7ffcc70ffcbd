"""What a container is to find, as its variables and its mounts say, and how its pod looks for that."""

import os
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import real
from packyard.running import probe
from packyard.running.probe import Check
from packyard.running.runs.status import RunStatus
from packyard.running.runs.workloads import PodStatus
from running.patients import deployed, pod, rendered
from tiny import programs_dir

#: How shells call a folder that is a file.
_SAME = dict.fromkeys(("directory nonexistent", "nonexistent directory"), "not a directory")
VOLUMES = [{"name": "data", "nfs": {}}, {"name": "tmp", "emptyDir": {}}, {"name": "claim", "persistentVolumeClaim": {}}]


def test_folders_follow_from_variables_and_mounts() -> None:
    data = {"DATA": "/data/set", "RESULTS": "/data/out/x", "SCRATCH": "/tmp/x", "NEAR": "/database", "N": 1}
    variables = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "run"}, "data": data}
    mounts = [
        {"name": "data", "mountPath": "/data/", "readOnly": True},
        {"name": "claim", "mountPath": "/data/out"},
        {"name": "claim", "mountPath": "/other"},
        {"name": "tmp", "mountPath": "/tmp"},
    ]
    key = {"configMapKeyRef": {"name": "run", "key": "DATA"}}
    container = {
        "envFrom": [{"configMapRef": {"name": "run"}}, {"secretRef": {"name": "x"}}],
        "env": [{"name": "BELOW", "value": "$(DATA)/$$(a)"}, {"name": "SAME", "valueFrom": key}, {"name": "FIELD"}],
        "volumeMounts": mounts,
    }
    expected = ["read $(DATA)", "write $(RESULTS)", "read $(BELOW)", "read $(SAME)"]
    checks = probe.find(container, VOLUMES, probe.values_of(container, [variables]))
    assert [f"{check.kind} {check.word}" for check in checks] == expected


def test_a_probe_stands_alone_and_nothing_selects_it() -> None:
    """What the run brings is not there yet: variables are written out, its volumes empty, its account left out."""
    spec = pod(
        main_envFrom=[{"configMapRef": {"name": "run"}}, {"secretRef": {"name": "there"}}],
        main_env=[{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "own", "key": "a"}}}],
        serviceAccountName="own",
        nodeSelector={"pool": "a"},
        volumes=[
            {"name": "programs", "configMap": {"name": "run"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "new", "persistentVolumeClaim": {"claimName": "own"}},
            {"name": "fast", "ephemeral": {}},
        ],
    )
    kinds = ("ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim")
    names = dict.fromkeys(kinds, "own") | {"ConfigMap": "run"}
    brought = [{"apiVersion": "v1", "kind": kind, "metadata": {"name": names[kind]}} for kind in kinds]
    brought[0]["data"] = {"EPOCHS": "3"}
    run = [deployed("run", spec), deployed("other", spec), *brought]
    (job,) = probe.make(rendered(run), "abcde", seconds=60).jobs
    assert job["kind"] == "Job"
    template = job["spec"]["template"]
    assert set(template["metadata"]["labels"]) == {"app.kubernetes.io/managed-by", "packyard/purpose", "packyard/run"}
    made = template["spec"]
    assert (made["nodeSelector"], made.get("serviceAccountName")) == ({"pool": "a"}, None)
    assert made["securityContext"] == spec["securityContext"]
    assert made["volumes"] == [
        {"name": "programs", "emptyDir": {}},
        spec["volumes"][1],
        {"name": "new", "emptyDir": {}},
        {"name": "fast", "emptyDir": {}},
    ]
    (container,) = made["containers"]
    assert container["env"] == [{"name": "EPOCHS", "value": "3"}]
    assert container["envFrom"] == [{"secretRef": {"name": "there"}}]


def looked_for(folder: Path, shell: str, *checks: str) -> list[str]:
    """Run the script of a probe's pods as nobody, who may not enter the folders above: what it says of each check."""
    script = files("packyard.running").joinpath("probe.sh").read_text("utf-8")
    words = [part for check in checks for part in check.split(" ", 1)]
    user = [str(real.program("setpriv")), "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    program, *more = shell.split()
    command = [*user, str(real.program(program)), *more, "-c", script, "probe.sh", "name", *words]
    programs = programs_dir(folder.parent / "bin", {name: real.program(name) for name in ("sh", "ls", "head", "rm")})
    environment = {"PATH": os.path.relpath(programs, folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return [line.partition(" ")[2].lower() for line in done.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["dash", "bash", pytest.param("busybox sh", marks=pytest.mark.nightly)])
def test_the_script_says_what_is_there_and_leaves_nothing(shell: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    for name, mode in (("full", 0o777), ("empty", 0o777), ("closed", 0o700), ("open", 0o755)):
        (work / name).mkdir()
        (work / name).chmod(mode)
    (work / "full/a").write_text("data")
    (work / "open/a").write_text("data")
    (work / "open/a").chmod(0o600)
    checks = {
        "read full": "",
        "read empty": "is empty",
        "read gone": "no such file",
        "read closed": "permission denied",
        "read open": "what is in it may not be read",
        "write empty/new/run": "",
        "write open/run": "permission denied",
        "write full/a/run": "not a directory",
    }
    before = sorted(work.rglob("*"))
    said = [each.removesuffix(" or directory") for each in looked_for(work, shell, *checks)]
    assert dict(zip(checks, map(_SAME.get, said, said), strict=True)) == checks
    assert sorted(work.rglob("*")) == before


def test_says_what_it_could_not_look_at() -> None:
    checks = [Check("write", "$(OUT)", "OUT /out")] * 4
    ended = {"exitCode": 128, "reason": "StartError", "message": 'exec: "/bin/sh": no such file or directory'}
    (said,) = probe.read(checks, ended, "a:1")
    assert (said.severity, said.about) == ("unknown", "image a:1")
    assert '"/bin/sh": no such file' in said.message
    lines = probe.read(checks, {"exitCode": 0, "message": "0\n\x1b[31m1\n2 \x1b[31m\n99\n-1\n"}, "a:1")
    assert [line.severity for line in lines] == ["passed", "passed", "unknown", "unknown", "unknown"]


def test_what_a_program_reads_may_still_come() -> None:
    checks = [Check("read", "/data", "DATA /data"), Check("write", "/out", "OUT /out")]
    said = probe.read(checks, {"exitCode": 0, "message": "0 No such file\n1 No such file\n"}, "a:1")
    assert [f"{each.severity}: {each}" for each in said][1:] == [
        "warning: DATA /data: No such file",
        "error: OUT /out: No such file",
    ]


@pytest.mark.parametrize(
    ("state", "is_over", "said"),
    [
        ({"terminated": {"exitCode": 0, "message": ""}}, True, ["passed: image a:1"]),
        ({"waiting": {"reason": "ImagePullBackOff"}}, True, ["error: pod: did not run to its end: no image"]),
        ({"running": {}}, False, ["error: pod: did not run to its end: no image"]),
    ],
)
def test_a_probe_is_over_when_its_pods_have_ended_or_will_not_start(
    state: dict[str, Any], is_over: bool, said: list[str]
) -> None:
    made = probe.make(rendered([deployed("run", pod())]), "abcde", seconds=60)
    item = {
        "metadata": {"labels": {"batch.kubernetes.io/job-name": made.jobs[0]["metadata"]["name"]}},
        "status": {
            "phase": "Succeeded" if "terminated" in state else "Pending",
            "containerStatuses": [{"name": "main", "image": "a:1", "state": state}],
        },
    }
    pods = [PodStatus(item=item, role="probe", index=0)]
    now = RunStatus(record=made.record("ml"), state="", reason="no image", roles=(), pods=pods, missing=())
    assert (made.is_over(now), [f"{each.severity}: {each}" for each in made.findings(now)]) == (is_over, said)
