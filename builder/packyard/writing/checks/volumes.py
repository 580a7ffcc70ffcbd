"""What containers take of ConfigMaps, Secrets and volumes: keys and files that are not there, results on no volume.

configMap: {name: settings, items: [{key: a.txt, path: a}]}     settings has the key a.txt
volumeMounts: [{name: settings, subPath: a}]                    and the volume has the file a
mountPath: /pvc                                                 a claim
OUTPUT_DIR: /scratch/output                                     on no volume: lost with the container
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from packyard.core.errors import suggest
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.core.yaml.values import flag
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

#: Volumes with directories that others own: a claim, an export, a directory of the node.
_FOREIGN = ("persistentVolumeClaim", "nfs", "hostPath", "ephemeral", "csi")
#: Variables that say where results go.
_RESULTS = re.compile(r"(^|_)(OUTPUT|CHECKPOINT|CHECKPOINTS|CKPT|RESULTS?)_(DIR|DIRECTORY|PATH)$")
#: A word of a command that is a file, or an option with one.
_FILE = re.compile(r"(?:--?[\w-]+=)?(/[\w./-]+)")
#: What has keys, as a variable and as a volume name it.
_KEYS = {"configMapKeyRef": "ConfigMap", "secretKeyRef": "Secret", "configMap": "ConfigMap", "secret": "Secret"}


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
        nodes = (self.node.get("readOnly"), *(self.volume.find(kind, "readOnly") for kind in _FOREIGN))
        return any(map(flag, nodes))

    def holds(self, path: str) -> bool:
        """Say whether a path is the mounted directory or below it."""
        return f"{posixpath.normpath(path)}/".startswith(posixpath.normpath(self.path.value).rstrip("/") + "/")


def check(subject: Subject) -> Iterator[Finding]:
    """Find keys and files that are not there, mounts that do not work, and results that get lost."""
    for pod in subject.all_pods:
        volumes = {volume.text("name"): volume for volume in pod.volumes}
        listed = [item for container in pod.containers for item in mappings(container.get("env"))]
        for source, kind in _KEYS.items():
            for content in filter(None, (volume.mapping(source) for volume in pod.volumes)):
                for item in mappings(content.get("items")):
                    yield from _missing(item.scalar("key"), content, subject, kind)
            for reference in filter(None, (item.mapping("valueFrom", source) for item in listed)):
                yield from _missing(reference.scalar("key"), reference, subject, kind)
        for container in pod.containers:
            mounts = list(_mounts(container, volumes))
            yield from _results(mounts, container, subject) if mounts else ()
            yield from _missing_files(mounts, container, subject)


def _mounts(container: MappingNode, volumes: dict[str, MappingNode]) -> Iterator[_Mount]:
    for node in mappings(container.get("volumeMounts")):
        path, volume = node.scalar("mountPath"), volumes.get(node.text("name"))
        if path and path.value and volume is not None:
            yield _Mount(node, path, volume)


def _missing(key: Scalar | None, reference: MappingNode, subject: Subject, kind: str) -> Iterator[Finding]:
    """Find a key that a ConfigMap or a Secret of the package does not have."""
    name = reference.text("secretName") or reference.text("name")
    keys = {entry.name for entry in variables.content(name, subject, kind) or ()}
    if keys and not flag(reference.get("optional")) and subject.complete and key and key.value not in keys:
        yield _absent(key, key.value, keys, f"the {kind} has no key {key.value!r}")


def _absent(place: Scalar, name: str, names: set[str], message: str) -> Finding:
    return breach("no-such-key", place, message, suggest(name, names) or f"it has {', '.join(sorted(names))}")


def _results(mounts: list[_Mount], container: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find a directory of results that is on no volume, or where the container cannot write.

    A container that can write on none of its claims only reads results of others.
    """
    foreign = [mount for mount in mounts if mount.is_foreign]
    if foreign and all(mount.is_read_only for mount in foreign):
        return
    for name, value in variables.find(container, subject).values.items():
        if not isinstance(value, Scalar) or not value.value.startswith("/") or not _RESULTS.search(name):
            continue
        path, nearest = value.value, _nearest(mounts, value.value)
        if nearest is None:
            message = f"{name} is {path}, which is on no volume: what is written there is lost with the container"
            yield breach("results-not-stored", value, message, "put it below a mount")
        elif nearest.is_read_only:
            message = f"{name} is {path}, below {nearest.path.value}, which is mounted read-only"
            yield breach("results-read-only", value, message, "put it below another mount")


def _nearest(mounts: list[_Mount], path: str) -> _Mount | None:
    """Return the mount that a path is on: of those above it, the one with the longest path."""
    return max((mount for mount in mounts if mount.holds(path)), key=lambda mount: len(mount.path.value), default=None)


def _missing_files(mounts: list[_Mount], container: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find a file of the volume of a ConfigMap which does not have it: one that is mounted, or that a command names."""
    for mount in mounts:
        files, path = _files(mount, subject), mount.node.scalar("subPath")
        if files and path and path.value and path.value not in files and "$(" not in path.value:
            message = f"the volume has no file {path.value!r}: an empty directory is mounted"
            yield _absent(path, path.value, files, message)
    for word in variables.words(container):
        named = _FILE.fullmatch(word.value)
        above = _nearest(mounts, named[1]) if named else None
        if named and above and above.node.get("subPath") is None:
            files, name = _files(above, subject), posixpath.relpath(named[1], above.path.value)
            if files and not any(f"{file}/".startswith(f"{name}/") for file in files) and name != ".":
                yield _absent(word, name, files, f"volume {above.node.text('name')!r} has no file {name!r}")


def _files(mount: _Mount, subject: Subject) -> set[str]:
    """Return the files of the volume of a ConfigMap; none where nobody knows, or it is another."""
    config_map = mount.volume.mapping("configMap")
    if items := mappings(config_map.get("items")) if config_map else []:
        return {item.text("path") for item in items}
    return {entry.name for entry in variables.content(config_map.text("name"), subject) or ()} if config_map else set()
