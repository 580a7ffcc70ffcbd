"""What packages need installed: how it is found on a cluster, which version is tested, how it is installed.

An operator is known by the last part of its image's name, which mirrors keep: ``mirror.example/team/mpi-operator``.
The oldest versions are what READMEs of packages ask for. The commands are upstream's own:

- https://github.com/kubeflow/mpi-operator/tree/v0.8.0#installation
- https://github.com/kubernetes-sigs/jobset/tree/v0.8.0#installation
- https://www.kubeflow.org/docs/components/trainer/operator-guides/installation, without the JobSet that it would bring
- https://github.com/argoproj/argo-workflows/releases/tag/v3.7.0
- https://github.com/kubeflow/training-operator/tree/v1.8.1#install-with-kubernetes
- https://github.com/kubernetes-sigs/kueue/tree/v0.15.2#installation
- https://lws.sigs.k8s.io/docs/installation
- https://github.com/NVIDIA/k8s-device-plugin/tree/v0.17.1#enabling-gpu-support-in-kubernetes
- https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
- https://github.com/kubernetes-csi/csi-driver-nfs/blob/v4.11.0/docs/install-csi-driver-v4.11.0.md
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packyard.core.kubernetes import images, pods
from packyard.core.kubernetes.lenient import text

Version = tuple[int, ...]

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+.].*)?\Z")
_GITHUB = "kubectl apply --server-side -f https://github.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator, and the CustomResourceDefinitions whose objects it reconciles; or what ``offers`` something else.

    ``oldest`` is the oldest version that does for packages, empty where any does. ``tested`` is the version that this
    project's tests run, or empty. ``install`` are upstream's commands, for ``tested``, or else for a version that they
    name. What is offered are devices and drivers, in the words of packyard.json: ``Resource nvidia.com/gpu``.
    """

    name: str
    image: str
    definitions: frozenset[str] = frozenset()
    offers: frozenset[str] = frozenset()
    oldest: str
    tested: str
    install: Sequence[str]

    @property
    def requirements(self) -> set[str]:
        """What it offers, in the words of packyard.json."""
        return {*self.offers, *(f"CustomResourceDefinition {name}" for name in self.definitions)}


