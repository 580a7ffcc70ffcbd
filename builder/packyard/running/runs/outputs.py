"""Where the results of a run are: what its ConfigMap says of its output, and the volume that holds that.

OUTPUT_DIR: /storage/ann/mnist/first-run/output      ->  /storage/ann/… in the pods, 10.0.0.5:/exports/ann/… by NFS
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import CORE, kind_of
from packyard.core.kubernetes.lenient import mapping, mappings, text
from packyard.core.kubernetes.pods import Pod
from packyard.running.runs.run import MANAGED, Object

_OUTPUT = "OUTPUT_DIR"
#: The longest name of a run in that of what is made for it.
_LONGEST = 40
_SECONDS = 24 * 3600
_OF_POD = ("hostUsers", "imagePullSecrets", "os", "runtimeClassName", "tolerations")
_OF_PODS = {"emptyDir", "ephemeral", "hostPath"}
_CONFINED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "privileged": False,
    "readOnlyRootFilesystem": True,
}
_RESOURCES = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place of results: a directory in the pods, with the first pod that mounts it, or the address of a bucket."""

    path: str
    pod: Pod[Any] | None = None
    container: Mapping[str, Any]
    mount: Mapping[str, Any]
    volume: Mapping[str, Any]

    @property
    def location(self) -> str:
        """What holds it, for people: ``ann/mnist/output on claim disk``; empty where nothing says it."""
        if not self.volume:
            return ""
        root = text(self.mount.get("mountPath"))
        inside = PurePosixPath(text(self.mount.get("subPath"))) / PurePosixPath(self.path).relative_to(root or "/")
        nfs = mapping(self.volume.get("nfs"))
        if nfs:
            return f"{text(nfs.get('server'))}:{PurePosixPath(text(nfs.get('path'))) / inside} by NFS"
        if claim := mapping(self.volume.get("persistentVolumeClaim")):
            return f"{inside} on claim {text(claim.get('claimName'))}"
        return "on a volume that only its pods have" if self.is_of_pods else ""

    @property
    def is_of_pods(self) -> bool:
        """Whether no other pod can have its volume."""
        return not _OF_PODS.isdisjoint(self.volume)

    def __str__(self) -> str:
        if "://" in self.path:  # a bucket, which no pod mounts
            return self.path
        return f"{self.path} in the pods" + (f", {self.location}" if self.location else "")


def places(objects: Sequence[Object]) -> list[Place]:
    """Return where the objects of a run write results; nothing where they do not say it."""
    maps = (mapping(item.get("data")) for item in objects if kind_of(item) == (CORE, "ConfigMap"))
    outputs = dict.fromkeys(output for data in maps if (output := text(data.get(_OUTPUT))))
    nowhere = (Place(path=output, container={}, mount={}, volume={}) for output in outputs)
    return [next(_mounted(objects, place.path), place) for place in nowhere]


def _mounted(objects: Sequence[Object], output: str) -> Iterator[Place]:
    """Yield a directory as pods mount it that have a volume there; none of a bucket."""
    for pod in pods.find_all(objects):
        volumes = {text(volume.get("name")): volume for volume in pod.volumes}
        for container in pod.containers:
            if mount := mount_around(output, container):
                volume = mapping(volumes.get(text(mount.get("name"))))
                yield Place(path=output, pod=pod, container=container, mount=mount, volume=volume)


def mount_around(path: str, container: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the innermost mount of a container that a path is below; an empty one where there is none."""
    mounts = {text(mount.get("mountPath")): mount for mount in mappings(container.get("volumeMounts"))}
    around = [place for place in mounts if place and PurePosixPath(path).is_relative_to(place)]
    return mounts[max(around, key=len)] if around else {}


def reader(place: Place, run: str, number: int) -> Object:
    """Make a pod that can read a place and does nothing, for a day: the run's user, image and volume, and no rights."""
    assert place.pod
    # It has to be allowed to read what the run wrote, and is who that is.
    whole, own = (mapping(spec.get("securityContext")) for spec in (place.pod, place.container))
    container = {
        "name": "results",
        "image": text(place.container.get("image")),
        "command": ["/bin/sh", "-c", f"sleep {_SECONDS}"],
        "resources": _RESOURCES,
        "securityContext": {**own, **_CONFINED},
        "volumeMounts": [{**place.mount, "mountPropagation": "None", "readOnly": True}],
    }
    nodes = mapping(place.pod.get("nodeSelector")).items()
    spec = {
        **{key: value for key in _OF_POD if (value := place.pod.get(key)) is not None},
        "activeDeadlineSeconds": _SECONDS,
        "nodeSelector": {key: value for key, value in nodes if key.startswith("kubernetes.io/")},
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "securityContext": {**whole, "seccompProfile": {"type": "RuntimeDefault"}},
        "volumes": [dict(place.volume)],
        "containers": [container],
    }
    metadata = {"name": f"{run[:_LONGEST].rstrip('-.')}-results-{number}", "labels": MANAGED}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
