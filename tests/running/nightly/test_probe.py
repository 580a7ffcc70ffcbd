"""Probes on a real control plane: what they are made of, what is read of their pods, and that nothing is left.

What the script in their pods finds is judged by tests/running/test_probe.py.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from catalogue.nightly import test_runs
from controlplane import fates
from controlplane.api import Api, Object, wait
from packyard.cli.running import clusters
from packyard.core.kubernetes import pods
from packyard.running import probe as probes
from packyard.running.runs import status
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.rendered import Rendered


@pytest.fixture
def rendered(untarred: Callable[[str], Path]) -> Rendered:
    return Rendered.of(untarred("mnist-fp32-training-k8s") / "first-run/none", {}, path=os.environ["PATH"])


@pytest.fixture
def left(cluster: Api, namespace: str) -> Callable[[], list[str]]:
    """Call it to see what is in the namespace that was not there when the test began, but for events."""
    wait(lambda: sorted({"ConfigMap kube-root-ca.crt"} - test_runs.names(cluster, namespace)))
    before = test_runs.names(cluster, namespace)
    return lambda: sorted(test_runs.names(cluster, namespace) - before)


def fated(rendered: Rendered, fate: str, **fields: object) -> Rendered:
    """Return the use case with pods that come to an end of their own."""
    objects = copy.deepcopy(list(rendered.objects))
    for pod in pods.find_all(objects):
        assert pod.template is not None
        pod.template["metadata"].setdefault("annotations", {})[fates.ANNOTATION] = fate
        pod.spec.update(fields)
    return replace(rendered, objects=objects)


def test_what_a_container_says_last_is_read_and_all_is_deleted(
    rendered: Rendered, cluster: Api, namespace: str, client: Kubectl, left: Callable[[], list[str]]
) -> None:
    made = probes.make(fated(rendered, "run"), "abcde", seconds=600)
    with clusters.made(client, made.jobs):
        wait(lambda: [] if len(running(cluster, namespace)) == 1 else ["no pod"])
        assert {f"Job {item['metadata']['name']}" for item in made.jobs} <= set(left())
        assert not made.is_over(status.read_one(client, made.record(namespace)))
        (pod,) = running(cluster, namespace)
        end(cluster, namespace, pod, "")
        now = status.read_one(client, made.record(namespace))
    assert made.is_over(now)
    (found,) = made.findings(now)
    assert (found.severity, str(found)) == ("passed", "image docker.io/tensorflow/tensorflow:2.15.0")
    wait(left)


def running(api: Api, namespace: str) -> list[Object]:
    return [pod for pod in api.list("v1", "Pod", namespace) if pod.get("status", {}).get("phase") == "Running"]


def end(api: Api, namespace: str, pod: Object, message: str) -> None:
    """Let a pod end whose containers have said something."""
    statuses = [
        {**each, "ready": False, "state": {"terminated": {"exitCode": 0, "reason": "Completed", "message": message}}}
        for each in pod["status"]["containerStatuses"]
    ]
    status = {"phase": "Succeeded", "containerStatuses": statuses}
    named = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod["metadata"]["name"]}, "status": status}
    api.merge(named, namespace, subresource="status").expect_done()
