"""Names that parts of one object have for each other: what operators refuse, and API servers by their validation."""

from __future__ import annotations

import pytest

from packyard.using.setters.krmfile import EMPTY
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint

POD = "{spec: {template: {spec: {containers: [{name: training, image: a:1}]}}}}"
JOB_SET = f"""\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: a}}
spec:
  successPolicy: {{operator: All, targetReplicatedJobs: [workers]}}
  failurePolicy: {{rules: [{{name: stop, action: FailJobSet, targetReplicatedJobs: [driver]}}]}}
  coordinator: {{replicatedJob: driver}}
  replicatedJobs:
  - name: driver
    template: {POD}
  - name: workers
    dependsOn: [{{name: driver, status: Ready}}]
    template: {POD}
"""
RUNTIME = f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {{name: torch}}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template: {POD}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: a}}
spec:
  runtimeRef: {{kind: TrainingRuntime, name: torch}}
  podSpecOverrides:
  - targetJobs: [{{name: node}}]
    containers: [{{name: training}}]
"""
REPLICAS = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a}
spec:
  pytorchReplicaSpecs:
    Master: {template: {spec: {containers: [{name: pytorch, image: a:1}]}}}
    Worker: {template: {spec: {containers: [{name: pytorch, image: a:1}]}}}
"""
MPI = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: a}
spec:
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: a, image: a:1}]}}}
    Worker: {template: {spec: {containers: [{name: a, image: a:1}]}}}
"""
RAY = """\
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: a}
spec:
  rayClusterSpec:
    workerGroupSpecs:
    - {groupName: small, replicas: 1}
    - {groupName: large, replicas: 1}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  podFailurePolicy:
    rules:
    - action: FailJob
      onExitCodes: {containerName: training, operator: In, values: [42]}
  template: {spec: {restartPolicy: Never, containers: [{name: training, image: a:1}]}}
"""
WORKFLOW = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: a}
spec:
  entrypoint: all
  templates:
  - name: all
    dag:
      tasks:
      - {name: fetch, template: one}
      - {name: check-it, template: one}
      - name: train
        template: one
        depends: fetch.Succeeded && !(check-it.Failed || fetch)
        arguments: {parameters: [{name: from, value: "{{tasks.fetch.outputs.result}}"}]}
  - {name: one, inputs: {parameters: [{name: from, value: ""}]}, container: {image: a:1}}
"""
GROUPS = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: a}
spec:
  rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {maxSurge: 1, maxUnavailable: 0}}
  leaderWorkerTemplate:
    size: 1
    workerTemplate: {spec: {containers: [{name: a, image: a:1}]}}
"""
INDEXED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  completions: 2
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: a:1, command: [train, --rank=$(JOB_COMPLETION_INDEX)]}]
"""
#: Manifest, what is changed in it, into what, and what is said of it; `None` where nothing is.
CASES = {
    "a job to wait for": (JOB_SET, "name: driver, status", "name: drivr, status", "no replicatedJob 'drivr' ["),
    "itself": (JOB_SET, "name: driver, status", "name: workers, status", "workers waits for itself"),
    "success": (JOB_SET, "[workers]", "[worker]", "there is no replicatedJob 'worker' ["),
    "failure": (JOB_SET, "Jobs: [driver]", "Jobs: [launcher]", "'launcher' [no-such-part] (there is driver, workers)"),
    "the coordinator": (JOB_SET, "replicatedJob: driver", "replicatedJob: chief", "there is no replicatedJob 'chief'"),
    "two jobs": (JOB_SET, "- name: workers", "- name: driver", "replicatedJob 'driver' occurs twice"),
    "a job of a runtime": (RUNTIME, "[{name: node}]", "[{name: nodes}]", "no replicatedJob of the runtime 'nodes'"),
    "its container": (RUNTIME, "[{name: training}]", "[{name: main}]", "no container of the runtime 'main'"),
    "two jobs of a runtime": (
        RUNTIME, "      - name: node\n", f"      - name: node\n        template: {POD}\n      - name: node\n",
        "replicatedJob 'node' occurs twice",
    ),
    "a type of replicas": (REPLICAS, "Worker:", "Workers:", "there is no type of replicas 'Workers'"),
    "its container's name": (REPLICAS, "Worker: {template: {spec: {containers: [{name: pytorch",
                             "Worker: {template: {spec: {containers: [{name: main", "no container of Worker is called"),
    "a launcher": (MPI, "Launcher:", "Master:", "'Master' [no-such-part] (there is Launcher, Worker)"),
    "groups of Ray": (RAY, "large", "small", "group 'small' occurs twice"),
    "the container of a rule": (JOB, "containerName: training", "containerName: trainer", "no container 'trainer'"),
    "two templates": (WORKFLOW, "- {name: one", "- {name: all", "template 'all' occurs twice"),
    "two tasks": (WORKFLOW, "- name: train", "- name: fetch", "task 'fetch' occurs twice"),
    "a task of an expression": (WORKFLOW, "!(check-it", "!(check", "'train' waits for 'check', which is not a task"),
    "one master": (REPLICAS, "Master: {template", "Master: {replicas: 2, template", "has one Master, not 2"),
    "a restart": (MPI, "Worker: {template", "Worker: {restartPolicy: Always, template", "restartPolicy is 'Always'"),
    "what is cleaned": (MPI, "spec:\n  mpi", "spec:\n  runPolicy: {cleanPodPolicy: running}\n  mpi", "(did you mean"),
    "a gang": (REPLICAS, "spec:\n  pytorch", "spec:\n  runPolicy: {schedulingPolicy: {minAvailable: 3}}\n  pytorch",
               "minAvailable is 3, and there are 2 pods"),
    "an empty group": (GROUPS, "size: 1", "size: 0", "a group has 0 pods"),
    "a rollout": (GROUPS, "maxSurge: 1", "maxSurge: 0", "maxSurge and maxUnavailable are both 0"),
    "an input": (WORKFLOW, 'name: from, value: ""', "name: from", "'fetch' does not give from to one"),
    "an index": (INDEXED, "Indexed", "NonIndexed", "no variable JOB_COMPLETION_INDEX"),
    "results of a task": (WORKFLOW, "tasks.fetch.out", "tasks.fetsh.out", "{{tasks.fetsh}} is of no task"),
}  # fmt: skip


def said(text: str) -> list[str]:
    rules = ("no-such-part", "duplicate-name", "no-such-template", "no-such-parameter", "undefined-variable")
    rules += ("wrong-value", "server-refuses")
    files = {"a.yaml": text.encode(), "kustomization.yaml": b"resources: [a.yaml]\n"}
    return [str(each) for each in lint(PackageFiles(EMPTY, files)) if each.rule in rules]


@pytest.mark.parametrize("text", [JOB_SET, RUNTIME, REPLICAS, MPI, RAY, JOB, WORKFLOW, GROUPS, INDEXED])  # fmt: skip
def test_names_that_agree_are_no_finding(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(("text", "old", "new", "message"), CASES.values(), ids=CASES)
def test_a_name_that_nothing_has_or_two_have_is_found(text: str, old: str, new: str, message: str) -> None:
    assert text.count(old) == 1
    lines = said(text.replace(old, new))
    assert lines
    assert ": error: " in lines[0] or "[undefined-variable]" in lines[0]  # which the program gets as it stands
    assert any(message in line for line in lines)
