"""Which version of an operator has all fields of objects, by the definitions of its versions."""

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
    "what is not released": (job_set(whatComesNext=True), ["later than 0.12"]),
}


@pytest.mark.parametrize(("found", "needs"), NEEDED.values(), ids=NEEDED)
def test_an_operator_has_to_have_all_fields_of_an_object(found: dict[str, Any], needs: list[str]) -> None:
    assert [each.needs for each in raised([job_set(), found])] == needs


def runtime(**policy: Any) -> dict[str, Any]:
    spec = {"mlPolicy": policy, "template": {"spec": job_set()["spec"]}}
    version = "trainer.kubeflow.org/v1alpha1"
    return {"apiVersion": version, "kind": "TrainingRuntime", "metadata": {"name": "a"}, "spec": spec}


@pytest.mark.parametrize("after", [[], [runtime(torch={})]])
def test_a_field_that_a_later_version_took_away_needs_an_earlier_one(after: list[dict[str, Any]]) -> None:
    (found,) = raised([runtime(torch={"numProcPerNode": 1}), *after])
    assert found.needs == "2.0 to 2.1"
    admitted = [found.admits(version) for version in ((1, 9, 0), (2, 0, 0), (2, 1, 9), (2, 2, 0))]
    assert admitted == [False, True, True, False]
    assert "v2.0.0.tar.gz" in found.install[0]


@pytest.mark.parametrize(("version", "is_admitted"), [((0, 12, 1), False), ((0, 13, 0), True)])
def test_a_patch_release_brings_no_field(version: tuple[int, ...], is_admitted: bool) -> None:
    (found,) = raised([job_set(whatComesNext=True)])
    assert found.admits(version) is is_admitted
