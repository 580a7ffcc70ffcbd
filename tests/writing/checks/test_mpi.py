"""What an MPIJob's definition admits and its operator makes something else of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tiny
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint

JOB = tiny.text("checks/mpi-job.yaml")
ENVIRONMENT = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: environment}
data:
  DATASET_DIR: /datasets
  OUTPUT_DIR: /output
"""
OTHER = ENVIRONMENT.replace("{name: environment}", "{name: other}").replace("OUTPUT_DIR", "MODEL_DIR")


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


def test_a_script_that_the_launcher_runs_may_read_them() -> None:
    old = "[mpirun, -x, DATASET_DIR, -x, OUTPUT_DIR=/out, python3, train.py]"
    job = JOB.replace(old, "[/bin/sh, -eu, /programs/launch.sh, mpirun, -x, DATASET_DIR, python3, train.py]").encode()
    files = {"a.yaml": job, "b.yaml": ENVIRONMENT.encode()}

    def rules(**programs: bytes) -> list[str]:
        given = {f"programs/p/{name}.sh": data for name, data in programs.items()}
        found = lint(PackageFiles(b"kind: Krmfile\n", files, programs=given))
        return [each.rule for each in found if each.rule == "not-exported"]

    assert rules() == []  # nobody sees the script
    assert rules(launch=b'cd "$OUTPUT_DIR"\nexec "$@"\n') == []
    assert rules(launch=b'exec "$@"\n') == ["not-exported"]


LISTED = (
    ENVIRONMENT + "  STEPS: '5'\n  OMPI_MCA_pml: ob1\n  OMPI_MCA_mca_base_env_list: DATASET_DIR;OUTPUT_DIR;HOME=/home\n"
)
PROGRAM = JOB.replace("-x, DATASET_DIR, -x, OUTPUT_DIR=/out, ", "").replace("train.py]", "train.py, --steps=$(STEPS)]")


def test_a_name_without_a_value_keeps_those_behind_it_from_ranks(found: Callable[..., list[str]]) -> None:
    """Open MPI 4.1.4: of A;NOPE;B a process on another host got A, and a warning names NOPE."""
    more = LISTED.replace("DATASET_DIR;", "PYTHONPATH;DATASET_DIR;")
    assert found(a_yaml=PROGRAM, b_yaml=more) == ["b.yaml:9:31 error exported-nothing"]
    secret = PROGRAM.replace("{name: environment}}]", "{name: environment}}, {secretRef: {name: run, optional: true}}]")
    assert "b.yaml:9:31 error exported-nothing" not in found(a_yaml=secret, b_yaml=more)
