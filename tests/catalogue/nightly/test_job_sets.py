"""Every JobSet of the catalogue under its real controller and webhooks: where a pod fails, where all succeed.

So are those that Kubeflow Trainer makes of TrainJobs.

No scheduler takes the pods, so that they stay until a test says, as a kubelet would, what became of them.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import yaml

from catalogue.usecases import Object, level, of_bases, shipped
from controlplane.api import Api, wait
from packyard.writing.source.package import Package, UseCase
from real import Kustomize

_KINDS = ("JobSet", "TrainJob")
each_job_set = of_bases("job-set", "train-job")
#: What the API server says of a pod that is drained, preempted, or whose node is gone.
DISRUPTED = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
each_train_job = of_bases("train-job")


def edited(objects: list[Object], *, restarts: int | None = None) -> list[Object]:
    """Return objects whose pods nobody schedules, with the lines changed that a user changes by hand."""
    found: list[Object] = json.loads(json.dumps(objects))
    for spec in _job_set_specs(found):
        if restarts is not None:
            spec["failurePolicy"]["maxRestarts"] = restarts
        for role in spec["replicatedJobs"]:
            role["template"]["spec"]["template"]["spec"]["schedulerName"] = "nobody"
    return found


def _job_set_specs(objects: list[Object]) -> Iterator[Object]:
    for item in objects:
        if item["kind"] == "JobSet":
            yield item["spec"]
        elif item["kind"] == "TrainingRuntime":
            yield item["spec"]["template"]["spec"]


class Run:
    """A use case with a JobSet, applied in a namespace of its own."""

    def __init__(self, api: Api, package: Package, use_case: UseCase, *, restarts: int | None = None) -> None:
        directory = shipped(package, use_case)
        objects = edited(directory.set(directory.examples).parse(), restarts=restarts)
        self.api = api
        self.namespace = api.create_namespace(level(objects))
        api.create_all(sorted(objects, key=lambda item: item["kind"] == "JobSet"), self.namespace)
        (self.applied,) = (item for item in objects if item["kind"] in _KINDS)
        spec = self.applied["spec"]
        if self.applied["kind"] == "TrainJob":
            self.size = spec["trainer"]["numNodes"]
        else:
            self.size = sum(role["template"]["spec"]["completions"] for role in spec["replicatedJobs"])
        wait(lambda: [] if self.job_sets() else ["no JobSet"])

    def job_sets(self) -> list[Object]:
        return self.api.list("jobset.x-k8s.io/v1alpha2", "JobSet", self.namespace)

    def status(self) -> Object:
        (job_set,) = self.job_sets()
        status: Object = job_set.get("status", {})
        return status

    def pods(self) -> list[Object]:
        return self.api.list("v1", "Pod", self.namespace)

    def await_pods(self, before: list[Object]) -> list[Object]:
        """Return all pods when they are as many as they should be, and those of ``before`` are gone."""
        old = {pod["metadata"]["uid"] for pod in before}

        def left() -> list[str]:
            found = [pod["metadata"] for pod in self.pods()]
            is_new = len(found) == self.size and not old & {each["uid"] for each in found}
            return [] if is_new else [f"{each['name']} of {self.size}" for each in found] or ["no pod"]

        wait(left)
        return self.pods()

    def end(self, pod: Object, phase: str, **status: object) -> None:
        change = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod["metadata"]["name"]}}
        change["status"] = {"phase": phase, **status}
        self.api.merge(change, self.namespace, subresource="status").expect_done()

    def await_end(self, state: str) -> None:
        """Return when JobSet and TrainJob have come to an end, and no pod is left that has not."""
        wait(lambda: [] if self.status().get("terminalState") else [str(self.status())])
        assert self.status()["terminalState"] == state
        wait(lambda: [pod["metadata"]["name"] for pod in self.pods() if pod["status"]["phase"] == "Pending"])
        if self.applied["kind"] == "TrainJob":
            wait(lambda: [] if self.ends() else ["the TrainJob has not ended"])
            assert self.ends() == [state.replace("Completed", "Complete")]

    def ends(self) -> list[str]:
        """Return the end that a TrainJob says it has come to."""
        status = self.api.read(self.applied, self.namespace).expect_done().get("status", {})
        return [each["type"] for each in status.get("conditions", ()) if each["status"] == "True"]


def hosts(pods: list[Object]) -> list[str]:
    return sorted(f"{pod['spec']['hostname']}.{pod['spec']['subdomain']}" for pod in pods)


@each_job_set
def test_a_failed_pod_restarts_all_and_the_run_ends_with_all_workers(
    package: Package, use_case: UseCase, cluster: Api
) -> None:
    run = Run(cluster, package, use_case)
    first = run.await_pods([])
    run.end(first[-1], "Failed")
    second = run.await_pods(first)
    assert hosts(second) == hosts(first)
    assert run.status()["restarts"] == 1
    for pod in second:
        run.end(pod, "Succeeded")
    run.await_end("Completed")


@each_job_set
def test_a_run_fails_when_no_try_is_left_and_the_failed_pod_stays(
    package: Package, use_case: UseCase, cluster: Api
) -> None:
    run = Run(cluster, package, use_case, restarts=0)
    failed = run.await_pods([])[0]
    run.end(failed, "Failed")
    run.await_end("Failed")
    assert run.status().get("restarts", 0) == 0
    assert failed["metadata"]["uid"] in [pod["metadata"]["uid"] for pod in run.pods()]


@each_job_set
def test_a_pod_that_loses_its_node_restarts_all_and_counts_as_no_restart(
    package: Package, use_case: UseCase, cluster: Api
) -> None:
    run = Run(cluster, package, use_case, restarts=0)
    first = run.await_pods([])
    run.end(first[-1], "Failed", conditions=[DISRUPTED])
    run.await_pods(first)
    status = run.status()
    assert (status["restarts"], status.get("restartsCountTowardsMax", 0)) == (1, 0)


@each_train_job
def test_a_train_job_is_refused_until_its_runtime_is_there_and_taken_when_all_is_applied_again(
    package: Package, use_case: UseCase, cluster: Api, kustomize5: Kustomize, kubectl: Path
) -> None:
    directory = shipped(package, use_case)
    namespace = cluster.create_namespace(level(directory.parse()))
    objects = edited(directory.set(directory.examples).build(kustomize5, namespace))

    def apply() -> str:
        command = [kubectl, f"--kubeconfig={cluster.folder / 'kubeconfig'}", "apply", "-f", "-"]
        done = subprocess.run(command, input=yaml.safe_dump_all(objects), capture_output=True, text=True)
        assert (done.returncode == 0) is (done.stderr == "")
        return done.stderr

    (refusal,) = apply().splitlines()
    assert "specified trainingRuntime must be created before the TrainJob is created" in refusal
    wait(lambda: apply().splitlines())
    wait(lambda: [] if cluster.list("v1", "Pod", namespace) else ["no pod"])
