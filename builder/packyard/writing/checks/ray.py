"""Ray clusters: whether their images have the version of Ray that the operator is told, and their groups a size."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packyard.core.kubernetes import images
from packyard.core.kubernetes.kinds import RAY, kind_of
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_CLUSTER = {"RayCluster": ("spec",), "RayJob": ("spec", "rayClusterSpec"), "RayService": ("spec", "rayClusterConfig")}
#: Images whose tags begin with the version of Ray.
_OFFICIAL = re.compile(r"(?:.*/)?rayproject/ray(?:-ml|-llm)?\Z")
_VERSION = re.compile(r"(\d+\.\d+\.\d+)(?:[.-]|\Z)")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find versions that differ, and groups whose least size is above the greatest."""
    for root in parsed.fresh:
        cluster = cluster_of(root)
        if cluster:
            yield from _versions(root, cluster, parsed)
            for group in mappings(cluster.get("workerGroupSpecs")):
                yield from _sizes(group)


def cluster_of(root: MappingNode) -> MappingNode | None:
    """Return what describes the cluster of an object; None where it has none."""
    group, kind = kind_of(root)
    return root.mapping(*_CLUSTER[kind]) if group == RAY and kind in _CLUSTER else None


def _versions(root: MappingNode, cluster: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    ray_version = cluster.scalar("rayVersion")
    if ray_version is None or not _VERSION.match(ray_version.value):
        return
    image_versions: list[tuple[Scalar, str]] = []
    for node in filter(None, (container.scalar("image") for container in parsed.containers_of(root))):
        image = images.parse(parsed.image(node.value))
        version = _VERSION.match(image.tag) if _OFFICIAL.match(image.name) else None
        if version:
            image_versions.append((node, version[1]))
    versions = {each for _, each in image_versions}
    if len(versions) == 1 and ray_version.value not in versions:
        message = f"rayVersion is {ray_version.value}, and the images have Ray {versions.pop()}"
        yield breach("ray-version", ray_version, message, "make both the same")
    elif len(versions) > 1:
        for place, tag in image_versions:
            if tag != ray_version.value:
                message = f"the image has Ray {tag}, and rayVersion is {ray_version.value}: its processes do not join"
                yield breach("ray-version", place, message, "give all images the same version")


def _sizes(group: MappingNode) -> Iterator[Finding]:
    least, most = group.scalar("minReplicas"), group.text("maxReplicas")
    if least and least.value.isdecimal() and most.isdecimal() and int(least.value) > int(most):
        message = f"minReplicas is {least.value}, and maxReplicas {most}"
        yield breach("wrong-value", least, message, "raise maxReplicas")
