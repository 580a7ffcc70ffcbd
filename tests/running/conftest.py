"""A real control plane, and packages of the catalogue that are untarred, for verbs that meet a cluster."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import real
from controlplane.api import Api, Object, wait
from packyard.core.kubernetes.operators import OPERATORS
from packyard.running.runs import kubectl
from packyard.running.runs.kubectl import Kubectl
from packyard.writing.build.draft import compose_draft
from packyard.writing.source import workspace
from running import patients


@pytest.fixture(autouse=True)
def _kubectl(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs that meet a cluster find kubectl on PATH, and what its own verb ``diff`` starts."""
    if {"api_server", "kubectl"}.intersection(request.fixturenames):
        monkeypatch.setenv("PATH", real.path_with("kubectl", "diff"))


@pytest.fixture
def namespace(cluster: Api) -> str:
    """A new namespace, with the account that pods have there."""
    name = cluster.create_namespace("restricted")
    wait(lambda: [] if cluster.list("v1", "ServiceAccount", name) else [f"no account in {name}"])
    return name


@pytest.fixture
def client(cluster: Api, namespace: str) -> Kubectl:
    """kubectl as the administrator of the control plane, held to the namespace."""
    config = str(cluster.folder / "kubeconfig")
    return kubectl.find(os.environ["PATH"], kubeconfig=config, namespace=namespace)


@pytest.fixture
def flags(cluster: Api, namespace: str) -> tuple[str, ...]:
    """What names the cluster and the namespace to a verb."""
    return (f"--namespace={namespace}", f"--kubeconfig={cluster.folder / 'kubeconfig'}")


@pytest.fixture
def untarred(tmp_path: Path) -> Callable[[str], Path]:
    """Call it with the name of a package of the catalogue: it is built and untarred, and its use cases are there."""
    catalogue = workspace.read(real.REPOSITORY)
    return lambda name: compose_draft(catalogue, "1.0.0", name).bundle().unpack(tmp_path) / "quickstart/mlops"


@pytest.fixture
def operated(cluster: Api) -> Api:
    """The cluster with two nodes, and a Deployment for each operator that does nothing: the operators are processes."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "operators"}}
    taints = [{"key": "test.example/second", "effect": "NoSchedule"}]
    second = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "second"}, "spec": {"taints": taints}}
    for item in (namespace, second, *(patients.running(each, each.tested) for each in OPERATORS if each.tested)):
        answer = cluster.create(item, "operators")
        assert answer.status in (201, 409), answer.refusal
    wait(lambda: [str(item) for item in cluster.list("apps/v1", "Deployment", "operators") if not _is_up(item)])
    return cluster


def _is_up(item: Object) -> bool:
    return bool(item["status"].get("availableReplicas"))
