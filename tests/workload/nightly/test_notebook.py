"""The notebook: it shows all runs of a model and user, and the notebooks of its image, to be changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from catalogue.usecases import PACKAGES
from packyard.writing.source.package import Package, UseCase
from workload import catalogue, deploy
from workload.cluster import Cluster
from workload.nightly.test_use_cases import seen_from_here
from workload.objects import Object

NewCluster = Callable[[list[Object]], Cluster]

NOTEBOOKS = [
    pytest.param(package, use_case, id=f"{package.name}/{use_case.path}")
    for package in PACKAGES
    for use_case in package.use_cases
    if use_case.base == "notebook"
]
each_notebook = pytest.mark.parametrize(("package", "use_case"), NOTEBOOKS)


def root_dir(record: dict[str, Any]) -> str:
    """Return the directory that Jupyter shows."""
    (found,) = [word.partition("=")[2] for word in record["argv"] if word.startswith("--ServerApp.root_dir=")]
    return str(found)


@pytest.mark.nightly
@each_notebook
def test_it_shows_the_directory_that_holds_the_results_of_every_run(package: Package, use_case: UseCase) -> None:
    """Whatever the runs are called, and where the claim is mounted."""
    values = {"PVC_PATH": "/mnt/disk", "MODEL_NAME": "mine"}
    (shown,) = deploy.of_kind(catalogue.set_objects(package, use_case, **values), "Deployment")
    (container,) = shown["spec"]["template"]["spec"]["containers"]
    (log_dir,) = [each["value"] for each in container["env"] if each["name"] == "LOGDIR"]
    assert "--ServerApp.root_dir=$(LOGDIR)" in container["command"]
    for training in package.use_cases:
        for name in ("one", "two") if training.base == "mpi-job" else ():
            objects = catalogue.set_objects(package, training, RUN_NAME=name, **values)
            (config,) = [item for item in deploy.of_kind(objects, "ConfigMap") if "OUTPUT_DIR" in item["data"]]
            assert config["data"]["OUTPUT_DIR"].startswith(f"{log_dir}/{name}/")


@each_notebook
def test_it_copies_the_notebooks_of_its_image_once(
    package: Package, use_case: UseCase, new_cluster: NewCluster
) -> None:
    objects = catalogue.set_objects(package, use_case)
    cluster = new_cluster(objects)
    cluster.put("/notebooks/view.ipynb", b"as shipped")
    (shown,) = deploy.of_kind(objects, "Deployment")
    (first,) = deploy.run_pods(cluster, shown)
    cluster.wait_ready(first)
    (record,) = first.records
    copied = seen_from_here(first, root_dir(record)) / "notebooks/view.ipynb"
    assert copied.read_bytes() == b"as shipped"
    assert copied.stat().st_uid == catalogue.USER
    copied.write_bytes(b"changed")
    (second,) = deploy.run_pods(cluster, shown)
    cluster.wait_ready(second)
    assert copied.read_bytes() == b"changed"
