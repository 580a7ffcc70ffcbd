"""A run with a chief ends with it, however long its workers and parameter servers would go on.

TensorFlow 2 has them serve for ever: ``server.join()`` in "Example code for worker and parameter servers" of
tensorflow/python/distribute/parameter_server_strategy_v2.py. With TensorFlow 1 workers have loops of their own, and may
fail when the chief is gone, which closes their sessions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

import pytest
import yaml

import real
from catalogue.usecases import of_bases_with
from packyard.writing.source.package import Package, UseCase
from sample import WHOLE
from workload import catalogue, controllers, deploy, zoo
from workload.cluster import Cluster
from workload.environment import environment
from workload.objects import Object
from workload.pod import Pod

NewCluster = Callable[[list[Object]], Cluster]

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
_WAITS = "time.sleep(600)"

each_run_with_a_chief = of_bases_with("CLUSTER: chief=1 ")


@each_run_with_a_chief
@pytest.mark.parametrize("server", [_SERVES, _FAILS_TOO], ids=["serves for ever", "fails without its chief"])
def test_all_succeed_when_the_chief_does(
    server: str, package: Package, use_case: UseCase, new_cluster: NewCluster
) -> None:
    pods = started(catalogue.set_objects(package, use_case), new_cluster, chief=_DONE, server=server)
    assert [pod.wait() for pod in pods] == [0] * len(pods), "".join(pod.log for pod in pods)


@each_run_with_a_chief
@pytest.mark.parametrize(
    ("chief", "server"), [(_FAILS, _SERVES), (_WAITS, _FAILS_BEFORE)], ids=["the chief", "a worker"]
)
def test_all_fail_when_one_does(
    chief: str, server: str, package: Package, use_case: UseCase, new_cluster: NewCluster
) -> None:
    pods = started(catalogue.set_objects(package, use_case), new_cluster, chief=chief, server=server)
    assert 0 not in [pod.wait() for pod in pods], "".join(pod.log for pod in pods)


def started(objects: list[Object], new_cluster: NewCluster, **endings: str) -> list[Pod]:
    """Start all pods of a run whose program is the one above, where there is a chief the first of them."""
    cluster = new_cluster(objects)
    jobs = deploy.jobs_of(cluster, objects)
    zoo.store_copies(cluster, jobs)
    pods = []
    for job in sorted(jobs, key=lambda item: not re.search("-chief(-0)?$", item["metadata"]["name"])):
        spec = job["spec"]["template"]["spec"]
        container = spec["containers"][0]
        for pod in controllers.job(job):
            script = environment(container, pod, cluster.objects)["MODEL_SCRIPT"]
            cluster.put(str(PurePosixPath(container["workingDir"], script)), (_PROGRAM % endings).encode())
            pods.append(cluster.start(pod))
    return pods


# What the images of other years have for Python.

_SET = """
kind: Job
metadata: {name: set-%(role)s}
spec:
  completionMode: Indexed
  completions: 1
  template:
    metadata: {labels: {app: set}}
    spec:
      subdomain: svc
      restartPolicy: Never
      volumes: [{name: scripts, configMap: {name: scripts}}]
      containers:
      - name: c
        workingDir: /opt
        command: ["%(python)s", /scripts/run.py, "%(python)s", train.py]
        env:
        - {name: CLUSTER, value: chief=1 worker=1 ps=1}
        - {name: CLUSTER_JOB, value: set-%(role)s}
        - {name: CLUSTER_SERVICE, value: svc}
        - {name: CLUSTER_PORT, value: "5000"}
        - {name: CLUSTER_WAIT_SECONDS, value: "30"}
        - {name: MODEL_SCRIPT, value: train.py}
        - {name: S3_ENDPOINT, value: ""}
        volumeMounts: [{name: scripts, mountPath: /scripts}]
"""


@pytest.mark.parametrize(
    "version",
    [(3, 6), (3, 7), (3, 9), (3, 13)] if WHOLE else [(3, 6), (3, 13)],
    ids=lambda version: ".".join(map(str, version)),
)
def test_runs_with_the_python_of_an_image(version: tuple[int, int], new_cluster: NewCluster) -> None:
    script = (real.REPOSITORY / "bases/cluster/run.py").read_text()
    objects: list[Object] = [
        {"kind": "ConfigMap", "metadata": {"name": "scripts"}, "data": {"run.py": script}},
        {
            "kind": "Service",
            "metadata": {"name": "svc"},
            "spec": {"clusterIP": "None", "selector": {"app": "set"}, "publishNotReadyAddresses": True},
        },
    ]
    jobs = [
        yaml.safe_load(_SET % {"role": role, "python": real.python_of(version)}) for role in ("chief", "worker", "ps")
    ]
    server = "assert 'S3_ENDPOINT' not in os.environ\n" + _SERVES
    pods = started([*objects, *jobs], new_cluster, chief=_DONE, server=server)
    assert [pod.wait() for pod in pods] == [0] * 3, "".join(pod.log for pod in pods)
