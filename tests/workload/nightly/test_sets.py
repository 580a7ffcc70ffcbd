"""Pods that hold on to each other: a run ends with its chief, and begins anew together when one pod is lost.

TensorFlow 2 has workers and parameter servers serve for ever, "Example code for worker and parameter servers" of its
parameter_server_strategy_v2.py. With TensorFlow 1 they may fail when the chief is gone, which closes their sessions.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath

import pytest

from catalogue.usecases import of_bases
from packyard.writing.source.package import Package, UseCase
from workload import catalogue, controllers
from workload.environment import Object, environment
from workload.machine import STAND_IN, Machine, NewMachine, Pod, wait_until

#: Listens as a server of TensorFlow does, and a chief connects to all of them; how both end is filled in.
_PROGRAM = """\
import json, os, socket, sys, time
config = json.loads(os.environ["TF_CONFIG"])
role, cluster = config["task"]["type"], config["cluster"]
own = cluster[role][config["task"]["index"]]
if role == "chief":
    connections = []
    for host, port in (server.split(":") for name in ("worker", "ps") for server in cluster[name]):
        while True:
            try:
                connections.append(socket.create_connection((host, int(port)), 5))
                break
            except OSError:
                time.sleep(0.1)
    %(chief)s
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("", int(own.split(":")[1])))
server.listen(8)
connection, _ = server.accept()
%(server)s
"""
_DONE = "print('chief: done'); sys.exit(0)"
_FAILS = "print('chief: fails'); sys.exit(3)"
_SERVES = "time.sleep(600)"
_FAILS_TOO = "connection.recv(1)\nsys.exit('Session was closed')"
_FAILS_BEFORE = "sys.exit('out of memory') if own == cluster['worker'][0] else time.sleep(600)"


@of_bases("parameter-server")
@pytest.mark.parametrize(
    ("chief", "server", "succeed"),
    [(_DONE, _SERVES, True), (_DONE, _FAILS_TOO, True), (_FAILS, _SERVES, False), (_SERVES, _FAILS_BEFORE, False)],
    ids=["the chief succeeds", "others fail without it", "the chief fails", "a worker fails"],
)
def test_all_end_as_the_chief_does_or_fail_with_one(
    chief: str, server: str, succeed: bool, package: Package, use_case: UseCase, new_machine: NewMachine
) -> None:
    machine, described = applied(package, use_case, new_machine)
    pods = started(machine, described, (_PROGRAM % {"chief": chief, "server": server}).encode())
    codes = [pod.wait() for pod in pods]
    assert (codes == [0] * len(pods)) if succeed else (0 not in codes), "".join(pod.log for pod in pods)


@of_bases("parameter-server")
def test_a_lost_pod_ends_those_that_hold_on_to_it_and_all_start_again(
    package: Package, use_case: UseCase, new_machine: NewMachine
) -> None:
    machine, described = applied(package, use_case, new_machine)
    machine.hold = True
    pods = started(machine, described, STAND_IN)
    wait_until(lambda: all(pod.records() for pod in pods), pods)
    pods[-1].kill()
    for pod in pods[:-1]:
        assert pod.wait() != 0, pod.log
    machine.hold = False
    again = [machine.start(pod) for pod in described]
    assert [pod.wait() for pod in again] == [0] * len(again), "".join(pod.log for pod in again)


def applied(package: Package, use_case: UseCase, new_machine: NewMachine) -> tuple[Machine, list[Object]]:
    """Return a machine with what the pods of a set find, and these pods."""
    objects = catalogue.set_objects(package, use_case)
    added, workloads = controllers.pods_of(objects)
    machine = new_machine([*objects, *added])
    pods = [pod for pods in workloads for pod in pods]
    for pod in pods:
        variables = environment(pod["spec"]["containers"][0], pod, machine.objects)
        machine.store(pod, variables["DATASET_DIR"], {".staged": b"s3://bucket\n"})
    return machine, [pod for pod in pods if "run.py" in str(pod["spec"]["containers"][0]["command"])]


def started(machine: Machine, described: Sequence[Object], program: bytes) -> list[Pod]:
    """Start all pods of a run, the chief first."""
    pods = []
    for pod in sorted(described, key=lambda pod: "-chief-" not in pod["spec"]["hostname"]):
        container = pod["spec"]["containers"][0]
        script = environment(container, pod, machine.objects)["MODEL_SCRIPT"]
        machine.put(str(PurePosixPath(container["workingDir"], script)), program)
        pods.append(machine.start(pod))
    return pods
