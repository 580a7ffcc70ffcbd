"""Finds what a cluster must have before a use case is applied, in its objects.

Objects are plain values. They may be incomplete: a setter that is still to be set ships as ``""`` and may stand
anywhere, so a value of another type is skipped and is never an error. Whether objects are valid is for
``writing.checks`` to say; whether a cluster meets the requirements, for ``running``.

============================  =====================================================================
kind                          name
============================  =====================================================================
``CustomResourceDefinition``  ``mpijobs.kubeflow.org``
``PersistentVolumeClaim``     its name; likewise ``Secret``, ``ConfigMap``, ``ServiceAccount``, ``Namespace``
``NFS``                       ``server:path``
``CSIDriver``                 ``nfs.csi.k8s.io``, which mounts volumes
``Resource``                  ``nvidia.com/gpu``, which a device plugin offers
``PodSecurity``               the strictest level that admits the pods
============================  =====================================================================
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes import dependencies, pod_security, pods
from packyard.core.kubernetes.dependencies import ALWAYS_THERE
from packyard.core.kubernetes.groups import definitions
from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of, text, type_of
from packyard.core.kubernetes.pods import Pod


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Requirement:
    """One thing that a cluster must have; ``str`` gives its words in packyard.json: ``NFS 10.0.0.5:/models``."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def find(objects: Sequence[Object], definition_names: Collection[str] = ()) -> tuple[Requirement, ...]:
    """Return what ``objects`` need and do not bring, sorted, each once, by the names of definitions."""
    found_pods = pods.find_all(objects)
    requirements = {
        Requirement(kind="CustomResourceDefinition", name=name)
        for item in objects
        for name in definitions(*type_of(item), definition_names)
    }
    namespaces = {text(mapping(item.get("metadata")).get("namespace")) for item in objects}
    requirements.update(Requirement(kind="Namespace", name=name) for name in namespaces - {""})
    requirements.update(_mounted(objects, found_pods))
    requirements.update(_resources(found_pods))
    requirements.update(requirement for pod in found_pods for requirement in _references(pod))
    level = pod_security.find(found_pods)
    if level is not None:
        requirements.add(Requirement(kind="PodSecurity", name=level.name))
    brought = {(text(item.get("kind")), name_of(item)) for item in objects}
    needed = (item for item in requirements if (item.kind, item.name) not in brought | ALWAYS_THERE)
    return tuple(sorted(needed))


def _mounted(objects: Sequence[Object], found_pods: Sequence[Pod[Object]]) -> Iterator[Requirement]:
    volumes = [volume for pod in found_pods for volume in pod.volumes]
    volumes += [mapping(item.get("spec")) for item in objects if item.get("kind") == "PersistentVolume"]
    for volume in volumes:
        if isinstance(export := volume.get("nfs"), Mapping):
            yield Requirement(kind="NFS", name=f"{text(export.get('server'))}:{text(export.get('path'))}")
        if driver := text(mapping(volume.get("csi")).get("driver")):
            yield Requirement(kind="CSIDriver", name=driver)


def _resources(found_pods: Sequence[Pod[Object]]) -> Iterator[Requirement]:
    for container in (container for pod in found_pods for container in pod.containers):
        resources = mapping(container.get("resources"))
        for name, amount in {**mapping(resources.get("requests")), **mapping(resources.get("limits"))}.items():
            if isinstance(name, str) and "/" in name and str(amount) != "0":
                yield Requirement(kind="Resource", name=name)


def _references(pod: Pod[Object]) -> Iterator[Requirement]:
    """Yield the objects in its own namespace that a pod cannot start without."""
    account = pod.get("serviceAccountName")
    account = pod.get("serviceAccount") if account is None else account
    if isinstance(account, str):
        yield Requirement(kind="ServiceAccount", name=account)
    for secret in mappings(pod.get("imagePullSecrets")):
        yield Requirement(kind="Secret", name=text(secret.get("name")))
    for reference in dependencies.find(pod):
        if not reference.is_optional:
            yield Requirement(kind=reference.kind, name=reference.name)
