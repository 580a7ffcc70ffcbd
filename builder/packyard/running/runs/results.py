"""Where the results of a run are: what its ConfigMap says of its output, and the volume that holds that.

OUTPUT_DIR: /storage/ann/mnist/first-run/output      ->  /storage/ann/… in the pods, 10.0.0.5:/exports/ann/… by NFS
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import CORE
from packyard.core.kubernetes.lenient import kind_of, mapping, mappings, text
from packyard.running.runs.run import Object

_OUTPUT = "OUTPUT_DIR"


def places(objects: Sequence[Object]) -> list[str]:
    """Return where the objects of a run write results; nothing where they do not say it."""
    maps = (mapping(item.get("data")) for item in objects if kind_of(item) == (CORE, "ConfigMap"))
    found = dict.fromkeys(output for data in maps if (output := text(data.get(_OUTPUT))))
    return [_described(objects, output) for output in found]


def _described(objects: Sequence[Object], output: str) -> str:
    if "://" in output:
        return output
    held = next(_holders(objects, PurePosixPath(output)), "")
    return f"{output} in the pods, {held}" if held else f"{output} in the pods"


def _holders(objects: Sequence[Object], output: PurePosixPath) -> Iterator[str]:
    """Yield what holds a directory, of the pods that have a volume there."""
    for pod in pods.find_all(objects):
        volumes = {text(each.get("name")): each for each in pod.volumes}
        for container in pod.containers:
            mounts = [
                (PurePosixPath(path), each)
                for each in mappings(container.get("volumeMounts"))
                if (path := text(each.get("mountPath"))) and output.is_relative_to(path)
            ]
            if mounts:
                root, mount = max(mounts, key=lambda each: len(each[0].parts))
                inside = PurePosixPath(text(mount.get("subPath"))) / output.relative_to(root)
                yield _volume(mapping(volumes.get(text(mount.get("name")))), inside)


def _volume(volume: Mapping[str, object], inside: PurePosixPath) -> str:
    nfs, claim = mapping(volume.get("nfs")), mapping(volume.get("persistentVolumeClaim"))
    if nfs:
        return f"{text(nfs.get('server'))}:{PurePosixPath(text(nfs.get('path'))) / inside} by NFS"
    if claim:
        return f"{inside} on claim {text(claim.get('claimName'))}"
    if "ephemeral" in volume or "emptyDir" in volume:
        return "on a volume that is deleted with each pod"
    if host := text(mapping(volume.get("hostPath")).get("path")):
        return f"{PurePosixPath(host) / inside} on the node of each pod"
    return ""
