"""What packages need installed: how it is found on a cluster, which version is tested, how it is installed.

The table is ``operators.json``, in the form in which authors say it of theirs. An operator is known by the last part of
its image's name, which mirrors keep: ``mirror.example/team/mpi-operator``. The oldest versions are what READMEs of
packages ask for. The training operator is installed without MPIJobs of its own, as one cluster has room for one
definition. The commands are upstream's own:

- https://github.com/kubeflow/mpi-operator/tree/v0.8.0#installation
- https://github.com/kubernetes-sigs/jobset/tree/v0.8.0#installation
- https://www.kubeflow.org/docs/components/trainer/operator-guides/installation, without the JobSet that it would bring
- https://github.com/argoproj/argo-workflows/releases/tag/v3.7.0
- https://github.com/kubeflow/training-operator/tree/v1.8.1#install-with-kubernetes
- https://github.com/kubernetes-sigs/kueue/tree/v0.15.2#installation
- https://lws.sigs.k8s.io/docs/installation
- https://docs.ray.io/en/latest/cluster/kubernetes/getting-started/kuberay-operator-installation.html
- https://github.com/NVIDIA/k8s-device-plugin/tree/v0.17.1#enabling-gpu-support-in-kubernetes
- https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
- https://github.com/kubernetes-csi/csi-driver-nfs/blob/v4.11.0/docs/install-csi-driver-v4.11.0.md
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packyard.core.bundle.prerequisite import Prerequisite
from packyard.core.bundle.record import object_of
from packyard.core.kubernetes import images, pods
from packyard.core.kubernetes.kinds import CUSTOM
from packyard.core.kubernetes.lenient import text

Operator = Prerequisite
OPERATORS = tuple(map(object_of(Operator), json.loads(Path(__file__).with_name("operators.json").read_bytes())))


def declared(required: Iterable[Prerequisite]) -> list[Operator]:
    """Return the operators that authors say they require."""
    return [requirement for requirement in dict.fromkeys(required) if requirement.operator]


def of(definition: str, own: Sequence[Operator] = ()) -> Operator | None:
    """Return the operator that reconciles the objects of a CustomResourceDefinition: ``mpijobs.kubeflow.org``.

    ``own`` are those of authors, which come before those of the table.
    """
    return next((operator for operator in (*own, *OPERATORS) if definition in operator.definitions), None)


def needed(requirements: Iterable[str], own: Sequence[Operator] = ()) -> list[Operator]:
    """Return what offers what packages require, in the words of packyard.json, in the order of its installation.

    What brings a definition that nobody names is called by its group and resource.
    """
    remaining, chosen = set(requirements), []
    for operator in (*own, *OPERATORS):
        if not remaining.isdisjoint(operator.words):
            chosen.append(operator)
            remaining.difference_update(operator.words)
    unknown = [name for kind, _, name in (word.partition(" ") for word in sorted(remaining)) if kind == CUSTOM[1]]
    parts = {name: name.partition(".") for name in unknown}
    names = {name: f"An operator of {group} for {resource}" for name, (resource, _, group) in parts.items()}
    return [*chosen, *(Operator(operator=names[name], definitions=(name,)) for name in unknown)]


def find(operator: Operator, deployments: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], str]]:
    """Return the Deployments among ``deployments`` that run an operator, by their images, with the tags of these."""
    running = []
    for item in deployments:
        used = [images.parse(text(container.get("image"))) for pod in pods.find(item) for container in pod.containers]
        tags = [image.tag for image in used if f"/{image.name}".endswith(f"/{operator.image}")]
        running += [(item, tag) for tag in tags[:1]]
    return running
