"""Deploying on a real control plane: what is there afterwards, and whose it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from controlplane.api import Api, wait
from packyard.cluster import record as records
from packyard.cluster.deploy import deploy
from packyard.cluster.kubectl import Kubectl
from packyard.cluster.prepared import prepare
from packyard.cluster.run import LABEL

WHEN = "2026-01-01T00:00:00Z"


def test_a_run_has_its_name_on_all_objects_and_pods_and_a_record(
    untarred: Callable[[str], Path], client: Kubectl, cluster: Api, namespace: str
) -> None:
    directory = untarred("mnist-fp32-training-k8s") / "first-run/none"
    made = deploy(client, prepare(directory, {}, path=os.environ["PATH"]), who="ann", when=WHEN)
    wait(partial(unfinished, cluster, namespace))
    run = "mnist-fp32-training-first-run"
    assert made.run == run
    assert [len(found) for found in (made.objects, cluster.list("v1", "Pod", namespace))] == [4, 1]
    labelled = [item for item in cluster.everything(namespace) if item["metadata"].get("labels", {}).get(LABEL) == run]
    assert {each.kind for each in made.objects} | {"ConfigMap", "Pod"} == {item["kind"] for item in labelled}
    assert records.read_all(client) == {run: [records.read_last(client, run)]}
    assert records.read_last(client, run).read_objects()[0]["metadata"]["labels"][LABEL] == run


def unfinished(api: Api, namespace: str) -> list[str]:
    jobs = api.list("batch/v1", "Job", namespace)
    return [item["metadata"]["name"] for item in jobs if not item["status"].get("succeeded")]
