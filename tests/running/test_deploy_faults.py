"""Deploying and undeploying where something goes wrong midway: what is said and left; a second try completes."""

import json
import os
import re
import shlex
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiny
from controlplane import webhooks
from controlplane.api import Api, Object
from packyard.core.errors import ConflictError
from packyard.running.runs import kubectl as kubectls
from packyard.running.runs import look, undeploy
from packyard.running.runs import plan as deploying
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import LABEL
from running.made import WHEN
from running.wanted import config_map, item, job, made, names, rendered
from tiny import inside

RUN = "app"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A use case of two objects, of which the Job is applied last."""
    folder = tmp_path / "app with spaces"
    objects = [config_map(x="1"), job()]
    for each in objects:
        each["metadata"]["labels"] = {"app.kubernetes.io/instance": RUN}
    tiny.write(folder / "objects.yaml", "\n---\n".join(map(json.dumps, objects)))
    (folder / "kustomization.yaml").write_text("resources: [objects.yaml]\n")
    return folder


@pytest.fixture
def config(cluster: Api, namespace: str, tmp_path: Path) -> Path:
    """The administrator's kubeconfig with the namespace, below a folder with spaces."""
    return written(tmp_path / "my config", cluster, namespace)


def written(folder: Path, api: Api, namespace: str, **cluster: str) -> Path:
    folder.mkdir(exist_ok=True)
    found = json.loads((api.folder / "kubeconfig").read_text())
    context = {**found["contexts"][0]["context"], "namespace": namespace}
    found["contexts"] = [{"name": "my context", "context": context}]
    found["current-context"] = "my context"
    found["clusters"][0]["cluster"] |= cluster
    file = folder / "kube config"
    file.write_text(json.dumps(found))
    return file


