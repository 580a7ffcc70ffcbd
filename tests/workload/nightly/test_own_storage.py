"""A claim whose driver leaves its group alone, as that of FSx does: runs fail there until own-storage has run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from catalogue.usecases import PACKAGES, shipped
from workload import catalogue, deploy, zoo
from workload.cluster import Cluster
from workload.objects import Object
from workload.pod import Pod

NewCluster = Callable[[list[Object]], Cluster]

USE_CASES = {f"{item.name}/{each.path}": (item, each) for item in PACKAGES for each in item.use_cases}
OWNERS = [name for name in USE_CASES if "/own-storage/" in name]
TRAINING = "resnet50v1-5-fp32-training-k8s/single-node/user-allocated-pvc"


def start(name: str, cluster: Cluster) -> Pod:
    """Start the one pod of a use case's Job."""
    objects = catalogue.set_objects(*USE_CASES[name])
    cluster.objects.apply(objects)
    (pod,) = deploy.run_pods(cluster, *deploy.of_kind(objects, "Job"))
    return pod


def claim(cluster: Cluster) -> Path:
    """Return the claim, which belongs to root, as its driver made it."""
    (volume,) = [each for each in volumes(TRAINING) if each["name"] == "storage"]
    return cluster.storage(volume)


def volumes(name: str) -> list[Object]:
    (job,) = deploy.of_kind(catalogue.set_objects(*USE_CASES[name]), "Job")
    found = job["spec"]["template"]["spec"]["volumes"]
    assert isinstance(found, list)
    return found


def test_a_run_can_write_once_own_storage_gave_its_directory_to_the_group(new_cluster: NewCluster) -> None:
    cluster = new_cluster([])
    cluster.applies_fs_group = False
    with pytest.raises(AssertionError, match=r"init container create-output-dir failed:\n.*Permission denied"):
        start(TRAINING, cluster)
    given = start(TRAINING.replace("single-node", "own-storage"), cluster)
    assert given.wait() == 0, given.log
    trained = start(TRAINING, cluster)
    assert trained.wait() == 0, trained.log
    assert [path.name for path in claim(cluster).iterdir()] == ["nobody-here"]


def test_staging_can_write_where_own_storage_gave_the_group_that_directory_too(new_cluster: NewCluster) -> None:
    staging = "mask-rcnn-fp32-training-k8s/staging/user-allocated-pvc"
    cluster = new_cluster([])
    cluster.applies_fs_group = False
    zoo.furnish(cluster)
    refused = start(staging, cluster)
    assert refused.wait() != 0
    assert "Permission denied" in refused.log
    given = start(staging.replace("staging", "own-storage"), cluster)
    assert given.wait() == 0, given.log
    copied = start(staging, cluster)
    assert copied.wait() == 0, copied.log


@pytest.mark.parametrize("name", OWNERS)
def test_gives_a_directory_and_takes_no_right_from_anybody(name: str, new_cluster: NewCluster) -> None:
    cluster = new_cluster([])
    cluster.applies_fs_group = False
    (volume,) = volumes(name)
    (job,) = deploy.of_kind(catalogue.set_objects(*USE_CASES[name]), "Job")
    directory = cluster.storage(volume) / "nobody-here"
    (directory / "old").mkdir(parents=True)
    directory.chmod(0o755)
    for _ in range(2):
        (pod,) = deploy.run_pods(cluster, job)
        assert pod.wait() == 0, pod.log
        found, old = directory.stat(), (directory / "old").stat()
        assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == (0, catalogue.FS_GROUP, 0o2775)
        assert (old.st_uid, old.st_gid) == (0, 0)


@pytest.mark.nightly
def test_every_package_that_writes_to_a_claim_has_it() -> None:
    writing = {name for name, each in USE_CASES.items() if {"PVC_NAME", "OUTPUT_DIR"} <= shipped(*each).setters.keys()}
    assert {name.split("/")[0] for name in OWNERS} == {name.split("/")[0] for name in writing}
