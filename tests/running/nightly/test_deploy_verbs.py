"""`deploy` and `rollback` as users type them: what they print, ask of the server, and offer."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from controlplane.api import Api
from documents.test_json import documented, seen
from running import made
from running.test_deploy_faults import written
from tiny import inside


@pytest.fixture(autouse=True)
def _config(cluster: Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The administrator's kubeconfig, with the namespace."""
    monkeypatch.setenv("KUBECONFIG", str(written(tmp_path / "config", cluster, namespace)))


def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = inside(*words)
    assert done.returncode == code, done.stderr
    return done


def answer(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(*words, "-o", "json").stdout)
    table = documented()[f"{words[0]} --list" if "--list" in words else words[0]]
    for field, names in seen(found).items():
        assert names == table[field], field
    return found


def test_a_deployment_goes_back_to_an_earlier_record_with_its_secrets_as_they_are(
    cluster: Api, namespace: str, tmp_path: Path
) -> None:
    (tmp_path / "server").mkdir()
    directory = tmp_path / "server"
    (directory / "kustomization.yaml").write_text("resources: [objects.yaml]\n")

    def write(replicas: int, password: str) -> None:
        (directory / "objects.yaml").write_text(SERVER.format(replicas=replicas, password=password))

    write(1, "one")
    run("deploy", str(directory), "--no-wait")
    name = next(each for each in cluster.list("apps/v1", "Deployment", namespace))["metadata"]["labels"]["packyard/run"]
    alone = run("rollback", name, code=1).stderr
    assert f"run {name} has no record before the last (packyard rollback" in alone
    write(2, "two")
    (record,) = answer("deploy", str(directory), "--no-wait")
    assert (record["run"], record["record"]) == (name, 2)
    shown = run("rollback", name, "--dry-run").stdout
    assert {"-  replicas: 2", "+  replicas: 1"} <= set(shown.splitlines())
    (back,) = answer("rollback", name, "1", "--no-wait")
    assert back["record"] == 3
    (server,) = cluster.list("apps/v1", "Deployment", namespace)
    assert server["spec"]["replicas"] == 1
    (secret,) = cluster.list("v1", "Secret", namespace)
    assert secret["data"] == {"password": "dHdv"}
    assert run("rollback", name, "--list").stdout.splitlines()[-1].split()[-2:] == ["rollback", "1"]
    assert "has no record 9" in run("rollback", name, "9", code=1).stderr
    cluster.delete(secret, namespace).expect_done()
    assert "its data are not recorded (deploy the run from its directory" in run("rollback", name, "3", code=1).stderr


SERVER = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: server}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: server}}}}
  template:
    metadata: {{labels: {{app: server}}}}
    spec:
      securityContext: {{runAsNonRoot: true, runAsUser: 1, seccompProfile: {{type: RuntimeDefault}}}}
      containers:
      - name: server
        image: registry.example/server:1
        securityContext: {{allowPrivilegeEscalation: false, capabilities: {{drop: [ALL]}}}}
---
apiVersion: v1
kind: Secret
metadata: {{name: key}}
stringData: {{password: {password}}}
"""


def serve(folder: Path, fate: str, **spec: Any) -> str:
    """Write a use case of two servers, and return its path."""
    folder.mkdir(exist_ok=True)
    (folder / "kustomization.yaml").write_text("resources: [server.json]\n")
    (folder / "server.json").write_text(json.dumps(made.lasting("Deployment", "server", fate, **spec)))
    return str(folder)


def test_what_cannot_start_ends_the_waiting_and_is_taken_back_on_demand(
    cluster: Api, namespace: str, tmp_path: Path
) -> None:
    directory = serve(tmp_path / "server", "unpullable")
    failing = run("deploy", directory, "--atomic", code=1).stderr
    name = re.findall(r"run (\S+) is taken back: its objects are deleted", failing)[0]
    assert f"run {name} is failing: server 0: image cannot be pulled" in failing
    assert "packyard status" not in failing  # would show nothing any more
    assert cluster.list("apps/v1", "Deployment", namespace) == []
    run("deploy", serve(tmp_path / "server", "run"))
    changed = serve(tmp_path / "server", "unpullable", minReadySeconds=1)
    assert f"run {name} is deployed again as record 1 has it" in run("deploy", changed, "--atomic", code=1).stderr
    late = serve(tmp_path / "server", "never-ready", minReadySeconds=1)
    not_yet = run("deploy", late, "--atomic", "--timeout", "0s", code=1).stderr
    assert f"run {name} is starting: " in not_yet
    assert f"run {name} is deployed again as record 3 has it" in not_yet
    (server,) = cluster.list("apps/v1", "Deployment", namespace)
    assert server["spec"].get("minReadySeconds", 0) == 0
    assert [each["record"] for each in answer("rollback", name, "--list")] == [1, 2, 3, 4, 5]
    for seconds in range(1, 7):
        run("deploy", serve(tmp_path / "server", "run", minReadySeconds=seconds), "--no-wait")
    assert [each["record"] for each in answer("rollback", name, "--list")] == [*range(2, 12)], "the newest ten"
