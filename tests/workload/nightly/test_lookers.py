"""TensorBoard, notebook and inspector look at all runs of their model and user, whatever a run is called.

That TensorBoard itself shows them is seen in tests/frameworks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

import pytest

from catalogue.usecases import PACKAGES
from packyard.writing.source.package import Package, UseCase
from workload import catalogue, controllers, deploy
from workload.cluster import Cluster
from workload.objects import Object

_BASES = ("tensorboard", "notebook", "inspector")
LOOKERS = [
    pytest.param(package, use_case, id=f"{package.name}/{use_case.path}")
    for package in PACKAGES
    for use_case in package.use_cases
    if use_case.base in _BASES
]
INSPECTORS = [each for each in LOOKERS if each.values[1].base == "inspector"]


@pytest.mark.nightly
@pytest.mark.parametrize(("package", "use_case"), LOOKERS)
def test_looks_at_every_run_of_a_user_and_at_nobody_elses(package: Package, use_case: UseCase) -> None:
    """In the same bucket, or from the directory of the user on, wherever a claim is mounted."""
    beside = [each for each in package.use_cases if each.base not in _BASES]
    for user in ("ann", "bob"):
        runs = [path for each in beside for name in ("one", "two") for path in results(package, each, user, name)]
        assert len(runs) > 1
        for seen in looked_at(package, use_case, user):
            found = [path for path in runs if "://" in path] if "://" in seen else [below(path, user) for path in runs]
            within = seen if "://" in seen else below(seen, user)
            assert [path for path in found if not path.startswith(f"{within}/")] == []


def below(path: str, user: str) -> str:
    """Return a path from the directory of the user on."""
    return path[path.index(f"/{user}/") :]


def looked_at(package: Package, use_case: UseCase, user: str) -> set[str]:
    """Return the directories below one with the name of the user."""
    objects = catalogue.set_objects(package, use_case, USER_NAME=user)
    workloads = deploy.of_kind(objects, "Deployment", "Pod")
    found = {text for text in texts(workloads) if re.fullmatch(rf"\S*/{user}/[^/]+", text)}
    assert found
    return found


def results(package: Package, use_case: UseCase, user: str, name: str) -> list[str]:
    """Return where a run of this name writes."""
    objects = catalogue.set_objects(package, use_case, USER_NAME=user, RUN_NAME=name)
    maps = [item["data"] for item in deploy.of_kind(objects, "ConfigMap") if "OUTPUT_DIR" in item.get("data", {})]
    return [data["OUTPUT_DIR"] for data in maps if f"/{name}/" in data["OUTPUT_DIR"]]


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.partition("=")[2] if value.startswith("-") else value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from texts(each)


@pytest.mark.parametrize(("package", "use_case"), INSPECTORS)
def test_a_shell_beside_the_results_finds_the_runs(
    package: Package, use_case: UseCase, new_cluster: Callable[[list[Object]], Cluster]
) -> None:
    """By the command that its file names, without kubectl, and what a user types into the shell."""
    objects = catalogue.set_objects(package, use_case)
    (pod,) = controllers.pod(*deploy.of_kind(objects, "Pod"))
    cluster = new_cluster(objects)
    (volume,) = [each for each in pod["spec"]["volumes"] if each["name"] == "storage"]
    (path,) = looked_at(package, use_case, "nobody-here")
    folder = cluster.storage(volume).joinpath(*PurePosixPath(path).parts[-2:])
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
    pod["spec"]["containers"][0]["command"] = ["sh", "-c", "cd $RUNS_DIR; ls; touch note && rm note"]
    started = cluster.start(pod)
    assert started.wait() == 0, started.log
    assert started.containers[0].log.split() == ["one", "two"]
