"""What is said of clusters with a fault, judged without one: kubectl answers what was recorded."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from packyard.core.errors import UnavailableError
from packyard.running import doctor
from packyard.running.doctor.transcript import Transcript
from packyard.running.runs.kubectl import Done, Kubectl
from running import recordings
from running.fault_set import FAULTS, Fault
from running.patients import pod, rendered
from running.setups import job
from tiny import packyard


def named(fault: Fault) -> str:
    return fault.name


@pytest.mark.parametrize("fault", [each for each in FAULTS if each.before], ids=named)
def test_a_fault_is_told_before_anything_is_applied(fault: Fault) -> None:
    told = recordings.told("before", fault)
    assert re.search(fault.before, told, re.DOTALL), told


@pytest.mark.parametrize("fault", [each for each in FAULTS if each.after], ids=named)
def test_a_fault_is_explained_of_a_run_that_has_it(fault: Fault) -> None:
    told = recordings.told("after", fault)
    assert re.search(fault.after, told, re.DOTALL), told


def test_every_recording_is_of_a_fault() -> None:
    wanted = {
        recordings.file(moment, each) for moment in ("before", "after") for each in FAULTS if getattr(each, moment)
    }
    assert {*recordings.FOLDER.glob("*/*.jsonl")} - {*recordings.REPORTS} <= wanted


@pytest.mark.parametrize("report", recordings.REPORTS, ids=lambda each: each.stem)
def test_the_doctor_finds_what_is_right_in_a_report(report: Path) -> None:
    """Whoever mends what a report shows writes the findings that are right into its last line."""
    client, ready, expected = recordings.report(report)
    assert recordings.shown(doctor.examine(client, ready)) == expected


#: A kubectl of a cluster that has nothing.
EMPTY = """#!/bin/sh
case "$*" in
kustomize*) cat CASE ;;
*"config view"*) echo '{"contexts": [{"name": "test", "context": {"user": "zoe", "namespace": "ml"}}]}' ;;
*create*) echo '{"kind": "SelfSubjectRulesReview", "status": {}}' ;;
*) echo '{}' ;;
esac
"""


def recorded(kubectl: str, folder: Path) -> tuple[Path, str]:
    """Have the doctor record what a kubectl answers about a Job; return the file, and what is said."""
    (folder / "bin").mkdir()
    program, file = folder / "bin/kubectl", folder / "report.jsonl"
    use_case = folder / "case"
    use_case.mkdir()
    program.write_text(kubectl.replace("CASE", str(use_case / "job.json")))
    program.chmod(0o755)
    (use_case / "job.json").write_text(json.dumps(job(pod(main_env=[{"name": "TOKEN", "value": "hunter2hunter2"}]))))
    (use_case / "kustomization.yaml").write_text("resources: [job.json]\n")
    done = packyard("doctor", use_case, "--record", file, PATH=f"{program.parent}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert f"{file} has what kubectl answered; look through it before you give it to others" in done.stderr
    return file, done.stdout + done.stderr


def test_the_verb_writes_a_report_of_which_the_same_is_found_again(tmp_path: Path) -> None:
    file, printed = recorded(EMPTY, tmp_path)
    client, ready, findings = recordings.report(file)
    assert "error: Namespace ml: is not there" in printed
    assert [each for each in findings if (each["about"], each["severity"]) == ("Namespace ml", "error")]
    assert "hunter2" not in file.read_text("utf-8")
    transcript = Transcript()
    found = doctor.examine(transcript.of(client), ready)
    assert [*transcript.lines(client, ready, found)] == file.read_text("utf-8").splitlines()


def test_a_cluster_that_does_not_answer_is_recorded_as_well(tmp_path: Path) -> None:
    deaf = "Unable to connect to the server: dial tcp: lookup a.example.com: no such host"
    file, printed = recorded(EMPTY.replace("*) echo '{}'", f"*) echo '{deaf}' >&2; exit 1"), tmp_path)
    assert f"cannot be reached: {deaf}" in printed
    client, ready, findings = recordings.report(file)
    assert not findings
    with pytest.raises(UnavailableError, match=r"cannot be reached: .* lookup server-"):
        doctor.examine(client, ready)


def test_a_recording_has_no_secret_and_tells_nobody_where_the_cluster_is() -> None:
    server, where = "0A1B.eu-west-1.eks.amazonaws.com", "10.1.2.3"
    token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJl.c2lnbmF0dXJl"
    certificate = "-----BEGIN CERTIFICATE-----\nMIIDBTCCAe2g\n-----END CERTIFICATE-----"
    items = [
        {"kind": "Secret", "type": "Opaque", "metadata": {"name": "keys"}, "data": {"a": "aHVudGVyMg==", "none": ""}},
        {"kind": "ConfigMap", "apiVersion": "v1", "data": {"WANDB_API_KEY": "hunter2hunter2", "ca.crt": certificate}},
        {"kind": "Node", "status": {"addresses": [{"address": where}, {"address": "10.1.2.4"}]}},
        {"kind": "Pod", "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "hunter2"}}},
        {"kind": "Pod", "spec": {"containers": [{"env": [{"name": "HF_TOKEN", "value": "hunter2hunter2"}]}]}},
    ]
    refusal = f'User "system:serviceaccount:ml:zoe" cannot list; zoe@example.com has {token}'
    deaf = f'Unable to connect to the server: Get "https://{server}/api": dial tcp: lookup {server} on {where}:53'
    answers = {
        "secrets": Done(0, json.dumps({"kind": "List", "items": items}).encode(), "", (f"{where} is old",)),
        "whoami": Done(0, b"zoe", ""),
        "nodes": Done(1, b"", refusal),
        "pods": Done(1, b"", deaf),
    }
    client = Kubectl(
        program="kubectl", flags=(), context="a", namespace="ml", transport=lambda words, _: answers[words[-1]]
    )
    transcript = Transcript()
    for words in (("get", "secrets"), ("auth", "whoami"), ("get", "nodes")):
        transcript.of(client).call(*words)
    with pytest.raises(UnavailableError):
        transcript.of(client).call("get", "pods")
    ready = rendered([job(pod(main_env=[{"name": "TOKEN", "value": "hunter2hunter2"}]))])
    lines = [*transcript.lines(client, ready, [])]
    text = "\n".join(lines)
    assert not [each for each in ("hunter2", "aHVud", "MIID", "eyJ", server, where, "zoe") if each in text]
    (listed,) = (each for each in map(json.loads, lines) if each.get("call") == "get secrets")
    secret, _, node, *_ = listed["output"]["items"]
    assert secret["data"] == {"a": "…", "none": ""}
    first, second = (each["address"] for each in node["status"]["addresses"])
    assert first != second
    assert listed["warnings"] == [f"{first} is old"]


def test_a_call_that_was_not_recorded_is_refused_with_the_command_that_records() -> None:
    records = "; make nightly-clusters records it"
    client = recordings.replayed(recordings.NAMESPACE, recordings.file("before", FAULTS[0]))
    with pytest.raises(recordings.UnrecordedError, match=f"kubectl get dragons .*{records}"):
        client.call("get", "dragons")
    with pytest.raises(recordings.UnrecordedError, match=f"nobody.jsonl is not there{records}"):
        recordings.replayed(recordings.NAMESPACE, recordings.FOLDER / "nobody.jsonl")
