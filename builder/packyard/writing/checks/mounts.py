"""Faults of what containers see of volumes: results that are not on any volume.

mountPath: /pvc                       a claim
OUTPUT_DIR: /scratch/output           on no volume: lost with the container
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from packyard.core.errors import suggest
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.writing.checks import keys, variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

#: Volumes with directories that others own: a claim, an export, a directory of the node.
_FOREIGN = ("persistentVolumeClaim", "nfs", "hostPath", "ephemeral", "csi")
#: Variables that say where results go.
_RESULTS = re.compile(r"(^|_)(OUTPUT|CHECKPOINT|CHECKPOINTS|CKPT|RESULTS?)_(DIR|DIRECTORY|PATH)$")
#: A word of a command that is a file, or an option with one.
_FILE = re.compile(r"(?:--?[\w-]+=)?(/[\w./-]+)")


@dataclass(frozen=True, slots=True)
class _Mount:
    """A mount of a container: its path, and the volume of the pod."""

    node: MappingNode
    path: Scalar
    volume: MappingNode

    @property
    def is_foreign(self) -> bool:
        """Whether others own the directories of the volume."""
        return any(entry.name in _FOREIGN for entry in self.volume.entries)

    @property
    def is_read_only(self) -> bool:
        """Whether the container cannot write."""
        held = next((source for kind in _FOREIGN if (source := self.volume.mapping(kind))), None)
        return self.node.text("readOnly") == "true" or (held is not None and held.text("readOnly") == "true")

    def holds(self, path: str) -> bool:
        """Say whether a path is the mounted directory or below it."""
        return f"{posixpath.normpath(path)}/".startswith(posixpath.normpath(self.path.value).rstrip("/") + "/")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find mounts that do not work, and results that get lost."""
    for root in parsed.objects:
        for pod in parsed.pods_of(root):
            volumes = {volume.text("name"): volume for volume in pod.volumes}
            for container in pod.containers:
                mounts = list(_mounts(container, volumes))
                if mounts:
                    yield from _results(mounts, container, parsed)
                yield from _missing_files(mounts, container, parsed)


def _mounts(container: MappingNode, volumes: dict[str, MappingNode]) -> Iterator[_Mount]:
    for node in mappings(container.get("volumeMounts")):
        path, volume = node.scalar("mountPath"), volumes.get(node.text("name"))
        if path and path.value and volume is not None:
            yield _Mount(node, path, volume)


def confinement(container: MappingNode, pod: Pod[MappingNode], field: str) -> Scalar | None:
    """Return what a container's securityContext says, or else that of its pod."""
    held = (each.scalar(field) for each in (container.get("securityContext"), pod.get("securityContext")) if each)
    return next((scalar for scalar in held if scalar and scalar.value), None)


def _results(mounts: list[_Mount], container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a directory of results that is on no volume, or where the container cannot write.

    A container that can write on none of its claims only reads results of others.
    """
    foreign = [mount for mount in mounts if mount.is_foreign]
    if foreign and all(mount.is_read_only for mount in foreign):
        return
    for name, value in variables.find(container, parsed).values.items():
        path = value.value if isinstance(value, Scalar) and _RESULTS.search(name) else ""
        nearest = _nearest(mounts, path) if path.startswith("/") else None
        if not isinstance(value, Scalar) or not path.startswith("/"):
            continue
        if nearest is None:
            message = f"{name} is {path}, which is on no volume: what is written there is lost with the container"
            yield breach("results-not-stored", value, message, "put it below a mount")
        elif nearest.is_read_only:
            message = f"{name} is {path}, below {nearest.path.value}, which is mounted read-only"
            yield breach("results-read-only", value, message, "put it below another mount")


def _nearest(mounts: list[_Mount], path: str) -> _Mount | None:
    """Return the mount that a path is on: of those above it, the one with the longest path."""
    return max((mount for mount in mounts if mount.holds(path)), key=lambda mount: len(mount.path.value), default=None)


def _missing_files(mounts: list[_Mount], container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a file that a command names below the mount of a ConfigMap which does not have it."""
    for word in variables.words(container):
        named = _FILE.fullmatch(word.value)
        mount = _nearest(mounts, named[1]) if named else None
        held = mount.volume.mapping("configMap") if mount and mount.node.get("subPath") is None else None
        if named and mount and held:
            files, name = keys.files_of(held, parsed), posixpath.relpath(named[1], mount.path.value)
            if files and not any(f"{file}/".startswith(f"{name}/") for file in files) and name != ".":
                message = f"volume {mount.node.text('name')!r} has no file {name!r}"
                hint = suggest(name, files) or f"it has {', '.join(sorted(files))}"
                yield breach("no-such-key", word, message, hint)
