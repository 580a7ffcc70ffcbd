"""What packages need installed, and what is said of it: of clusters that are as tests say, and of a real one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from packyard.running.doctor.prerequisites import Prerequisite

from controlplane import people
from controlplane.api import Api
from packyard.running.doctor import prerequisites
from packyard.running.doctor.facts import Facts
from packyard.using.render import every
from tiny import done, packyard

JOB_SET = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "a"}}
DEFINITION = {"kind": "CustomResourceDefinition", "metadata": {"name": "jobsets.jobset.x-k8s.io"}}


def deployment(image: str, available: int = 1) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "jobset-controller-manager", "namespace": "jobset-system"},
        "spec": {"template": {"spec": {"containers": [{"name": "manager", "image": image}]}}},
        "status": {"availableReplicas": available},
    }


def node(**amounts: str) -> dict[str, Any]:
    return {
        "kind": "Node",
        "status": {"allocatable": {"cpu": "8", **{f"nvidia.com/{key}": amounts[key] for key in amounts}}},
    }


RELEASE = "registry.k8s.io/jobset/jobset:v0.8.0"
STATES = {
    "well": ([DEFINITION], [deployment(RELEASE)], "passed", "0.8.0 runs"),
    "newer, from a mirror": ([DEFINITION], [deployment("mirror.example/x/jobset:v0.10.1")], "passed", "0.10.1 runs"),
    "newer than what was tried": (
        [DEFINITION],
        [deployment("registry.k8s.io/jobset/jobset:v0.13.0")],
        "warning",
        "v0.13.0: is newer than 0.12, the newest that was tried",
    ),
    "no kinds": ([], [deployment(RELEASE)], "error", "is missing: there is no CustomResourceDefinition jobsets.jobset"),
    "nobody": ([DEFINITION], [], "warning", "no Deployment of this cluster runs it"),
    "too old": ([DEFINITION], [deployment("registry.k8s.io/jobset/jobset:v0.7.1")], "error", "v0.7.1: is too old"),
    "not alive": (
        [DEFINITION],
        [deployment(RELEASE, 0)],
        "error",
        "v0.8.0: no pod of Deployment jobset-system/jobset-controller-manager is ready",
    ),
    "one of two": (
        [DEFINITION],
        [deployment(RELEASE), deployment(RELEASE, 0)],
        "error",
        "v0.8.0: no pod of Deployment jobset-system/",
    ),
    "no version": (
        [DEFINITION],
        [deployment("x.example/jobset:main")],
        "unknown",
        "main: the image of Deployment jobset-system/jobset-controller-manager does not tell",
    ),
}


@pytest.mark.parametrize(("definitions", "deployments", "severity", "message"), STATES.values(), ids=STATES)
def test_the_state_of_an_operator(definitions: list[Any], deployments: list[Any], severity: str, message: str) -> None:
    objects = {"CustomResourceDefinition": definitions, "Deployment": deployments}
    (item,) = prerequisites.find([("a", ".", [JOB_SET], ())])
    found = state(item, Facts(namespace="", objects=objects))
    assert found[0] == severity
    assert message in found[1]


def state(item: Prerequisite, known: Facts) -> tuple[str, str]:
    found = prerequisites.judge(item, known)
    return found.severity, found.message


def test_the_state_of_devices_and_of_what_may_not_be_seen() -> None:
    container = {"name": "a", "image": "a", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [container]}}
    (item,) = prerequisites.find([("a", ".", [pod], ()), ("b", ".", [pod], ())])
    assert (item.name, item.packages) == ("NVIDIA device plugin", ["a", "b"])
    nodes = [node(), node(gpu="0"), node(gpu="8")]
    assert state(item, Facts(namespace="", objects={"Node": nodes})) == ("passed", "1 of 3 nodes have nvidia.com/gpu")
    assert state(item, Facts(namespace="", objects={"Node": nodes[:2]})) == (
        "error",
        "none of 2 nodes has nvidia.com/gpu",
    )
    unread = Facts(namespace="", unread={"nodes": 'User "ann" cannot list resource "nodes"'})
    assert state(item, unread) == ("unknown", 'you may not look: User "ann" cannot list resource "nodes"')


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder that is no package of packyard's, with what no operator of the table offers."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    volume = {"name": "data", "csi": {"driver": "csi.example"}}
    pod = {
        "volumes": [volume],
        "containers": [{"name": "a", "image": "a", "resources": {"limits": {"nvidia.com/gpu": 1}}}],
    }
    items = [
        {"apiVersion": "example.com/v1", "kind": "Train", "metadata": {"name": "a"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": pod},
        {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "a"}},
    ]
    (folder / "all.yaml").write_text(yaml.safe_dump_all(items))
    (folder / "kustomization.yaml").write_text("resources: [all.yaml]\n")
    return folder


def test_a_real_cluster_is_asked_and_what_it_lacks_is_an_exit_code(
    foreign: Path, cluster: Api, namespace: str, tmp_path: Path
) -> None:
    flags = ("--kubeconfig", cluster.folder / "kubeconfig", "-n", namespace)
    told = packyard("prerequisites", foreign, *flags, "-o", "json")
    assert told.returncode == 1
    assert told.stderr.splitlines()[0] == f"context test, namespace {namespace}"
    found = {item["name"]: item for item in json.loads(told.stdout)}
    assert list(found) == ["MPI operator", "NVIDIA device plugin", "csi.example", "trains.example.com"]
    assert found["csi.example"]["message"] == "is missing: there is no CSIDriver csi.example"
    assert found["trains.example.com"]["state"] == "error"
    assert "is missing" not in found["MPI operator"]["message"]
    config = people.kubeconfig(cluster, namespace, namespace, tmp_path)
    told = packyard("prerequisites", foreign, "--kubeconfig", config, "-o", "json")
    assert told.returncode == 0
    assert {(item["state"], item["message"][:16]) for item in json.loads(told.stdout)} == {
        ("unknown", "you may not look")
    }


@pytest.mark.nightly
def test_commands_are_printed_in_full_and_no_cluster_is_needed(
    untarred: Callable[[str], Path], foreign: Path, tmp_path: Path
) -> None:
    text = done("prerequisites", untarred("rfcn-fp32-inference-k8s"), "--offline")
    versions = "3.4 or later (tried up to 3.7)"
    assert text.splitlines()[-3:-1] == [f"# Argo Workflows {versions}", "kubectl create namespace argo"]
    assert "releases/download/v3.7.0/install.yaml\n" in text
    told = packyard("prerequisites", foreign, KUBECONFIG=str(tmp_path / "none"))
    assert told.returncode == 0
    assert "so no state is known" in told.stderr
    assert (told.stderr.count("warning: "), told.stderr.count("error: ")) == (1, 0)
    assert "# csi.example: ask who made the package" in told.stdout
    told = packyard("prerequisites", foreign, "--kubeconfig", tmp_path / "none")
    assert (told.returncode, told.stdout) == (1, "")
    claim = untarred("mnist-fp32-training-k8s") / "first-run"
    told = packyard("prerequisites", claim, "--offline")
    assert (told.stdout, told.stderr) == ("", "nothing has to be installed for these packages\n")


@pytest.mark.usefixtures("kubectl")
def test_a_context_that_is_not_there_is_refused(foreign: Path) -> None:
    assert packyard("prerequisites", foreign, "--context", "nowhere").returncode == 1


@pytest.mark.nightly
def test_options_that_are_enabled_count(untarred: Callable[[str], Path]) -> None:
    directory = untarred("mnist-fp32-training-k8s") / "multi-node-job-set/user-allocated-pvc"
    before = prerequisites.find([("a", path, found, ()) for path, found in every.drafts(directory, path="").items()])
    done("enable", directory, "gpus")
    after = prerequisites.find([("a", path, found, ()) for path, found in every.drafts(directory, path="").items()])
    assert [item.name for item in after] == [*(item.name for item in before), "NVIDIA device plugin"]
