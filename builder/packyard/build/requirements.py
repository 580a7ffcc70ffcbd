"""What a cluster must offer before a use case is applied, and the images that it will pull: read off its objects.

Objects are plain dicts, as a YAML parser gives them. They may be incomplete: a setter that is still to be set ships
as ``""`` and may stand anywhere, so a value of an unexpected type is skipped, never an error. Whether objects are
valid is the business of ``checks``; whether a cluster meets the requirements, of ``cluster``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.kubernetes import pod_security
from packyard.kubernetes.pods import Object, containers, mapping, mappings, pods, text

# Served by Kubernetes itself, besides the groups under k8s.io that are listed here: anything else needs a definition.
_BUILT_IN_GROUPS = {"", "apps", "autoscaling", "batch", "policy"} | {
    f"{group}.k8s.io"
    for group in (
        *("admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization"),
        *("certificates", "coordination", "discovery", "events", "flowcontrol.apiserver", "internal.apiserver"),
        *("networking", "node", "rbac.authorization", "resource", "scheduling", "storage", "storagemigration"),
    )
}
_CLIENT_SIDE_GROUPS = {"kustomize.config.k8s.io", "config.k8s.io", "config.kubernetes.io", "kpt.dev"}
#: What a controller makes of an object, where that needs a definition of its own.
_MADE_OF = {("trainer.kubeflow.org/v1alpha1", "TrainJob"): [("jobset.x-k8s.io/v1alpha2", "JobSet")]}
_ALWAYS_THERE = {("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt"), ("Namespace", "default")}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Requirement:
    """One thing that a cluster must have.

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

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def find(objects: Sequence[Object]) -> tuple[Requirement, ...]:
    """Return what ``objects`` need and do not bring, sorted, each once."""
    specs = list(pods(objects))
    found = {*_definitions(objects), *_namespaces(objects), *_mounted(objects, specs), *_resources(specs)}
    found.update(requirement for pod in specs for requirement in _references(pod))
    level = pod_security.find(specs)
    if level is not None:
        found.add(Requirement(kind="PodSecurity", name=level.name))
    brought = {(text(item.get("kind")), text(mapping(item.get("metadata")).get("name"))) for item in objects}
    needed = (item for item in found if (item.kind, item.name) not in brought | _ALWAYS_THERE)
    return tuple(sorted(needed))


def images(objects: Sequence[Object]) -> tuple[str, ...]:
    """Return the image references of all pod templates, wherever they sit, sorted; those still unset are left out."""
    specs = list(pods(objects))
    found = {text(container.get("image")) for pod in specs for container in containers(pod)}
    volumes = (volume for pod in specs for volume in mappings(pod.get("volumes")))
    found.update(text(mapping(volume.get("image")).get("reference")) for volume in volumes)
    return tuple(sorted(found - {""}))


def _definitions(objects: Iterable[Object]) -> Iterator[Requirement]:
    for item in objects:
        named = text(item.get("apiVersion")), text(item.get("kind"))
        for api_version, kind in (named, *_MADE_OF.get(named, ())):
            group = api_version.rpartition("/")[0]
            if kind and group not in _BUILT_IN_GROUPS | _CLIENT_SIDE_GROUPS:
                yield Requirement(kind="CustomResourceDefinition", name=f"{_plural(kind)}.{group}")


def _plural(kind: str) -> str:
    """Return the resource name that API conventions, and so nearly all definitions, give to a kind."""
    name = kind.lower()
    if name.endswith(("s", "x", "ch", "sh")):
        return name + "es"
    return name[:-1] + "ies" if name.endswith("y") and name[-2:-1] not in "aeiou" else name + "s"


def _namespaces(objects: Iterable[Object]) -> Iterator[Requirement]:
    for item in objects:
        if name := text(mapping(item.get("metadata")).get("namespace")):
            yield Requirement(kind="Namespace", name=name)


def _mounted(objects: Sequence[Object], specs: Sequence[Object]) -> Iterator[Requirement]:
    volumes = [volume for pod in specs for volume in mappings(pod.get("volumes"))]
    volumes += [mapping(item.get("spec")) for item in objects if item.get("kind") == "PersistentVolume"]
    for volume in volumes:
        if isinstance(export := volume.get("nfs"), Mapping):
            yield Requirement(kind="NFS", name=f"{text(export.get('server'))}:{text(export.get('path'))}")
        if driver := text(mapping(volume.get("csi")).get("driver")):
            yield Requirement(kind="CSIDriver", name=driver)


def _resources(specs: Sequence[Object]) -> Iterator[Requirement]:
    for container in (container for pod in specs for container in containers(pod)):
        resources = mapping(container.get("resources"))
        for name, amount in {**mapping(resources.get("requests")), **mapping(resources.get("limits"))}.items():
            if isinstance(name, str) and "/" in name and str(amount) != "0":
                yield Requirement(kind="Resource", name=name)


def _references(pod: Object) -> Iterator[Requirement]:
    """Yield the objects in its own namespace that a pod cannot start without."""
    account = pod.get("serviceAccountName", pod.get("serviceAccount"))
    if isinstance(account, str):
        yield Requirement(kind="ServiceAccount", name=account)
    for secret in mappings(pod.get("imagePullSecrets")):
        yield Requirement(kind="Secret", name=text(secret.get("name")))
    for volume in mappings(pod.get("volumes")):
        yield from _volume_references(volume)
    for container in containers(pod):
        for variable in mappings(container.get("env")):
            source = mapping(variable.get("valueFrom"))
            yield from _named(source, Secret="secretKeyRef", ConfigMap="configMapKeyRef")
        for source in mappings(container.get("envFrom")):
            yield from _named(source, Secret="secretRef", ConfigMap="configMapRef")


def _volume_references(volume: Object) -> Iterator[Requirement]:
    yield from _named(volume, "claimName", PersistentVolumeClaim="persistentVolumeClaim")
    yield from _named(volume, "secretName", Secret="secret")
    yield from _named(volume, ConfigMap="configMap")
    for source in mappings(mapping(volume.get("projected")).get("sources")):
        yield from _named(source, Secret="secret", ConfigMap="configMap")


def _named(holder: Object, key: str = "name", /, **fields: str) -> Iterator[Requirement]:
    """Yield a requirement for each field of ``holder``, given as kind=field, that refers to an object by ``key``."""
    for kind, name in fields.items():
        reference = holder.get(name)
        if isinstance(reference, Mapping) and reference.get("optional") is not True:
            yield Requirement(kind=kind, name=text(reference.get(key)))
