"""`packyard logs` on a real control plane, whose nodes give out what each test says that pods have printed."""

import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest

from controlplane.api import Api, wait
from packyard.core.errors import InputError
from packyard.running.runs import logs, status
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.status import RunStatus
from packyard.running.runs.workloads import PodStatus
from running import made
from running.nightly.test_reading import children, settle, settled, started
from tiny import packyard


class Printer:
    """What pods print."""

    def __init__(self, api: Api, namespace: str, folder: Path) -> None:
        self.api, self.namespace, self.folder = api, namespace, folder

    def print(self, pod: str, *lines: bytes) -> None:
        """Add lines to the log of a pod."""
        with (log := self.folder / f"{pod}.log").open("ab") as file:
            for line in lines:
                file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}000Z stdout F ".encode() + line + b"\n")
        spec = {"logs": [{"containers": ["training"], "follow": True, "logsFile": str(log)}]}
        item = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Logs", "metadata": {"name": pod}, "spec": spec}
        self.api.apply(item, self.namespace).expect_done()
        address = f"{self.api.server}{self.api.path('v1', 'Pod', self.namespace)}/{pod}/log"
        wait(lambda: [] if self.api.session.get(address).status_code == 200 else [f"{pod} has no log"])


@pytest.fixture
def printer(cluster: Api, namespace: str, tmp_path: Path) -> Printer:
    return Printer(cluster, namespace, tmp_path)


def test_following_waits_for_the_start_and_ends_with_the_run(
    client: Kubectl, flags: tuple[str, ...], printer: Printer, cluster: Api, namespace: str
) -> None:
    made.put(client, {"one": [made.pod("one", "unpullable")]})
    wait(lambda: [] if "image" in packyard("status", "one", *flags).stdout else ["the pod is not stuck"])
    with started("logs", "-f", "one", *flags) as process:
        assert process.stdout
        assert process.stderr
        assert process.stderr.readline().startswith("context test")
        assert "has not started: image cannot be pulled" in process.stderr.readline()
        printer.print("one", b"begins")
        settle(cluster, namespace, "one", "run")
        assert process.stdout.readline() == "begins\n"
        printer.print("one", b"goes on", b"and on")
        assert [process.stdout.readline() for _ in range(2)] == ["goes on\n", "and on\n"]
        for child in children(process.pid, "logs"):  # as if the server had ended the connection
            os.kill(child, signal.SIGKILL)
        printer.print("one", b"once more")
        again = iter(process.stdout.readline, "once more\n")  # what was printed just before comes twice
        assert {*again} <= {"begins\n", "goes on\n", "and on\n"}
        settle(cluster, namespace, "one", "fail")
        assert (process.wait(), process.stdout.read()) == (1, "")
        assert process.stderr.read().endswith("run one has failed: exit code 7\n")


def test_following_goes_on_with_the_pod_that_takes_the_place(
    client: Kubectl, flags: tuple[str, ...], printer: Printer, cluster: Api, namespace: str
) -> None:
    made.put(client, {"set": [made.lasting("StatefulSet", "set", "run")]})
    settled(client, set="running")
    printer.print("set-0", b"first")
    printer.print("set-1", b"other")
    with started("logs", "-f", "set", *flags) as process:
        assert process.stdout
        assert {process.stdout.readline() for _ in range(2)} == {
            "[pod/set-0/training] first\n",
            "[pod/set-1/training] other\n",
        }
        cluster.delete({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "set-0"}}, namespace).expect_done()
        printer.print("set-0", b"second")
        assert process.stdout.readline() == "[pod/set-0/training] second\n"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr
        assert process.stderr.read().splitlines()[1:] == ["interrupted"]


def pod(name: str, role: str, index: int, phase: str = "Running", created: str = "1") -> PodStatus:
    metadata = {"name": name, "creationTimestamp": created, "labels": {"role": role, "packyard/run": "one"}}
    spec = {"containers": [{"name": "a"}, {"name": "b"}]}
    return PodStatus(item={"metadata": metadata, "spec": spec, "status": {"phase": phase}}, role=role, index=index)


def run_of(*pods: PodStatus) -> RunStatus:
    return RunStatus(record=made.record("one", (), "ns"), state="running", reason="", roles=(), pods=pods, missing=())


def test_the_launcher_speaks_for_a_run_then_the_chief_then_all() -> None:
    worker, launcher, chief = pod("w", "worker", 0), pod("l", "launcher", 0), pod("c", "chief", 0)
    assert status.choose(run_of(worker, launcher)) == [launcher]
    assert status.choose(run_of(worker, chief)) == [chief]
    assert status.choose(run_of(worker, pod("p", "ps", 0))) == [worker, pod("p", "ps", 0)]
    assert status.choose(run_of(), index=3) == []


def test_of_pods_in_one_place_the_newest_is_meant() -> None:
    first, second = pod("1", "worker", 0, "Failed", "1"), pod("2", "worker", 0, "Running", "2")
    seen = run_of(second, first)
    assert status.choose(seen) == [second]
    with pytest.raises(InputError, match=r"has no pod 1 of role worker \(they are counted from 0 to 0\)"):
        status.choose(seen, "worker", 1)
    with pytest.raises(InputError, match=r"no container 'c' \(its containers: a, b\)"):
        status.container(second, "c")


def test_one_call_reads_all_pods_of_a_run() -> None:
    pods = [pod("w-0", "worker", 0), pod("w-1", "worker", 1)]
    whole = ["logs", "--selector=packyard/run=one", "--prefix", "--max-log-requests=2", "--container=b"]
    assert logs.words(run_of(*pods), pods, "b") == whole
    assert logs.words(run_of(*pods), pods[:1], "") == ["logs", "w-0"]
