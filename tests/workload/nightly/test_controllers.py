"""Our controllers make the pods that the real ones make: mpi-operator, training-operator, JobSet, Trainer and Jobs'."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from catalogue.usecases import PACKAGES, level, shipped
from controlplane.api import Api, wait
from packyard.writing.source.package import Package, UseCase
from workload import catalogue, controllers, deploy
from workload.objects import Object


def missing(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """Yield what we say and they do not; what they have besides are defaults, and lists are as long as theirs."""
    if isinstance(ours, dict):
        for key, value in ours.items():
            if value not in (None, "", [], {}, False):
                other = (theirs or {}).get(key)
                if key == "tolerations":  # the server adds two of its own
                    other = other and other[: len(value)]
                yield from missing(value, other, f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from missing(mine, other, f"{path}[{number}]")
    elif str(ours) != str(theirs):
        yield f"{path}: {ours!r} is {theirs!r}"


def pods(api: Api, namespace: str, count: int) -> list[Object]:
    """Return the pods of a namespace by their host name, when there are ``count``."""
    return sorted(await_list(lambda: api.list("v1", "Pod", namespace), count), key=lambda pod: pod["spec"]["hostname"])


def await_list(read: Callable[[], list[Object]], count: int) -> list[Object]:
    wait(lambda: [] if len(found := read()) >= count else [f"{count} are to be there", *map(str, found)])
    return read()


def apply(api: Api, objects: list[Object], namespace: str) -> None:
    api.create_all([{**item, "metadata": {**item["metadata"], "namespace": namespace}} for item in objects], namespace)


def first(judge: Callable[[list[Object]], bool]) -> tuple[Package, UseCase]:
    """Return the first use case of the catalogue whose objects pass."""
    found = ((package, each) for package in PACKAGES for each in package.use_cases)
    return next(each for each in found if judge(shipped(*each).parse()))


def test_pods_of_an_mpi_job_are_those_of_the_operator(cluster: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    package, use_case = first(lambda objects: bool(deploy.of_kind(objects, "MPIJob")))
    namespace = cluster.create_namespace(level(shipped(package, use_case).parse()))
    monkeypatch.setattr(controllers, "NAMESPACE", namespace)
    objects = catalogue.set_objects(package, use_case)
    claims = deploy.of_kind(objects, "PersistentVolumeClaim")
    (job,) = deploy.of_kind(objects, "MPIJob")
    job["spec"]["launcherCreationPolicy"] = "AtStartup"  # its workers cannot be ready without their storage
    job["spec"]["runPolicy"]["cleanPodPolicy"] = "None"
    expected = controllers.mpi_job(deepcopy(job))
    apply(cluster, [item for item in objects if item not in claims], namespace)
    theirs = pods(cluster, namespace, len(expected.workers) + 1)
    ours = [expected.launcher, *expected.workers]
    for mine, other in zip(ours, theirs, strict=True):
        assert list(missing({**mine, "metadata": {**mine["metadata"], "name": ""}}, other)) == []
    for item in expected.objects:
        other = cluster.read(item, namespace).expect_done()
        if item["kind"] == "Secret":
            item["data"], other["data"] = forms(item["data"]), forms(other["data"])
        if item["kind"] == "ConfigMap":
            del item["data"]["discover_hosts.sh"]  # grows with the workers that run
            assert "discover_hosts.sh" in other["data"]
        assert list(missing(item, other)) == []


def forms(data: dict[str, str]) -> dict[str, list[str]]:
    """Return of each key what is not the key itself: its words, where they are not long."""
    texts = {name: base64.b64decode(text).decode() for name, text in data.items()}
    return {name: [word for word in text.split() if len(word) < 30] for name, text in texts.items()}


INDEXED_JOB: Object = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "set"},
    "spec": {
        "completionMode": "Indexed",
        "completions": 2,
        "parallelism": 2,
        "template": {
            "metadata": {"labels": {"app": "set"}, "annotations": {"a": "b"}},
            "spec": {
                "restartPolicy": "Never",
                "subdomain": "svc",
                "initContainers": [{"name": "i", "image": "x", "command": ["true"]}],
                "containers": [{"name": "c", "image": "x", "command": ["true"], "env": [{"name": "A", "value": "b"}]}],
            },
        },
    },
}


@pytest.mark.parametrize("mode", ["Indexed", "NonIndexed"])
def test_pods_of_a_job_are_those_of_its_controller(mode: str, cluster: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    namespace = cluster.create_namespace("privileged")
    monkeypatch.setattr(controllers, "NAMESPACE", namespace)
    job = deepcopy(INDEXED_JOB)
    if mode == "NonIndexed":
        job["spec"] |= {"completionMode": mode, "completions": 1, "parallelism": 1}
    expected = controllers.job(deepcopy(job))
    apply(cluster, [job], namespace)
    theirs = await_list(lambda: cluster.list("v1", "Pod", namespace), len(expected))
    theirs.sort(key=lambda pod: str(pod["spec"].get("hostname")))
    for mine, other in zip(expected, theirs, strict=True):
        name = mine["metadata"].pop("name")
        assert other["metadata"]["name"].startswith(name.removesuffix("x7k2p"))
        assert list(missing(mine, other)) == []


@pytest.mark.parametrize("kind", ["JobSet", "TrainJob"])
def test_pods_of_a_job_set_are_those_of_its_controller(
    kind: str, cluster: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, use_case = first(lambda objects: bool(deploy.of_kind(objects, kind)) and len(roles(objects)) != 1)
    namespace = cluster.create_namespace(level(shipped(package, use_case).parse()))
    monkeypatch.setattr(controllers, "NAMESPACE", namespace)
    objects = catalogue.set_objects(package, use_case)
    (item,) = deploy.of_kind(objects, kind)
    if kind == "TrainJob":
        item = controllers.train_job(item, deploy.of_kind(objects, "TrainingRuntime"))
    services, jobs = controllers.job_set(deepcopy(item))
    expected = [pod for job in jobs for pod in controllers.job(job)]
    apply(cluster, objects, namespace)
    theirs = pods(cluster, namespace, len(expected))
    assert len(theirs) == len(expected)
    for mine, other in zip(sorted(expected, key=lambda pod: pod["spec"]["hostname"]), theirs, strict=True):
        name = mine["metadata"].pop("name")
        assert other["metadata"]["name"].startswith(name.removesuffix("x7k2p"))
        assert list(missing(mine, other)) == []
    for other in [item, *services]:
        assert list(missing(other, cluster.read(other, namespace).expect_done())) == []


def test_pods_of_a_torch_job_are_those_of_its_operator(cluster: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    package, use_case = first(lambda objects: bool(deploy.of_kind(objects, "PyTorchJob")))
    namespace = cluster.create_namespace("restricted")
    monkeypatch.setattr(controllers, "NAMESPACE", namespace)
    objects = catalogue.set_objects(package, use_case)
    (item,) = deploy.of_kind(objects, "PyTorchJob")
    services, expected = controllers.torch_job(item)
    apply(cluster, objects, namespace)
    theirs = await_list(lambda: cluster.list("v1", "Pod", namespace), len(expected))
    for mine, other in zip(expected, sorted(theirs, key=lambda pod: pod["metadata"]["name"]), strict=True):
        assert list(missing(mine, other)) == []
    await_list(lambda: [each for each in services if cluster.read(each, namespace).status == 200], len(services))
    for service in services:
        assert list(missing(service, cluster.read(service, namespace).expect_done())) == []


def roles(objects: list[Object]) -> list[Object]:
    return [role for item in deploy.of_kind(objects, "JobSet") for role in item["spec"]["replicatedJobs"]]