def test_ctrl_c_after_every_call_leaves_what_the_next_deploy_completes(
    client: Kubectl, cluster: Api, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is changed by six calls: an object is applied anew, another one is added, and one is deleted."""
    made(client, config_map(x="at-0"), config_map("at-0", x="1"))
    for at in range(1, 7):
        objects = config_map(x=f"at-{at}"), config_map(f"at-{at}", x="1")
        with monkeypatch.context() as patch:
            patch.setattr(kubectls, "Done", interrupted(at))
            with pytest.raises(KeyboardInterrupt):
                made(client, *objects)
        made(client, *objects)
        number = records.read_last(client, "first").number
        assert names(cluster, namespace) == [
            f"at-{at}",
            *sorted(f"packyard.first.{each + 1}" for each in range(number)),
            "settings",
        ]
        assert cluster.read(config_map(), namespace).body["data"] == {"x": f"at-{at}"}


def test_ctrl_c_after_every_call_leaves_what_the_next_undeploy_deletes(
    client: Kubectl, cluster: Api, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete() -> None:
        removal = undeploy.find(client, records.read_all(client))
        look.delete(client, removal.objects)
        look.delete(client, removal.records)

    for at in range(1, 5):
        made(client, config_map(x="1"))
        with monkeypatch.context() as patch:
            patch.setattr(kubectls, "Done", interrupted(at))
            with pytest.raises(KeyboardInterrupt):
                delete()
        if at < 4:
            assert records.read_last(client, "first")
            delete()
        assert names(cluster, namespace) == []


def interrupted(at: int) -> Callable[..., Any]:
    """Return what reads what a call of kubectl gave, but for the one that is interrupted."""
    calls, done = 0, kubectls.Done

    def read(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            raise KeyboardInterrupt
        return done(*given)

    return read


def test_what_refers_to_other_objects_is_applied_again_until_these_are_known(
    client: Kubectl, cluster: Api, namespace: str
) -> None:
    tried = []

    def late(_: Object) -> str:
        tried.append(_)
        return "not yet" if len(tried) < 3 else ""

    pod = item("v1", "Pod", "inspector", spec={**job()["spec"]["template"]["spec"], "serviceAccountName": "reader"})
    with webhooks.asked(cluster, namespace, ["pods"], late):
        made(client, pod, item("v1", "ServiceAccount", "reader"))
    assert len(tried) == 3
    assert cluster.read(pod, namespace).status == 200


def test_what_is_refused_midway_is_told_and_completed_by_the_command_that_is_offered(
    cluster: Api, namespace: str, config: Path, directory: Path
) -> None:
    def late(request: Object) -> str:
        return "" if request["dryRun"] else "not now"

    with webhooks.asked(cluster, namespace, ["jobs"], late):
        done = inside("deploy", directory, "--kubeconfig", config, "--no-wait")
    assert (done.returncode, done.stdout) == (1, "ConfigMap settings created\n")
    found = re.search(rf"run {RUN} may be applied in part\n  (.*) completes it\n  (.*) removes it", done.stderr)
    assert found, done.stderr
    again, remove = map(shlex.split, found.groups())
    assert names(cluster, namespace) == [f"packyard.{RUN}.1", "settings"]
    assert inside(*again[1:], "--no-wait").returncode == 0
    assert names(cluster, namespace) == [
        f"packyard.{RUN}.1",
        f"packyard.{RUN}.2",
        "settings",
        "work",
    ]
    assert inside(*remove[1:]).returncode == 0
    assert names(cluster, namespace) == []


def test_a_secret_of_the_command_line_is_not_repeated(
    cluster: Api, namespace: str, config: Path, directory: Path
) -> None:
    setter = {"x-k8s-cli": {"setter": {"name": "DB_PASSWORD", "value": "old"}}}
    definitions = {"io.k8s.cli.setters.DB_PASSWORD": setter}
    krmfile = {"apiVersion": "config.k8s.io/v1alpha1", "kind": "Krmfile", "openAPI": {"definitions": definitions}}
    (directory / "Krmfile").write_text(json.dumps(krmfile))
    with (directory / "objects.yaml").open("a") as file:
        file.write("\n---\nkind: Secret\napiVersion: v1\nmetadata: {name: key}\nstringData:\n")
        file.write('  password: old # {"$openapi":"DB_PASSWORD"}\n')
    with webhooks.asked(cluster, namespace, ["jobs"], lambda request: "" if request["dryRun"] else "not now"):
        done = inside("deploy", directory, "DB_PASSWORD=hunter2", "--kubeconfig", config, "--no-wait")
    assert "may be applied in part" in done.stderr
    assert "hunter2" not in done.stderr + done.stdout
    (record,) = records.read_all(kubectls.find(os.environ["PATH"], kubeconfig=str(config)), RUN)[RUN]
    assert record.values == {}
    (stored,) = (each for each in cluster.list("v1", "Secret", namespace))
    assert stored["data"] == {"password": "aHVudGVyMg=="}


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_takes_back_what_is_applied_on_demand(
    cluster: Api, namespace: str, config: Path, directory: Path, by: signal.Signals
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(request: Object) -> str:
        """Admit a Job while the command is interrupted; then refuse it, as the server may not know yet of that."""
        if not request["dryRun"]:
            begun.set()
            go_on.wait(60)
        return "" if request["dryRun"] else "too late"

    command = [*tiny.COMMAND, "deploy", str(directory), "--kubeconfig", str(config), "--atomic"]
    pipe = subprocess.PIPE
    with webhooks.asked(cluster, namespace, ["jobs"], slow):
        with subprocess.Popen(command, env=tiny.environment(), stdout=pipe, stderr=pipe) as process:
            assert begun.wait(60)
            process.send_signal(by)
            output, said = (each.decode() for each in process.communicate(timeout=60))
        go_on.set()
    assert (process.returncode, output) == (130, "")
    assert f"run {RUN} is taken back: its objects are deleted" in said
    assert "completes it" not in said
    assert names(cluster, namespace) == []


def test_of_two_who_deploy_a_run_at_once_one_is_refused(client: Kubectl, cluster: Api, namespace: str) -> None:
    one, other = (deploying.plan(client, rendered(config_map(x=x)), who="ann", when=WHEN) for x in "12")
    deploying.carry_out(client, one)
    with pytest.raises(ConflictError, match=r"^run first is being deployed by somebody else"):
        deploying.carry_out(client, other)
    assert cluster.read(config_map(), namespace).body["data"] == {"x": "1"}


def test_a_run_of_somebody_else_is_only_deleted_on_demand(
    client: Kubectl, cluster: Api, namespace: str, config: Path
) -> None:
    made(client, config_map(x="1"))
    done = inside("undeploy", "first", "--kubeconfig", config)
    assert done.returncode == 1
    assert "first: deployed by ann at 2026-01-01T00:00:00Z" in done.stderr
    assert "nothing is deleted (--yes deletes without asking)" in done.stderr
    assert inside("undeploy", "first", "--yes", "--kubeconfig", config).returncode == 0
    assert names(cluster, namespace) == []


def test_a_record_that_cannot_be_read_keeps_no_other_run(
    client: Kubectl, cluster: Api, namespace: str, config: Path
) -> None:
    made(client, config_map(x="1"))
    broken = config_map("packyard.broken.1", run="{}")
    broken["metadata"]["labels"] = {LABEL: "broken", records.NUMBER: "1"}
    cluster.create(broken, namespace).expect_done()
    assert inside("undeploy", "broken", "--kubeconfig", config).returncode == 1
    done = inside("undeploy", "--all", "--yes", "--kubeconfig", config)
    assert done.returncode == 0
    assert "packyard.broken.1" in done.stderr
    assert names(cluster, namespace) == ["packyard.broken.1"]


def test_no_kubectl_and_none_that_is_one(
    directory: Path, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert "kubectl is not on PATH (install it" in inside("deploy", directory, "--kubeconfig", config).stderr
    for script, says in (
        ("exit 139", "kubectl kustomize: it gave no reason (exit code 139)"),
        ("echo a banner", "app with spaces (rendered):1:1: must be a Kubernetes object"),
        ("echo '{}'", "app with spaces (rendered):1:1: an object without a kind"),
        (
            "[ \"$1\" = kustomize ] && echo '{kind: A, metadata: {name: a}}'",
            "bin/kubectl names no context to use: exit code ",
        ),
    ):
        tiny.script(tmp_path / "bin/kubectl", script)
        done = inside("deploy", directory, "--kubeconfig", config)
        assert done.returncode == 1
        assert says in done.stderr
