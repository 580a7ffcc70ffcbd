"""Where the results of a run are: what its ConfigMap says of its output, and the volume that holds that.

OUTPUT_DIR: /storage/ann/mnist/first-run/output      ->  /storage/ann/… in the pods, 10.0.0.5:/exports/ann/… by NFS
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import CORE
from packyard.core.kubernetes.lenient import kind_of, mapping, mappings, text
from packyard.core.kubernetes.pods import Pod
from packyard.running.runs.run import Object

_OUTPUT = "OUTPUT_DIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place of results: a directory in the pods, with the first pod that mounts it, or the address of a bucket."""

    path: str
    pod: Pod[Any] | None = None
    container: Mapping[str, Any]
    mount: Mapping[str, Any]
    volume: Mapping[str, Any]

    @property
    def is_address(self) -> bool:
        """Whether it is a bucket, which no pod mounts."""
        return "://" in self.path

    @property
    def claim(self) -> str:
        """The claim that holds it, or an empty text."""
        return text(mapping(self.volume.get("persistentVolumeClaim")).get("claimName"))

    @property
    def held(self) -> str:
        """What holds it, for people: ``ann/mnist/output on claim disk``; empty where nothing says it."""
        root = text(self.mount.get("mountPath"))
        inside = PurePosixPath(text(self.mount.get("subPath"))) / PurePosixPath(self.path).relative_to(root or "/")
        nfs = mapping(self.volume.get("nfs"))
        if nfs:
            return f"{text(nfs.get('server'))}:{PurePosixPath(text(nfs.get('path'))) / inside} by NFS"
        if self.claim:
            return f"{inside} on claim {self.claim}"
        if self.is_fleeting:
            return "on a volume that is deleted with each pod"
        if host := text(mapping(self.volume.get("hostPath")).get("path")):
            return f"{PurePosixPath(host) / inside} on the node of each pod"
        return ""

    @property
    def is_fleeting(self) -> bool:
        """Whether it is gone with the pod."""
        return "ephemeral" in self.volume or "emptyDir" in self.volume

    def __str__(self) -> str:
        if self.is_address:
            return self.path
        return f"{self.path} in the pods" + (f", {self.held}" if self.held else "")


def places(objects: Sequence[Object]) -> list[Place]:
    """Return where the objects of a run write results; nothing where they do not say it."""
    maps = (mapping(item.get("data")) for item in objects if kind_of(item) == (CORE, "ConfigMap"))
    outputs = dict.fromkeys(output for data in maps if (output := text(data.get(_OUTPUT))))
    return [_place(objects, output) for output in outputs]


def _place(objects: Sequence[Object], output: str) -> Place:
    nowhere = Place(path=output, container={}, mount={}, volume={})
    return nowhere if nowhere.is_address else next(_mounted(objects, PurePosixPath(output)), nowhere)


def _mounted(objects: Sequence[Object], output: PurePosixPath) -> Iterator[Place]:
    """Yield a directory as pods mount it that have a volume there."""
    for pod in pods.find_all(objects):
        volumes = {text(each.get("name")): each for each in pod.volumes}
        for container in pod.containers:
            mounts = [
                (PurePosixPath(path), each)
                for each in mappings(container.get("volumeMounts"))
                if (path := text(each.get("mountPath"))) and output.is_relative_to(path)
            ]
            if mounts:
                _, mount = max(mounts, key=lambda each: len(each[0].parts))
                volume = mapping(volumes.get(text(mount.get("name"))))
                yield Place(path=str(output), pod=pod, container=container, mount=mount, volume=volume)
