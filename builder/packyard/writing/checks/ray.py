"""Ray clusters: whether their images have the version of Ray that the operator is told, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packyard.core.errors import InputError
from packyard.core.kubernetes import images
from packyard.core.kubernetes.kinds import RAY, is_kind, kind_of
from packyard.core.yaml.document import entries, mappings, parse_text
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.core.yaml.span import embedded
from packyard.core.yaml.values import implicit_type
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_CLUSTER = {"RayCluster": ("spec",), "RayJob": ("spec", "rayClusterSpec"), "RayService": ("spec", "rayClusterConfig")}
#: Images whose tags begin with the version of Ray.
_OFFICIAL = re.compile(r"(?:.*/)?rayproject/ray(?:-ml|-llm)?\Z")
_VERSION = re.compile(r"(\d+\.\d+\.\d+)(?:[.-]|\Z)")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find versions that differ, and values that the API server or the operator refuses."""
    for root in parsed.fresh:
        cluster = cluster_of(root)
        if cluster:
            yield from _versions(root, cluster, parsed)
            yield from _started(cluster)
            yield from _job(root)


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


def _started(cluster: MappingNode) -> Iterator[Finding]:
    """Find parameters that are no text, which the API server refuses."""
    for group in (cluster.mapping("headGroupSpec"), *mappings(cluster.get("workerGroupSpecs"))):
        for entry in entries(group.get("rayStartParams")) if group else ():
            value = entry.value
            if isinstance(value, Scalar) and value.style == "plain" and implicit_type(value.value) != "string":
                message = f"{entry.name} is {value.value} where text is expected"
                yield breach("wrong-type", value, message, "put it in quotes")


def _job(root: MappingNode) -> Iterator[Finding]:
    """Find what the operator refuses of a RayJob."""
    spec = root.mapping("spec") if is_kind(root, RAY, "RayJob") else None
    life = spec.scalar("ttlSecondsAfterFinished") if spec else None
    if spec and life and life.value not in ("", "0") and spec.text("shutdownAfterJobFinishes") != "true":
        message = (
            "the cluster of this job stays when it has finished, and so has no time to live: the operator refuses it"
        )
        yield breach("server-refuses", life, message, "shutdownAfterJobFinishes: true")
    environment = spec.scalar("runtimeEnvYAML") if spec else None
    if environment and environment.value:
        try:
            parse_text(embedded(environment))
        except InputError:
            yield breach("wrong-value", environment, "runtimeEnvYAML is no YAML", "pip: [a], for example")
