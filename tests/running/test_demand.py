"""How many pods each kind of workload has at once."""

import pytest

from packyard.running.doctor import demand
from running.patients import read

POD = "{spec: {containers: [{name: main}]}}"
TRAIN_JOB = f"""
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: run}}
spec: {{runtimeRef: {{name: run}}, trainer: {{numNodes: 6}}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {{name: run}}
spec:
  template:
    spec:
      replicatedJobs:
      - name: data
        template: {{spec: {{template: {POD}}}}}
      - name: node
        template:
          metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
          spec: {{template: {POD}}}
"""


@pytest.mark.parametrize(
    ("kind", "spec", "counts"),
    [
        ("batch/v1 Job", f"{{completions: 9, parallelism: 4, template: {POD}}}", [4]),
        ("batch/v1 Job", f"{{completions: 2, parallelism: 4, template: {POD}}}", [2]),
        (
            "kubeflow.org/v2beta1 MPIJob",
            f"{{mpiReplicaSpecs: {{Launcher: {{template: {POD}}}, Worker: {{replicas: 7, template: {POD}}}}}}}",
            [1, 7],
        ),
        (
            "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet",
            f"{{replicas: 2, leaderWorkerTemplate: {{size: 4, workerTemplate: {POD}}}}}",
            [8],
        ),
        ("example.org/v1 Thing", f"{{template: {POD}}}", [1]),
    ],
)
def test_pods_at_once(kind: str, spec: str, counts: list[int]) -> None:
    version, _, name = kind.partition(" ")
    (item,) = read(f"{{apiVersion: {version}, kind: {name}, metadata: {{name: run}}, spec: {spec}}}")
    assert [each.count for each in demand.find([item])] == counts


def test_a_train_job_says_how_many_nodes_its_runtime_has() -> None:
    found = demand.find(read(TRAIN_JOB))
    assert [(each.who, each.count) for each in found] == [("TrainingRuntime run", 1), ("TrainingRuntime run", 6)]


def test_steps_of_a_workflow_run_one_after_the_other_beside_what_stays() -> None:
    steps = "{templates: [{name: a, container: {image: a}}, {name: b, container: {image: b}}, {name: all, steps: []}]}"
    workflow = f"{{apiVersion: argoproj.io/v1alpha1, kind: Workflow, metadata: {{name: run}}, spec: {steps}}}"
    servers = (
        f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: run}}, spec: {{replicas: 3, template: {POD}}}}}"
    )
    found = demand.find([*read(workflow), *read(servers)])
    assert [[each.count for each in moment] for moment in demand.moments(found)] == [[3, 1], [3, 1]]
    assert demand.moments([]) == []


@pytest.mark.parametrize(("amount", "text"), [(2**29, "512Mi"), (2**30, "1Gi"), (3 * 2**29, "1.5Gi")])
def test_memory_is_told_in_the_larger_unit_of_which_there_is_one(amount: int, text: str) -> None:
    assert demand.number("memory", amount * 10**9) == text
