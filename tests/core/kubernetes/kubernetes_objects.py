"""Objects as YAML, with all that a pod may need, and reading them."""

import textwrap
from typing import Any

import yaml

import tiny

MPI_JOB = tiny.text("objects/mpi-job.yaml")

WORKFLOW = tiny.text("objects/workflow.yaml")

HARDENED = tiny.text("objects/hardened-pod.yaml")


def objects(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(textwrap.dedent(text)))
