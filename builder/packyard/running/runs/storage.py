"""Claims for storage: which of them pods mount, and which come with objects or are made of their templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.lenient import Object, mapping, mappings, text
from packyard.core.kubernetes.pods import Pod

CLAIM = "PersistentVolumeClaim"


def mounts(pod: Pod[Object]) -> Iterator[tuple[str, bool]]:
    """Yield the name of each claim that a pod mounts, and whether a container may write to it."""
    mounted = [mount for each in pod.containers for mount in mappings(each.get("volumeMounts"))]
    for volume in pod.volumes:
        source = mapping(volume.get("persistentVolumeClaim"))
        if name := text(source.get("claimName")):
            own = (each for each in mounted if each.get("name") == volume.get("name"))
            writes = any(each.get("readOnly") is not True for each in own)
            yield name, writes and source.get("readOnly") is not True


def brought(objects: Sequence[Object]) -> list[Object]:
    """Return the claims among objects."""
    return [item for item in objects if item.get("kind") == CLAIM]


def templates(objects: Sequence[Object]) -> list[Object]:
    """Return what claims are made of that live as long as a pod, or are one for each pod of an object."""
    per_pod = [each for item in objects for each in mappings(mapping(item.get("spec")).get("volumeClaimTemplates"))]
    volumes = [volume for pod in pods.find_all(objects) for volume in pod.volumes]
    ephemeral = [mapping(mapping(each.get("ephemeral")).get("volumeClaimTemplate")) for each in volumes]
    return [*per_pod, *(each for each in ephemeral if each)]