OPERATORS = (
    Operator(
        name="MPI operator",
        image="mpi-operator",
        definitions=frozenset({"mpijobs.kubeflow.org"}),
        oldest="0.5",
        tested="0.8.0",
        install=(
            "kubectl apply --server-side -f "
            "https://raw.githubusercontent.com/kubeflow/mpi-operator/v0.8.0/deploy/v2beta1/mpi-operator.yaml",
        ),
    ),
    Operator(
        name="JobSet",
        image="jobset",
        definitions=frozenset({"jobsets.jobset.x-k8s.io"}),
        oldest="0.8",
        tested="0.8.0",
        install=(f"{_GITHUB}/kubernetes-sigs/jobset/releases/download/v0.8.0/manifests.yaml",),
    ),
    Operator(
        name="Kubeflow Trainer",
        image="trainer-controller-manager",
        definitions=frozenset(
            f"{kind}.trainer.kubeflow.org" for kind in ("trainjobs", "trainingruntimes", "clustertrainingruntimes")
        ),
        oldest="2.0",
        tested="2.0.0",
        install=(
            "wget -q -O - https://github.com/kubeflow/trainer/archive/refs/tags/v2.0.0.tar.gz | tar -xz",
            "sed -i.bak /jobset/d trainer-2.0.0/manifests/overlays/manager/kustomization.yaml",
            "kubectl apply --server-side -k trainer-2.0.0/manifests/overlays/manager",
        ),
    ),
    Operator(
        name="Argo Workflows",
        image="workflow-controller",
        definitions=frozenset(
            f"{kind}.argoproj.io"
            for kind in ("workflows", "workflowtemplates", "clusterworkflowtemplates", "cronworkflows")
        ),
        oldest="3.4",
        tested="3.7.0",
        install=(
            "kubectl create namespace argo",
            "kubectl apply --server-side -n argo -f "
            "https://github.com/argoproj/argo-workflows/releases/download/v3.7.0/install.yaml",
        ),
    ),
    Operator(
        name="Kubeflow Training Operator",
        image="training-operator",
        definitions=frozenset(f"{kind}.kubeflow.org" for kind in ("tfjobs", "pytorchjobs", "xgboostjobs", "jaxjobs")),
        oldest="1.8",
        tested="1.9.3",
        install=(
            "wget -q -O - https://github.com/kubeflow/training-operator/archive/refs/tags/v1.9.3.tar.gz | tar -xz",
            # Its MPIJobs are not those of mpi-operator, and one cluster has room for one definition.
            "sed -i.bak -e /mpijobs/d -e 's|- /manager|[/manager, --enable-scheme=tfjob, --enable-scheme=pytorchjob, "
            "--enable-scheme=xgboostjob, --enable-scheme=jaxjob]|' "
            "training-operator-1.9.3/manifests/base/crds/kustomization.yaml "
            "training-operator-1.9.3/manifests/base/deployment.yaml",
            "kubectl apply --server-side -k training-operator-1.9.3/manifests/overlays/standalone",
        ),
    ),
    Operator(
        name="Kueue",
        image="kueue",
        definitions=frozenset({"localqueues.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io"}),
        oldest="0.8",
        tested="",
        install=(f"{_GITHUB}/kubernetes-sigs/kueue/releases/download/v0.15.2/manifests.yaml",),
    ),
    Operator(
        name="LeaderWorkerSet",
        image="lws",
        definitions=frozenset({"leaderworkersets.leaderworkerset.x-k8s.io"}),
        oldest="0.6",
        tested="0.7.0",
        install=(f"{_GITHUB}/kubernetes-sigs/lws/releases/download/v0.7.0/manifests.yaml",),
    ),
    Operator(
        name="NVIDIA device plugin",
        image="k8s-device-plugin",
        offers=frozenset({"Resource nvidia.com/gpu"}),
        oldest="",
        tested="",
        install=(
            "kubectl create -f https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin"
            "/v0.17.1/deployments/static/nvidia-device-plugin.yml",
        ),
    ),
    Operator(
        name="AWS EFA device plugin",
        image="aws-efa-k8s-device-plugin",
        offers=frozenset({"Resource vpc.amazonaws.com/efa"}),
        oldest="",
        tested="",
        install=(
            "helm repo add eks https://aws.github.io/eks-charts",
            "helm install aws-efa-k8s-device-plugin --namespace kube-system eks/aws-efa-k8s-device-plugin",
        ),
    ),
    Operator(
        name="NFS CSI driver",
        image="nfsplugin",
        offers=frozenset({"CSIDriver nfs.csi.k8s.io"}),
        oldest="",
        tested="",
        install=(
            "curl -sSL https://raw.githubusercontent.com/kubernetes-csi/csi-driver-nfs/v4.11.0/deploy/install-driver.sh"
            " | bash -s v4.11.0 --",
        ),
    ),
)


def of(definition: str) -> Operator | None:
    """Return the operator that reconciles the objects of a CustomResourceDefinition: ``mpijobs.kubeflow.org``."""
    return next((each for each in OPERATORS if definition in each.definitions), None)


def needed(requirements: Iterable[str]) -> list[Operator]:
    """Return what offers what packages require, in the words of packyard.json, in the order of its installation."""
    found = set(requirements)
    return [each for each in OPERATORS if not found.isdisjoint(each.requirements)]


def version_of(tag: str) -> Version | None:
    """Return the numbers of a version, such as the tag of an image; None for one that is none: ``latest``."""
    match = _VERSION.match(tag)
    return tuple(int(number or 0) for number in match.groups()) if match else None


@dataclass(frozen=True, slots=True)
class RunningOperator:
    """A Deployment that runs an operator; ``version`` is the tag of its image, which may be no version, or empty."""

    deployment: Mapping[str, Any]
    version: str


def find(operator: Operator, deployments: Sequence[Mapping[str, Any]]) -> list[RunningOperator]:
    """Return the Deployments among ``deployments`` that run an operator, by their images."""
    found = []
    for item in deployments:
        for container in (each for pod in pods.find(item) for each in pod.containers):
            image = images.parse(text(container.get("image")))
            if image.name.rpartition("/")[2] == operator.image:
                found.append(RunningOperator(item, image.tag))
                break
    return found
