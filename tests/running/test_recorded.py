"""What is said of clusters with a fault, judged without one: kubectl answers what was recorded."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from packyard.core.errors import UnavailableError
from packyard.running import doctor
from packyard.running.doctor.recording import Recording
from packyard.running.runs.kubectl import Done, Kubectl
from running import recordings
from running.fault_set import FAULTS, Fault
from running.patients import pod, prepared
from running.setups import job


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
    found = doctor.examine(client, ready)
    assert [{key: value for key, value in asdict(each).items() if key != "fix" and value} for each in found] == expected


def test_a_report_recorded_again_is_the_same() -> None:
    (report,) = recordings.REPORTS[:1]
    client, ready, _ = recordings.report(report)
    recording = Recording()
    found = doctor.examine(recording.of(client), ready)
    assert [*recording.lines(client, ready, found)] == report.read_text("utf-8").splitlines()


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
    recording = Recording()
    for words in (("get", "secrets"), ("auth", "whoami"), ("get", "nodes")):
        recording.of(client).call(*words)
    with pytest.raises(UnavailableError):
        recording.of(client).call("get", "pods")
    ready = prepared([job(pod(main_env=[{"name": "TOKEN", "value": "hunter2hunter2"}]))])
    lines = [*recording.lines(client, ready, [])]
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
    client = recordings.replayed(recordings.file("before", FAULTS[0]), recordings.NAMESPACE)
    with pytest.raises(recordings.UnrecordedError, match=f"kubectl get dragons .*{records}"):
        client.call("get", "dragons")
    with pytest.raises(recordings.UnrecordedError, match=f"nobody.jsonl is not there{records}"):
        recordings.replayed(recordings.FOLDER / "nobody.jsonl", recordings.NAMESPACE)
