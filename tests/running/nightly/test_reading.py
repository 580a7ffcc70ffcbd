"""Reading runs on a real control plane by the verbs: `status`, `events`, `exec` and `forward`."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cli.terminal import on_terminal
from controlplane import argo
from controlplane.api import Api, Object, wait
from packyard.running.runs import events, status
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from readmes import modelserver
from running import made
from tiny import COMMAND, environment, packyard

Verb = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def flags(cluster: Api, namespace: str) -> tuple[str, ...]:
    """What names the cluster and the namespace to a verb."""
    return (f"--namespace={namespace}", f"--kubeconfig={cluster.folder / 'kubeconfig'}")


@contextmanager
def started(*words: object, text: bool = True) -> Iterator[Any]:
    """Run packyard as a process; it is killed in the end."""
    command = [*COMMAND, *map(str, words)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(), text=text, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


def settled(client: Kubectl, **states: str) -> None:
    """Return when runs are in these states."""

    def left() -> list[str]:
        return [str(each) for each in status.read(client, records.read_all(client)) if states[each.run] != each.state]

    wait(left)


def settle(api: Api, namespace: str, pod: str, fate: str) -> None:
    """Change the fate of a pod."""
    api.merge(made.fated(pod, fate), namespace).expect_done()


def test_status_shows_runs_of_packages_and_one_in_detail(client: Kubectl, flags: tuple[str, ...]) -> None:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"OUTPUT_DIR": "/out/a"}}
    job = made.job("one", "fail", {"volumeMounts": [{"name": "storage", "mountPath": "/out"}]})
    nfs = {"name": "storage", "nfs": {"server": "10.0.0.5", "path": "/exports"}}
    job["spec"]["template"]["spec"]["volumes"] = [nfs]
    empty = packyard("status", *flags)
    assert (empty.returncode, empty.stdout) == (0, "")
    assert "no runs in namespace" in empty.stderr
    job["spec"]["suspend"] = True
    made.put(client, {"one": [settings, job]}, values={"WORKERS": "2"})
    made.put(client, {"two": [made.mpi_job("two", "run")]}, package="bert")
    settled(client, one="starting", two="running")
    assert [each["run"] for each in json.loads(packyard("status", "--package=bert", "-o", "json", *flags).stdout)] == [
        "two"
    ]
    refused = packyard("status", "--package=brt", *flags)
    assert (refused.returncode, "did you mean 'bert'?" in refused.stderr) == (1, True)
    refused = packyard("status", "tow", *flags)
    assert (refused.returncode, "did you mean 'two'?" in refused.stderr) == (1, True)
    one = packyard("status", "one", *flags)
    facts = dict(line.split(None, 1) for line in one.stdout.split("\n\n")[0].splitlines())
    assert facts["results"] == "/out/a in the pods, 10.0.0.5:/exports/a by NFS"
    assert facts["values"] == "WORKERS=2"
    assert facts["state"] == "starting"
    assert "packyard logs one --events -n" in one.stderr


def test_a_record_that_cannot_be_read_hides_no_other_run(
    client: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...]
) -> None:
    made.put(client, {"one": [made.pod("one", "run")]})
    metadata = {"name": "packyard.bad.1", "labels": {"packyard/run": "bad", "packyard/record": "1"}}
    bad = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"run": "{"}}
    cluster.create(bad, namespace).expect_done()
    wait(lambda: [] if cluster.list("v1", "Event", namespace) else ["no event yet"])
    for words in (["status"], ["logs", "one", "--events"]):
        done = packyard(*words, *flags)
        assert done.returncode == 0
        assert "one" in done.stdout
        assert "ConfigMap packyard.bad.1" in done.stderr


def test_events_are_those_of_one_run_also_of_what_is_gone(
    client: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...]
) -> None:
    runs = {
        "a": [made.lasting("Deployment", "a", "run")],
        "a-b": [made.job("a-b", "run"), made.job_set("a-b", ("w", "run"))],
    }
    made.put(client, runs)
    settled(client, **{"a": "running", "a-b": "running"})
    gone = next(
        each["metadata"]["name"]
        for each in cluster.list("v1", "Pod", namespace)
        if "a-b-w-0-0" in each["metadata"]["name"]
    )
    cluster.delete({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": gone}}, namespace).expect_done()
    known = records.read_all(client)

    def abouts(run: str) -> set[str]:
        return {each.object for each in events.read(client, known, run)}

    # Events come after what they tell.
    wait(lambda: sorted({"Deployment a", "ReplicaSet a", "Pod a"} - {each.split("-")[0] for each in abouts("a")}))
    wait(lambda: sorted({"Job a-b", f"Pod {gone}"} - abouts("a-b")))
    assert {each.split("-")[0] for each in abouts("a")} == {"Deployment a", "ReplicaSet a", "Pod a"}
    assert not [each for each in abouts("a") if "a-b" in each]
    printed = packyard("logs", "a", "--events", *flags)
    assert "ScalingReplicaSet" in printed.stdout
    assert "packyard status a -n" in printed.stderr


def test_warnings_are_marked_and_counted(client: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...]) -> None:
    made.put(client, {"one": [made.pod("one", "run")]})
    settled(client, one="running")
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "one.0"},
        "involvedObject": {"kind": "Pod", "name": "one", "namespace": namespace},
        "type": "Warning",
        "reason": "BackOff",
        "message": "Back-off \x1b[31m\nrestarting",
        "count": 6,
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }
    cluster.create(event, namespace).expect_done()
    printed = packyard("logs", "one", "--events", *flags)
    assert [line.split()[0] for line in printed.stdout.splitlines() if " BackOff " in line] == ["!"]
    assert " 6 " in printed.stdout
    assert "Back-off \\x1b[31m restarting" in printed.stdout
    assert "1 warning, marked with !" in printed.stderr


def test_exec_runs_a_command_in_the_pod_that_is_meant(client: Kubectl, flags: tuple[str, ...]) -> None:
    made.put(client, {"mpi": [made.mpi_job("mpi", "run")], "stuck": [made.job("stuck", "unpullable")]})
    settled(client, mpi="running", stuck="failing")
    wait(
        lambda: [
            str(each)
            for each in status.read(client, records.read_all(client))
            if each.run == "stuck" and not each.reason
        ]
    )
    with started("exec", "mpi", *flags, "--", "sh", "-c", "echo $0 $1", "--", "-o") as process:
        assert process.communicate()[0] == "-- -o\n"
        assert process.returncode == 0
    with started("exec", "mpi", "--role=worker", "--index=1", *flags, "--", "false") as process:
        assert "in pod mpi-worker-1, container training" in process.communicate()[1]
        assert process.returncode == 1
    for words, said in (
        (["stuck"], "is waiting: image cannot be pulled"),
        (["mpi", "--role=wroker"], "did you mean 'worker'?"),
        (["mpi", "--role=worker", "--index=7"], "they are counted from 0 to 1"),
        (["mpi", "--container=trainig"], "did you mean 'training'?"),
    ):
        refused = packyard("exec", *words, *flags)
        assert (refused.returncode, said in refused.stderr) == (1, True), refused.stderr


def test_exec_without_a_command_is_a_shell_on_the_terminal(
    client: Kubectl, flags: tuple[str, ...], tmp_path: Path
) -> None:
    made.put(client, {"one": [made.pod("one", "run")]})
    settled(client, one="running")
    with on_terminal("exec", "one", *flags, cwd=tmp_path) as terminal:
        terminal.until("in pod one, container training")
        terminal.type("echo $((20+3))-")
        terminal.until("23-")
        terminal.type("exit")
        assert terminal.end() == 0


def test_forward_finds_the_service_and_ends_with_ctrl_c(
    client: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...]
) -> None:
    with ExitStack() as running:
        server = running.enter_context(modelserver.serve("model"))
        serve(cluster, namespace, server.server_port)
        made.put(client, {"one": [served("one", "run"), service("one")]})
        settled(client, one="running")
        process = running.enter_context(started("forward", "one", *flags))
        assert process.stdout
        address = process.stdout.readline().split()[2]  # Forwarding from 127.0.0.1:8501 -> 8501
        assert address.startswith("127.0.0.1:")
        wait(partial(unanswered, f"http://{address}"))
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def service(name: str) -> Object:
    ports = [{"name": "grpc", "port": 8500, "targetPort": 8500}, {"name": "http", "port": 8501, "targetPort": 8501}]
    spec = {"selector": {"app.kubernetes.io/instance": name}, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def served(name: str, fate: str) -> Object:
    item = made.lasting("Deployment", name, fate)
    item["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"name": "http", "containerPort": 8501}]
    return item


def serve(api: Api, namespace: str, port: int) -> None:
    """Have whoever connects to port 8501 of a pod reach a port of this machine."""
    forward = {"ports": [8501], "target": {"address": "127.0.0.1", "port": port}}
    spec = {"selector": {"matchNamespaces": [namespace]}, "forwards": [forward]}
    kind = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "ClusterPortForward", "metadata": {"name": namespace}}
    api.create({**kind, "spec": spec}).expect_done()


def unanswered(address: str) -> list[str]:
    try:
        with urllib.request.urlopen(f"{address}/v1/models/model", timeout=5) as answer:
            return [] if answer.status == 200 else [str(answer.status)]
    except OSError as error:
        return [str(error)]


def children(pid: int, verb: str) -> list[int]:
    """Return what a process has started of kubectl with this verb."""
    found = []
    for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
            program, *words = Path(f"/proc/{each}/cmdline").read_text().split("\0")
            if Path(program).name == "kubectl" and verb in words:
                found.append(int(each))
    return found


def test_steps_of_a_workflow_are_roles(client: Kubectl, cluster: Api, tmp_path: Path) -> None:
    namespace = cluster.create_namespace("privileged")  # the executor beside a step of this Workflow is not confined
    client = replace(client, namespace=namespace)
    with argo.run(cluster, namespace, tmp_path):
        made.put(client, {"pipeline": [made.workflow("pipeline", {"fetch": "run", "check": "unpullable"})]})
        wait(lambda: [] if steps(client) == {"fetch": 1, "check": 0} else [str(steps(client))])
        settled(client, pipeline="failing")
    (one,) = status.read(client, records.read_all(client))
    assert one.reason.partition(":")[0] == "check"
    assert {each.containers[0] for each in one.pods} == {"main"}


def steps(client: Kubectl) -> dict[str, int]:
    (one,) = status.read(client, records.read_all(client))
    return {each.name: each.ready for each in one.roles}
