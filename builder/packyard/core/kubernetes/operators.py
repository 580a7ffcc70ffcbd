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
- https://github.com/NVIDIA/k8s-device-plugin/tree/v0.17.1#enabling-gpu-support-in-kubernetes
- https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
- https://github.com/kubernetes-csi/csi-driver-nfs/blob/v4.11.0/docs/install-csi-driver-v4.11.0.md
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packyard.core.bundle.required import Required
from packyard.core.kubernetes import images, pods
from packyard.core.kubernetes.lenient import text

Version = tuple[int, ...]

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+.].*)?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator, and the CustomResourceDefinitions whose objects it reconciles; or what ``offers`` something else.

    ``oldest`` is the oldest version that does for packages, empty where any does; it has to be later than ``above``,
    where no version that packyard knows has what a package needs. ``newest`` is the newest that packages were tried
    with, by its definitions, or empty; ``ends`` says that the next took away what a package needs. ``tested`` is the
    version that this project's tests run, or empty. ``install`` are upstream's commands, for ``tested``, or else for a
    version that they name. What is offered are devices and drivers, in the words of packyard.json:
    ``Resource nvidia.com/gpu``. ``link`` and ``by``, the package whose author says it, are of those that are not in the
    table.
    """

    name: str
    image: str
    definitions: frozenset[str] = frozenset()
    offers: frozenset[str] = frozenset()
    oldest: str
    newest: str = ""
    tested: str
    install: Sequence[str]
    link: str = ""
    by: str = ""
    above: str = ""
    ends: bool = False

    @property
    def needs(self) -> str:
        """The versions that do: ``2.0 or later (tried up to 2.3)``, ``2.0 to 2.1``, ``later than 0.12``, or nothing."""
        if self.above or self.ends:
            return f"later than {self.above}" if self.above else f"{self.oldest} to {self.newest}"
        words = [f"{self.oldest} or later"] if self.oldest else []
        return " ".join([*words, f"(tried up to {self.newest})"] if self.newest else words)

    def admits(self, version: Version) -> bool:
        """Say whether a version does."""
        above, oldest = version_of(self.above), version_of(self.oldest)
        if above:
            return version[:2] > above[:2]
        return (oldest is None or version >= oldest) and not (self.ends and self.is_passed_by(version))

    def is_passed_by(self, version: Version) -> bool:
        """Say whether a version is newer than all that packages were tried with."""
        newest = version_of(self.newest)
        return newest is not None and version[:2] > newest[:2]

    @property
    def fix(self) -> str:
        """What to type, or to read, for it to be there."""
        return " && ".join(self.install) or self.link

    @property
    def requirements(self) -> set[str]:
        """What it offers, in the words of packyard.json."""
        return {*self.offers, *(f"CustomResourceDefinition {name}" for name in self.definitions)}


def declared(required: Iterable[Required], by: str = "") -> Iterator[Operator]:
    """Yield the operators that authors say they require."""
    for requirement in dict.fromkeys(required):
        if requirement.operator:
            yield Operator(
                name=requirement.operator,
                image=requirement.image,
                definitions=frozenset(requirement.definitions),
                offers=frozenset(requirement.offers),
                oldest=requirement.oldest,
                newest=requirement.newest,
                tested=requirement.tested,
                install=requirement.install,
                link=requirement.link,
                by=by,
            )


_ROWS = json.loads(Path(__file__).with_name("operators.json").read_bytes())
OPERATORS = tuple(declared(map(Required.parse, _ROWS)))


def of(definition: str, others: Sequence[Operator] = ()) -> Operator | None:
    """Return the operator that reconciles the objects of a CustomResourceDefinition: ``mpijobs.kubeflow.org``.

    ``others`` are those of authors, which come before those of the table.
    """
    return next((operator for operator in (*others, *OPERATORS) if definition in operator.definitions), None)


def needed(requirements: Iterable[str], others: Sequence[Operator] = ()) -> list[Operator]:
    """Return what offers what packages require, in the words of packyard.json, in the order of its installation."""
    remaining, chosen = set(requirements), []
    for operator in (*others, *OPERATORS):
        if not remaining.isdisjoint(operator.requirements):
            chosen.append(operator)
            remaining -= operator.requirements
    return chosen


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
    running = []
    for item in deployments:
        found = [images.parse(text(container.get("image"))) for pod in pods.find(item) for container in pod.containers]
        tags = [image.tag for image in found if image.name.rpartition("/")[2] == operator.image]
        running += [RunningOperator(item, tag) for tag in tags[:1]]
    return running
