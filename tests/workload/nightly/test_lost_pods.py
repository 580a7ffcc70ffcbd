"""What becomes of a set of pods that hold on to each other, when one of them is lost.

Parameter servers and those that they serve wait for a lost one for ever, or for one that took its place and knows
nothing of them. So run.py, which starts their programs, has the whole set end, to start again from its checkpoints.
Workers of MultiWorkerMirroredStrategy end by themselves: tests/frameworks sees TensorFlow do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalogue.usecases import CATALOGUE, PACKAGES
from packyard.writing.source.package import Package, UseCase
from workload import catalogue, deploy, zoo
from workload.cluster import Cluster
from workload.objects import Object

NewCluster = Callable[[list[Object]], Cluster]


def _kustomizations(folder: Path) -> Iterator[Path]:
    """Yield a base and those that it builds on."""
    yield folder
    for resource in yaml.safe_load((folder / "kustomization.yaml").read_bytes()).get("resources", []):
        if (folder / resource).is_dir():
            yield from _kustomizations((folder / resource).resolve())


def _is_set(use_case: UseCase) -> bool:
    folders = _kustomizations(CATALOGUE.root_dir / "bases" / use_case.base)
    text = "".join(file.read_text() for folder in folders for file in folder.glob("*.yaml"))
    return all(word in text for word in ("completionMode", "Indexed", "/scripts/run.py"))


#: One use case of each package and base; the others differ in their storage.
SETS = {
    (package.name, use_case.base): pytest.param(package, use_case, id=f"{package.name}/{use_case.path}")
    for package in PACKAGES
    for use_case in package.use_cases
    if _is_set(use_case)
}


@pytest.mark.parametrize(("package", "use_case"), SETS.values())
def test_a_lost_pod_ends_those_that_hold_on_to_it_and_all_start_again(
    package: Package, use_case: UseCase, new_cluster: NewCluster
) -> None:
    objects = catalogue.set_objects(package, use_case)
    cluster = new_cluster(objects)
    zoo.store_copies(cluster, deploy.jobs_of(cluster, objects))
    loses_one(cluster, objects)


def loses_one(cluster: Cluster, objects: list[Object]) -> None:
    """Start the pods of all Indexed Jobs, kill the last when their programs run, and see what the others do."""
    cluster.hold = True
    jobs, later = (
        [job for job in deploy.jobs_of(cluster, objects, restarts) if job["spec"].get("completionMode") == "Indexed"]
        for restarts in (0, 1)
    )
    pods = [pod for job in jobs for pod in deploy.run_pods(cluster, job)]
    deploy.wait_until(lambda: all(pod.records for pod in pods), pods)
    pods[-1].kill()
    cluster.hold = False
    for pod in pods[:-1]:
        assert pod.wait() != 0, pod.log
    for pod in pods:
        pod.release()
    for pod in [deploy.start_again(cluster, later, pod) for pod in pods]:
        assert pod.wait() == 0, pod.log


# Sets that are right, and that are not.

SERVICE = {
    "kind": "Service",
    "metadata": {"name": "svc"},
    "spec": {"clusterIP": "None", "selector": {"app": "set"}, "publishNotReadyAddresses": True},
}
WATCHES = """
import os, socket, subprocess, sys, time

def reaches(port):
    try:
        socket.create_connection((f"set-{1 - int(os.environ['JOB_COMPLETION_INDEX'])}.svc", port), 1).close()
        return True
    except OSError:
        return False

server = socket.create_server(("", 99), backlog=4096)
while not reaches(99):
    time.sleep(0.05)
process = subprocess.Popen(sys.argv[1:])
while process.poll() is None:
    if not reaches(99):
        process.kill()
        sys.exit(75)
    time.sleep(0.05)
done = socket.create_server(("", 100), backlog=4096)
while reaches(99) and not reaches(100):  # which waits for us likewise
    time.sleep(0.05)
sys.exit(process.returncode)
"""
DOES_NOT = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"


def job(script: str, policy: str) -> Object:
    container = {"name": "c", "command": ["python3", "-c", script, "python3", "/opt/program.py"]}
    spec: dict[str, Any] = {"subdomain": "svc", "restartPolicy": policy, "containers": [container]}
    template = {"metadata": {"labels": {"app": "set"}}, "spec": spec}
    return {
        "kind": "Job",
        "metadata": {"name": "set"},
        "spec": {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "template": template},
    }


@pytest.mark.parametrize("policy", ["OnFailure", "Never"])
def test_sees_a_set_that_ends_and_starts_again(policy: str, new_cluster: NewCluster) -> None:
    loses_one(new_cluster([SERVICE]), [job(WATCHES, policy)])


def test_sees_a_set_that_waits_for_ever(new_cluster: NewCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workload.pod.PATIENCE", 3.0)
    with pytest.raises(AssertionError, match="c does not end"):
        loses_one(new_cluster([SERVICE]), [job(DOES_NOT, "Never")])
