"""The judges of objects against a real API server, which validates strictly and stores nothing: they refuse alike."""

from __future__ import annotations

import pytest
import yaml

from controlplane.api import Api
from packyard.core.kubernetes import schemas as judges
from packyard.using.setters.packages import PackageFiles
from writing.checks.linting import lint

POD = "{restartPolicy: Never, containers: [{name: a, image: 'a:1', command: [a] CONTAINER}] POD}"
JOB = f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: x METADATA}}
spec: {{template: {{spec: {POD}}} SPEC}}
"""
MPI_JOB = f"""\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: x METADATA}}
spec: {{mpiReplicaSpecs: {{Launcher: {{template: {{spec: {POD}}}}}}} SPEC}}
"""
PLACES = ("CONTAINER", "POD", "METADATA", "SPEC")

#: What is added, and where.
ADDED = [
    ("CONTAINER", ""),
    *(
        ("CONTAINER", f", {text}")
        for text in (
            "comand: [a]",
            "securityContext: {fsGroup: 1}",
            "securityContext: {runAsUser: '1'}",
            "securityContext: {runAsUser: 1}",
            "ports: [{containerPort: 80}]",
            "ports: [{name: web}]",
            "args: [1]",
            "resources: {limits: {cpu: 1, memory: 1Gi}}",
            "resources: {limits: {cpu: true}}",
            "resources: {limit: {cpu: 1}}",
            "env: {A: b}",
            "env: [{name: A, value: 1}]",
            "env: [{name: A, value: '1'}]",
            "env: [{value: '1'}]",
            "envFrom: [{configMapRef: {name: x}}]",
            "envFrom: [{name: x}]",
        )
    ),
    *(
        ("POD", f", {text}")
        for text in (
            "activeDeadlineSeconds: '1'",
            "volumes: [{name: v, emptyDir: {sizeLimit: 1Gi}}]",
            "volumes: [{name: v, emptyDir: {size: 1Gi}}]",
            "tolerations: [{key: a, operator: Exists}]",
            "tolerations: [{ky: a, operator: Exists}]",
        )
    ),
    *(("METADATA", f", {text}") for text in ("labels: {a: b}", "labels: {a: 1}", "label: {a: b}")),
    ("SPEC", ", suspendd: true"),
]


@pytest.fixture(scope="session")
def namespace(api_server: Api) -> str:
    return api_server.create_namespace("privileged")


@pytest.mark.parametrize(("place", "added"), ADDED)
@pytest.mark.parametrize("text", [pytest.param(JOB, id="Job"), pytest.param(MPI_JOB, id="MPIJob")])
def test_refuses_what_the_api_server_refuses(
    text: str, place: str, added: str, api_server: Api, namespace: str
) -> None:
    text = text.replace(f" {place}", added)
    for other in PLACES:
        text = text.replace(f" {other}", "")
    refused = bool(api_server.create(yaml.safe_load(text), namespace, dry_run=True).refusal)
    judging = [judge for judge in judges.choose(["1.34"]) if judge.version in ("1.34", "0.8")]
    package = PackageFiles(b"kind: Krmfile\n", {"a.yaml": text.encode()})
    found = lint(package, judges=judging)  # what an operator of ours does not know is a warning, as another may
    errors = [finding for finding in found if finding.severity == "error" or finding.rule == "unknown-field"]
    assert bool(errors) == refused, errors
