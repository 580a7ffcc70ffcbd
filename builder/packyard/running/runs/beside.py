"""What a verb makes on a cluster beside a run, and deletes; its Jobs end by themselves if nobody is left for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from packyard.core.errors import PackyardError, Problem
from packyard.running.runs import look
from packyard.running.runs.kubectl import Kubectl, listed
from packyard.running.runs.run import LABEL, MANAGED, PURPOSE, Object, Reference

_LONGEST = 40  # characters of the name of a run in that of what is made for it
_KEPT = 600  # seconds that a Job stays that has ended


def name(run: str, purpose: str, word: str) -> str:
    """Return the name of what a verb makes for a run; ``word`` tells it from others."""
    return f"{run[:_LONGEST].rstrip('-.')}-{purpose}-{word}"


def labels(name: str, purpose: str) -> dict[str, str]:
    """Return the labels of what has such a name, and of its pods."""
    return {**MANAGED, PURPOSE: purpose, LABEL: name}


def job(name: str, labels: dict[str, str], template: Object, seconds: int) -> Object:
    """Return the Job of a pod that is tried once, and ends after ``seconds``."""
    spec = {
        "backoffLimit": 0,
        "activeDeadlineSeconds": seconds,
        "ttlSecondsAfterFinished": _KEPT,
        "template": template,
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels}, "spec": spec}


def create(kubectl: Kubectl, objects: Sequence[Mapping[str, Any]]) -> None:
    """Create objects, by one call."""
    kubectl.run("create", "--filename=-", data=listed(objects))


def delete(kubectl: Kubectl, objects: Sequence[Mapping[str, Any]], *, left: Problem) -> None:
    """Delete objects, by one call that no signal ends; pods end after that. ``left`` says what to do if it fails."""
    try:
        look.delete(replace(kubectl, is_apart=True), [Reference.of(each, kubectl.namespace) for each in objects])
    except PackyardError as error:
        raise type(error)(*error.problems, left) from error
