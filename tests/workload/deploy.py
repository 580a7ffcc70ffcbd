"""Applying the objects of a use case: the controllers make pods of its workloads, and the node starts them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workload import controllers
from workload.cluster import Cluster
from workload.objects import Object
from workload.pod import PATIENCE, Pod

_CONTROLLERS = {"Job": controllers.job, "Deployment": controllers.deployment, "Pod": controllers.pod}


@dataclass(frozen=True)
class MpiRun:
    """The pods of an MPIJob, all started."""

    launcher: Pod
    workers: list[Pod]

    @property
    def ranks(self) -> list[dict[str, Any]]:
        """What each process that mpirun started noted, in the order of their numbers."""
        records = [record for worker in self.workers for record in worker.records]
        return sorted(records, key=lambda record: int(record["environment"]["OMPI_COMM_WORLD_RANK"]))

    @property
    def log(self) -> str:
        return "".join(pod.log for pod in [self.launcher, *self.workers])


def run_mpi_job(cluster: Cluster, job: Object) -> MpiRun:
    """Start the workers of an MPIJob and, once they are ready, its launcher."""
    made = controllers.mpi_job(job)
    cluster.objects.apply(made.objects)
    cluster.install([*made.workers, made.launcher])
    workers = [cluster.start(worker) for worker in made.workers]
    if job["spec"].get("launcherCreationPolicy") == "WaitForWorkersReady":
        cluster.wait_ready(*workers)
    return MpiRun(cluster.start(made.launcher), workers)


def jobs_of(cluster: Cluster, objects: Sequence[Object], restarts: int = 0) -> list[Object]:
    """Return the Jobs among some objects and those that JobSets make, at first or after so many restarts.

    Of a TrainJob the JobSet is made first.
    """
    found = of_kind(objects, "Job")
    runtimes = of_kind(objects, "TrainingRuntime")
    made = [controllers.train_job(item, runtimes) for item in of_kind(objects, "TrainJob")]
    for item in [*of_kind(objects, "JobSet"), *made]:
        services, jobs = controllers.job_set(item, restarts)
        cluster.objects.apply(services)
        found += jobs
    return found


def run_torch_job(cluster: Cluster, item: Object) -> list[Pod]:
    """Start all pods of a PyTorchJob."""
    services, described = controllers.torch_job(item)
    cluster.objects.apply(services)
    cluster.install(described)
    return [cluster.start(pod) for pod in described]


def run_pods(cluster: Cluster, item: Object) -> list[Pod]:
    """Start all pods of a workload of Kubernetes' own; of a Job with a ``parallelism`` so many at a time."""
    described = _CONTROLLERS[item["kind"]](item)
    cluster.install(described)
    at_a_time = item["spec"].get("parallelism", 1) if item["kind"] == "Job" else len(described)
    started: list[Pod] = []
    for pod in described:
        wait_until(lambda: sum(not each.has_ended for each in started) < at_a_time, started)
        started.append(cluster.start(pod))
    return started


def wait_until(condition: Callable[[], bool], pods: Sequence[Pod], *, seconds: float = PATIENCE) -> None:
    """Wait for something that pods do; where they do not, the test fails with what they said."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "".join(pod.log for pod in pods)
        time.sleep(0.05)


def run_workflow(cluster: Cluster, item: Object) -> list[Pod]:
    """Run the steps of an Argo Workflow until one fails for good, and return all pods, those of failed tries too."""
    templates = {template["name"]: template for template in item["spec"]["templates"]}
    pods: list[Pod] = []
    for (step,) in templates[item["spec"]["entrypoint"]]["steps"]:
        template = templates[step["template"]]
        for tries in range(int(template.get("retryStrategy", {}).get("limit", 0)) + 1):
            described = controllers.workflow_pod(item, step, len(pods), tries)
            cluster.install([described])
            pods.append(cluster.start(described))
            if pods[-1].wait() == 0:
                break
        else:
            return pods
    return pods


def start_again(cluster: Cluster, jobs: Sequence[Object], pod: Pod) -> Pod:
    """Do with a pod that failed what its kubelet does, or else its Indexed Job; return the pod in its place.

    A pod of a JobSet is replaced, failed or not, by that of a Job among ``jobs`` that the JobSet has made anew.
    """
    if pod.described["spec"]["restartPolicy"] == "OnFailure":
        cluster.restart(pod)
        return pod
    labels = pod.described["metadata"]["labels"]
    (job,) = [item for item in jobs if item["metadata"]["name"] == labels["batch.kubernetes.io/job-name"]]
    index = int(labels["batch.kubernetes.io/job-completion-index"])
    return cluster.start(controllers.indexed_pod(job, index, suffix=f"again{len(cluster.pods)}"))


def of_kind(objects: Sequence[Object], *kinds: str) -> list[Object]:
    """Return the objects of these kinds, in their order."""
    return [item for item in objects if item["kind"] in kinds]
