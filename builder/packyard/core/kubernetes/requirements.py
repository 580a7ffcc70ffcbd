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

from packyard.core.kubernetes import dependencies, pod_security, pods
from packyard.core.kubernetes.dependencies import ALWAYS_THERE
from packyard.core.kubernetes.groups import definitions
from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of, text, type_of
from packyard.core.kubernetes.pods import Pod


def find(objects: Sequence[Object], definition_names: Collection[str] = ()) -> tuple[str, ...]:
    """Return what ``objects`` need and do not bring, by the names of definitions, sorted, each once.

    It is told in the words of packyard.json, kind and name: ``NFS 10.0.0.5:/models``.
    """
    all_pods = pods.find_all(objects)
    needed = {
        ("CustomResourceDefinition", name) for item in objects for name in definitions(*type_of(item), definition_names)
    }
    needed |= {
        ("Namespace", name) for item in objects if (name := text(mapping(item.get("metadata")).get("namespace")))
    }
    needed.update(_mounted(objects, all_pods))
    needed.update(_resources(all_pods))
    needed.update(reference for pod in all_pods for reference in _references(pod))
    if level := pod_security.find(all_pods):
        needed.add(("PodSecurity", level.name))
    brought = {(text(item.get("kind")), name_of(item)) for item in objects}
    return tuple(" ".join(words) for words in sorted(needed - brought - ALWAYS_THERE))


def _mounted(objects: Sequence[Object], all_pods: Sequence[Pod[Object]]) -> Iterator[tuple[str, str]]:
    volumes = [volume for pod in all_pods for volume in pod.volumes]
    volumes += [mapping(item.get("spec")) for item in objects if item.get("kind") == "PersistentVolume"]
    for volume in volumes:
        if isinstance(export := volume.get("nfs"), Mapping):
            yield "NFS", f"{text(export.get('server'))}:{text(export.get('path'))}"
        if driver := text(mapping(volume.get("csi")).get("driver")):
            yield "CSIDriver", driver


def _resources(all_pods: Sequence[Pod[Object]]) -> Iterator[tuple[str, str]]:
    for container in (container for pod in all_pods for container in pod.containers):
        resources = mapping(container.get("resources"))
        for name, amount in {**mapping(resources.get("requests")), **mapping(resources.get("limits"))}.items():
            if isinstance(name, str) and "/" in name and str(amount) != "0":
                yield "Resource", name


def _references(pod: Pod[Object]) -> Iterator[tuple[str, str]]:
    """Yield the objects in its own namespace that a pod cannot start without."""
    account = pod.get("serviceAccountName")
    account = pod.get("serviceAccount") if account is None else account
    if isinstance(account, str):
        yield "ServiceAccount", account
    for secret in mappings(pod.get("imagePullSecrets")):
        yield "Secret", text(secret.get("name"))
    for reference in dependencies.find(pod):
        if not reference.is_optional:
            yield reference.kind, reference.name
