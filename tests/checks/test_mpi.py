"""What an MPIJob's definition admits and its operator makes something else of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

JOB = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: run}
spec:
  launcherCreationPolicy: WaitForWorkersReady
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          containers:
          - name: launcher
            image: a
            command: [mpirun, -x, DATASET_DIR, -x, OUTPUT_DIR=/out, python3, train.py]
            envFrom: [{configMapRef: {name: environment}}]
"""
ENVIRONMENT = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: environment}
data:
  DATASET_DIR: /datasets
  OUTPUT_DIR: /output
"""
OTHER = ENVIRONMENT.replace("{name: environment}", "{name: other}").replace("OUTPUT_DIR", "MODEL_DIR")


def test_variables_that_are_passed_on_are_no_finding(found: Callable[..., list[str]]) -> None:
    assert found(a_yaml=JOB, b_yaml=ENVIRONMENT, c_yaml=OTHER) == []


def test_a_variable_that_is_not_passed_on_reaches_no_rank(found: Callable[..., list[str]]) -> None:
    more = ENVIRONMENT + "  MODEL_DIR: /model\n  HOME: /home\n"
    assert found(a_yaml=JOB, b_yaml=more) == ["b.yaml:7:3 error not-exported", "b.yaml:8:3 error not-exported"]
    dropped = JOB.replace("-x, DATASET_DIR, ", "")
    assert found(a_yaml=dropped, b_yaml=ENVIRONMENT) == ["b.yaml:5:3 error not-exported"]


@pytest.mark.parametrize(
    "command",
    [
        "[sh, -c, 'exec mpirun -x OUTPUT_DIR -x DATASET_DIR python3 train.py']",
        "[/usr/bin/mpiexec, --x, OUTPUT_DIR, --x, DATASET_DIR, python3]",
        "[python3, train.py]",
    ],
)
def test_a_command_is_read_in_every_form(command: str, found: Callable[..., list[str]]) -> None:
    old = "[mpirun, -x, DATASET_DIR, -x, OUTPUT_DIR=/out, python3, train.py]"
    assert found(a_yaml=JOB.replace(old, command), b_yaml=ENVIRONMENT) == []
    if "DATASET_DIR" in command:
        lacking = command.replace("DATASET_DIR", "OTHER")
        assert found(a_yaml=JOB.replace(old, lacking), b_yaml=ENVIRONMENT) == ["b.yaml:5:3 error not-exported"]


def test_one_who_starts_ranks_by_kubectl_exec_passes_everything_on(found: Callable[..., list[str]]) -> None:
    assert found(a_yaml=JOB.replace("v2beta1", "v1alpha2").replace("-x, DATASET_DIR, ", ""), b_yaml=ENVIRONMENT) == []


def test_a_policy_that_the_operator_does_not_know_waits_for_nobody(found: Callable[..., list[str]]) -> None:
    slip = JOB.replace("WaitForWorkersReady", "WaitForWorkerReady")
    assert found(a_yaml=slip, b_yaml=ENVIRONMENT) == ["a.yaml:5:27 error launcher-policy"]
    assert found(a_yaml=JOB.replace("WaitForWorkersReady", "AtStartup"), b_yaml=ENVIRONMENT) == []
