"""Every JobSet of the catalogue under its real controller and webhooks: where a pod fails, where all succeed.

No scheduler takes the pods, so that they stay until a test says, as a kubelet would, what became of them.
"""

from __future__ import annotations

import pytest

from controlplane.api import Api, wait
from packyard.source.package import Package, UseCase
from usecases import PACKAGES, Object, level, shipped

_ROLE = "jobset.sigs.k8s.io/replicatedjob-name"
#: One use case of each package and base; the others differ in their storage.
USE_CASES = {
    (package.name, each.base): pytest.param(package, each, id=f"{package.name}/{each.path}")
    for package in PACKAGES
    for each in package.use_cases
    if any(item["kind"] == "JobSet" for item in shipped(package, each).parse())
}
each_job_set = pytest.mark.parametrize(("package", "use_case"), USE_CASES.values())


class Run:
    """A use case with a JobSet, applied in a namespace of its own."""

    def __init__(self, api: Api, package: Package, use_case: UseCase, **values: str) -> None:
        directory = shipped(package, use_case)
        objects = directory.set({**directory.examples, "SCHEDULER_NAME": "nobody", **values}).parse()
        self.api = api
        self.namespace = api.create_namespace(level(objects))
        for item in sorted(objects, key=lambda item: item["kind"] == "JobSet"):
            api.create(item, self.namespace).expect_done()
        (self.job_set,) = (item for item in objects if item["kind"] == "JobSet")
        roles = self.job_set["spec"]["replicatedJobs"]
        self.size = sum(role["template"]["spec"]["completions"] for role in roles)

    def status(self) -> Object:
        status: Object = self.api.read(self.job_set, self.namespace).expect_done().get("status", {})
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

    def end(self, pod: Object, phase: str) -> None:
        change = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod["metadata"]["name"]}}
        self.api.merge({**change, "status": {"phase": phase}}, self.namespace, subresource="status").expect_done()

    def await_end(self, state: str) -> None:
        """Return when the JobSet has come to an end, and no pod is left that has not."""
        wait(lambda: [] if self.status().get("terminalState") else [str(self.status())])
        assert self.status()["terminalState"] == state
        wait(lambda: [pod["metadata"]["name"] for pod in self.pods() if pod["status"]["phase"] == "Pending"])


def hosts(pods: list[Object]) -> list[str]:
    return sorted(f"{pod['spec']['hostname']}.{pod['spec']['subdomain']}" for pod in pods)


@each_job_set
def test_a_failed_pod_restarts_all_and_the_run_ends_with_its_workers(
    package: Package, use_case: UseCase, cluster: Api
) -> None:
    run = Run(cluster, package, use_case)
    first = run.await_pods([])
    run.end(first[-1], "Failed")
    second = run.await_pods(first)
    assert hosts(second) == hosts(first)
    assert run.status()["restarts"] == 1
    for pod in second:
        if pod["metadata"]["labels"][_ROLE] != "ps":
            run.end(pod, "Succeeded")
    run.await_end("Completed")


@each_job_set
def test_a_run_fails_when_no_try_is_left_and_the_failed_pod_stays(
    package: Package, use_case: UseCase, cluster: Api
) -> None:
    run = Run(cluster, package, use_case, BACKOFF_LIMIT="0")
    failed = run.await_pods([])[0]
    run.end(failed, "Failed")
    run.await_end("Failed")
    assert run.status().get("restarts", 0) == 0
    assert failed["metadata"]["uid"] in [pod["metadata"]["uid"] for pod in run.pods()]


@each_job_set
def test_a_run_that_takes_too_long_is_not_tried_again(package: Package, use_case: UseCase, cluster: Api) -> None:
    run = Run(cluster, package, use_case, DEADLINE_SECONDS="1")
    run.await_end("Failed")
    assert run.status().get("restarts", 0) == 0
