"""Faults of pods, wherever they sit."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

import pytest

import tiny
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint

Found = Callable[..., list[str]]

POD = """\
containers:
- name: main
  image: x
  volumeMounts:
  - {name: data, mountPath: /data}
volumes:
- name: data
  emptyDir: {}
"""
SHELLS = {
    "Pod": "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n",
    "Job": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\nspec:\n  template:\n    spec:\n",
    "MPIJob": "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: x}\nspec:\n  mpiReplicaSpecs:\n"
    "    Worker:\n      template:\n        spec:\n",
}


def shell(kind: str, pod: str) -> str:
    start = SHELLS[kind]
    last = start.splitlines()[-1]
    return start + indent(pod, " " * (len(last) - len(last.lstrip()) + 2))


@pytest.mark.parametrize(("kind", "place"), [("Pod", "9:14"), ("Job", "11:18"), ("MPIJob", "13:22")])
def test_finds_a_mount_without_a_volume_in_pods_of_any_kind(found: Found, kind: str, place: str) -> None:
    text = shell(kind, POD.replace("- {name: data", "- {name: date"))
    assert found(a_yaml=text)[0] == f"a.yaml:{place} error mount-without-volume"


WORKFLOW = tiny.text("checks/workflow.yaml")


def test_a_volume_of_one_template_is_none_of_another(found: Found) -> None:
    assert found(a_yaml=WORKFLOW + "      - {name: own, mountPath: /o}\n") == [
        "a.yaml:28:16 error mount-without-volume"
    ]


@pytest.mark.parametrize("field", ["fsGroup: 0", "supplementalGroups: [1]", "sysctls: []"])
def test_finds_fields_of_a_pod_in_a_container(found: Found, field: str) -> None:
    pod = POD.replace("  image: x\n", f"  image: x\n  securityContext:\n    runAsUser: 1\n    {field}\n")
    assert found(a_yaml=shell("Pod", pod)) == ["a.yaml:10:7 error pod-field-in-container"]


def test_finds_names_that_are_there_twice(found: Found) -> None:
    pod = POD.replace("  image: x\n", "  env: [{name: A, value: a}, {name: A, value: b}]\n")
    pod += "- name: data\n  emptyDir: {}\ninitContainers: [{name: main}]\n"
    assert found(a_yaml=shell("Pod", pod)) == [
        "a.yaml:6:11 error duplicate-name",
        "a.yaml:7:39 warning duplicate-name",
        "a.yaml:13:11 error duplicate-name",
    ]


def test_finds_objects_that_are_there_twice(found: Found) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    assert found(a_yaml=text, b_yaml=text) == ["b.yaml:3:18 warning duplicate-name"]
    assert found(a_yaml=f"{text}---\n{text}") == ["a.yaml:7:18 error duplicate-name"]
    elsewhere = found(a_yaml=text, b_yaml=text.replace("x}", "x, namespace: n}"))
    assert elsewhere == ["b.yaml:3:21 warning own-namespace"]


def test_a_package_with_setters_is_for_any_namespace() -> None:
    krmfile = (
        "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI: {definitions: {io.k8s.cli.setters.SIZE:"
        " {description: The size., x-k8s-cli: {setter: {name: SIZE, value: a}}}}}\n"
    )
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: n}\ndata:\n  size: a"
    bound = text + ' # {"$openapi":"SIZE"}\n'
    kustomization = b"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n"
    for config, krm, places in ((bound, krmfile, ["a.yaml:3"]), (f"{text}\n", "kind: Krmfile\n", [])):
        package = PackageFiles(krm.encode(), {"a.yaml": config.encode(), "kustomization.yaml": kustomization})
        found = [f"{each.file}:{each.line}" for each in lint(package) if each.rule == "own-namespace"]
        assert found == places


def test_claims_of_a_job_set_are_volumes(found: Found) -> None:
    pod = "{containers: [{name: c, volumeMounts: [{name: data, mountPath: /data}]}]}"
    job_set = (
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: x}\nspec:\n"
        "  volumeClaimPolicies: [{templates: [{metadata: {name: CLAIM}}]}]\n"
        f"  replicatedJobs: [{{name: n, template: {{spec: {{template: {{spec: {pod}}}}}}}}}]\n"
    )
    assert found(a_yaml=job_set.replace("CLAIM", "data")) == []
    assert [each.split()[-1] for each in found(a_yaml=job_set.replace("CLAIM", "other"))] == ["mount-without-volume"]
