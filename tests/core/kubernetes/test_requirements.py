"""What a use case asks of its cluster, read off its objects."""

import re

import pytest

from core.kubernetes.kubernetes_objects import HARDENED, MPI_JOB, WORKFLOW, objects
from packyard.core.kubernetes.requirements import find


def found(text: str, kind: str = "") -> list[str]:
    words = find(objects(text))
    return [word for word in words if word.startswith(f"{kind} ") or (not kind and not word.startswith("PodSecurity "))]


def test_names_all_that_an_mpi_job_needs_and_does_not_bring() -> None:
    assert found(MPI_JOB) == [
        "ConfigMap env",
        "CustomResourceDefinition mpijobs.kubeflow.org",
        "NFS :/export",
        "Namespace ml",
        "PersistentVolumeClaim ",
        "Resource nvidia.com/gpu",
        "Secret projected",
        "Secret registry",
        "Secret token",
        "ServiceAccount bert",
    ]


def test_a_definition_that_is_brought_is_not_needed() -> None:
    text = """
    {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: mpijobs.kubeflow.org}}
    ---
    {apiVersion: kubeflow.org/v2beta1, kind: MPIJob}
    """
    assert found(text) == []


def test_a_driver_of_volumes_is_needed() -> None:
    text = "{apiVersion: v1, kind: PersistentVolume, spec: {csi: {driver: nfs.csi.k8s.io, volumeHandle: ''}}}"
    assert found(text) == ["CSIDriver nfs.csi.k8s.io"]


FIELDS = re.findall(
    r"\w+",
    """
    apiVersion kind metadata name namespace spec template containers initContainers image volumes nfs server path
    persistentVolumeClaim claimName secret secretName configMap projected sources env envFrom valueFrom secretKeyRef
    ports hostPort securityContext capabilities add drop seccompProfile type runAsUser resources limits sysctls
    serviceAccountName imagePullSecrets seLinuxOptions optional reference
""",
)


@pytest.mark.parametrize("field", FIELDS)
def test_a_placeholder_may_stand_in_every_field(field: str) -> None:
    def blanked(value: object) -> object:
        if isinstance(value, dict):
            return {key: "" if key == field else blanked(item) for key, item in value.items()}
        return [blanked(item) for item in value] if isinstance(value, list) else value

    for item in objects(MPI_JOB + "---" + HARDENED):
        find([blanked(item)])  # type: ignore[list-item]


def test_names_the_level_that_admits_the_pods() -> None:
    assert found(HARDENED, "PodSecurity") == ["PodSecurity restricted"]
    assert found(WORKFLOW, "PodSecurity") == ["PodSecurity baseline"]
