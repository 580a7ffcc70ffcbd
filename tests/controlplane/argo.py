"""Argo's controller, the real one, for the Workflows of one namespace."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import real
from controlplane.api import Api, Object


@contextmanager
def run(api: Api, namespace: str, folder: Path, defaults: Object | None = None) -> Iterator[None]:
    """Have it run as long as the block does; ``defaults`` are for what the ``spec`` of a Workflow leaves out."""
    metadata = {"name": "workflow-controller-configmap"}
    data = {"metricsConfig": "enabled: false\n", "workflowDefaults": json.dumps({"spec": defaults or {}})}
    api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}, namespace).expect_done()
    flags = [
        *("--kubeconfig", str(api.folder / "kubeconfig"), "--qps=1000", "--burst=1000"),
        *("--namespaced", "--namespace", namespace, "--managed-namespace", namespace),
        *("--executor-image", "registry.example/argoexec:3.7.0"),
    ]
    # Else it looks at a workflow, whatever happened, only every ten seconds.
    environment = {**os.environ, "LEADER_ELECTION_DISABLE": "true", "DEFAULT_REQUEUE_TIME": "1s"}
    program = real.pinned_program("argo-workflows")
    with (folder / "workflow-controller.log").open("wb") as log:
        process = subprocess.Popen([program, *flags], cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.kill()
            process.wait()
