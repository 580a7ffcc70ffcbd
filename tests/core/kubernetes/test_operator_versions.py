"""The oldest version of an operator that has all fields of objects, by the definitions of its versions."""

from __future__ import annotations

from typing import Any

import pytest

from packyard.core.kubernetes.operator_versions import table
from packyard.core.kubernetes.operators import OPERATORS, Operator


def job_set(*replicated: dict[str, Any], **more: object) -> dict[str, Any]:
    template = {"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "a"}]}}}}
    jobs = [{"name": f"job-{number}", "template": template, **each} for number, each in enumerate(replicated or [{}])]
    metadata = {"name": "a"}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata,
        "spec": {"replicatedJobs": jobs, **more},
    }


def raised(found: list[dict[str, Any]]) -> list[Operator]:
    return [each for each in table(found) if each not in OPERATORS]


CLAIMS = [{"templates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]}]
WAITING = [{"name": "job-0", "status": "Ready"}, {"name": "job-1", "status": "Ready"}]
#: An object, and the oldest release of JobSet whose definition has all of it, by the tags of its repository.
NEEDED = {
    "what the table says": (job_set(), []),
    "a slip, which no version has": (job_set(replicatedJob=1), []),
    "groups": (job_set({"groupName": "workers"}), ["0.9 or later (tried up to 0.12)"]),
    "two to wait for": (job_set({}, {}, {"dependsOn": WAITING}), ["0.9 or later (tried up to 0.12)"]),
    "claims": (job_set(volumeClaimPolicies=CLAIMS), ["0.11 or later (tried up to 0.12)"]),
    "what no version has": (job_set(whatComesNext=True), []),
}


@pytest.mark.parametrize(("found", "needs"), NEEDED.values(), ids=NEEDED)
def test_an_operator_has_to_have_all_fields_of_an_object(found: dict[str, Any], needs: list[str]) -> None:
    assert [each.needs for each in raised([job_set(), found])] == needs
