"""Runs that come to their end in an order: an MPIJob, whose mpirun reaches its workers by sshd, and a Workflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workload import controllers
from workload.environment import Object
from workload.machine import Machine, Pod


@dataclass(frozen=True)
class Run:
    """The pods of an MPIJob, all started."""

    launcher: Pod
    workers: list[Pod]

    @property
    def ranks(self) -> list[dict[str, Any]]:
        """What each process that mpirun started noted, in the order of their numbers."""
        records = [record for worker in self.workers for record in worker.records()]
        return sorted(records, key=lambda record: int(record["environment"]["OMPI_COMM_WORLD_RANK"]))

    @property
    def log(self) -> str:
        return "".join(pod.log for pod in [self.launcher, *self.workers])


def run_mpi_job(machine: Machine, job: Object) -> Run:
    """Start the workers of an MPIJob and, once they are ready, its launcher."""
    added, (launcher, *workers) = controllers.mpi_job(job)
    machine.objects += added
    machine.image.install([launcher, *workers], machine.objects)
    started = [machine.start(worker) for worker in workers]
    machine.wait_ready(*started)
    return Run(machine.start(launcher), started)


def run_workflow(machine: Machine, workflow: Object) -> list[tuple[Pod, int]]:
    """Run the steps of a Workflow until one fails for good; return the pods of all tries with their exit codes."""
    ended: list[tuple[Pod, int]] = []
    for described, limit in controllers.steps(workflow):
        machine.image.install([described], machine.objects)
        for _ in range(limit + 1):
            pod = machine.start(described)
            ended.append((pod, pod.wait()))
            if ended[-1][1] == 0:
                break
        else:
            return ended
    return ended
