"""Faults of pods that no schema reports: mounts without volumes, duplicate names, fields at the wrong level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from packyard.checks.builds import Build
from packyard.checks.finding import Finding, error, warning
from packyard.checks.parsed import Parsed
from packyard.kubernetes.kinds import name_of, names
from packyard.kubernetes.pods import Pod
from packyard.yaml.document import walk
from packyard.yaml.node import MappingNode, Scalar

#: Fields of a pod's securityContext that a container's does not have.
_POD_ONLY = ("fsGroup", "fsGroupChangePolicy", "supplementalGroups", "supplementalGroupsPolicy", "sysctls")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find what is wrong with a package's pods."""
    for build in parsed.builds:
        yield from _objects(build)
    for root in parsed.objects:
        found_pods = parsed.pods_of(root)
        yield from _volumes(found_pods)
        for pod in found_pods:
            called = (container.get("name") for container in pod.containers)
            yield from _twice("container", [name for name in called if isinstance(name, Scalar)])
            for container in pod.containers:
                yield from _container(container, pod)


def _objects(build: Build) -> Iterator[Finding]:
    seen: dict[tuple[str, ...], Scalar] = {}
    for root in build.objects:
        metadata, name = root.mapping("metadata"), name_of(root)
        if name is None or metadata is None:
            continue
        apart = build.apart.get(id(root), "")
        identity = (root.text("apiVersion"), root.text("kind"), metadata.text("namespace"), name.value, apart)
        first = seen.setdefault(identity, name)
        if first is not name:
            hint = f"also at {first.source.name}:{first.source.locate(first.start)[0]}"
            message = f"{root.text('kind')} {name.value!r} occurs twice"
            yield error("duplicate-name", name.source, name.start, message, hint)


def _volumes(found_pods: list[Pod[MappingNode]]) -> Iterator[Finding]:
    """Find volumes that no container mounts; those of a Workflow are for all of its pods."""
    for node in {id(node): node for pod in found_pods for _, node in pod.chain}.values():
        declared = names(node.get("volumes"))
        mounted = {name.value for name in _mounts(node)} if declared else set()
        for name in declared:
            if name.value not in mounted:
                message = f"no container mounts volume {name.value!r}"
                yield warning("volume-never-mounted", name.source, name.start, message, "mount it, or remove it")
        yield from _twice("volume", declared)


def _mounts(node: MappingNode) -> list[Scalar]:
    """Return the names that all mounts and devices in a node refer to."""
    inside = [each for each in walk(node) if isinstance(each, MappingNode)]
    return [name for each in inside for field in ("volumeMounts", "volumeDevices") for name in names(each.get(field))]


def _container(container: MappingNode, pod: Pod[MappingNode]) -> Iterator[Finding]:
    called = container.text("name")
    label = f"container {called!r}" if called else "the container"
    for name in _mounts(container):
        if name.value not in pod.volume_names:
            known = ", ".join(sorted(pod.volume_names))
            message = f"{label} mounts {name.value!r}, which is not a volume of its pod"
            hint = f"the volumes are {known}" if known else "the pod has no volumes"
            yield error("mount-without-volume", name.source, name.start, message, hint)
    context = container.mapping("securityContext")
    for entry in context.entries if context else ():
        if entry.name in _POD_ONLY:
            message = f"{entry.name} in the securityContext of {label} is not a field there, and is rejected or dropped"
            hint = "put it into the pod's securityContext"
            yield error("pod-field-in-container", entry.key.source, entry.start, message, hint)
    yield from _twice("variable", names(container.get("env")))


def _twice(what: str, called: list[Scalar]) -> Iterator[Finding]:
    counted: Counter[str] = Counter()
    for name in called:
        counted[name.value] += 1
        if counted[name.value] > 1:
            find = warning if what == "variable" else error
            yield find("duplicate-name", name.source, name.start, f"{what} {name.value!r} occurs twice")
