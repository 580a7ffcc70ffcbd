"""Faults of what containers see of volumes: results that are not on any volume.

mountPath: /pvc                       a claim
OUTPUT_DIR: /scratch/output           on no volume: lost with the container
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from packyard.core.errors import suggest
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.writing.checks import keys, variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

#: Volumes with directories that others own: a claim, an export, a directory of the node.
_FOREIGN = ("persistentVolumeClaim", "nfs", "hostPath", "ephemeral", "csi")
#: Volumes whose files the kubelet writes, as root, with a mode.
_WRITTEN = ("secret", "configMap", "projected", "downwardAPI")
#: Variables that say where results go.
_RESULTS = re.compile(r"(^|_)(OUTPUT|CHECKPOINT|CHECKPOINTS|CKPT|RESULTS?)_(DIR|DIRECTORY|PATH)$")
_OPTION = re.compile(r"--?((?:output|results?|save)[-_](?:dir|directory|path))(?:[=\s]+['\"]?(/[\w./-]+)|\Z)")
#: What a program that uploads its results itself is told, and where nobody expects them to stay.
_UPLOADS = re.compile(r"\b(?:s3|gs|gcs|az|abfss?|oci|hf|hdfs|https?)://")
_SCRATCH = ("/tmp", "/scratch", "/var/tmp")
#: A word of a command that is a file, or an option with one.
_FILE = re.compile(r"(?:--?[\w-]+=)?(/[\w./-]+)")
_EXECUTE = 0o111


@dataclass(frozen=True, slots=True)
class _Mount:
    """A mount of a container: its path, and the volume of the pod."""

    node: MappingNode
    path: Scalar
    volume: MappingNode

    @property
    def written(self) -> MappingNode | None:
        """The source of the volume whose files the kubelet writes, if it is one."""
        return next((source for kind in _WRITTEN if (source := self.volume.mapping(kind))), None)

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
                    yield from _results(mounts, container, pod, parsed)
                yield from _home(mounts, container, parsed)
                yield from _not_executable(mounts, container)
                yield from _missing_files(mounts, container, parsed)


def _mounts(container: MappingNode, volumes: dict[str, MappingNode]) -> Iterator[_Mount]:
    for node in mappings(container.get("volumeMounts")):
        path, volume = node.scalar("mountPath"), volumes.get(node.text("name"))
        if path and path.value and volume is not None:
            yield _Mount(node, path, volume)


def _mode(node: Node | None) -> int | None:
    """Return a mode, which YAML 1.1 writes in octal digits after a zero."""
    text = node.value if isinstance(node, Scalar) else ""
    digits = text.removeprefix("0o") if text.startswith("0o") else text
    if not digits.isdecimal():
        return None
    try:
        return int(digits, 8 if text.startswith("0") else 10)
    except ValueError:
        return None


def confinement(container: MappingNode, pod: Pod[MappingNode], field: str) -> Scalar | None:
    """Return what a container's securityContext says, or else that of its pod."""
    held = (each.scalar(field) for each in (container.get("securityContext"), pod.get("securityContext")) if each)
    return next((each for each in held if each and each.value), None)


def _runs_as_root(pod: Pod[MappingNode], container: MappingNode) -> bool:
    """Say whether a container is not known to run as another user."""
    user, promise = (confinement(container, pod, field) for field in ("runAsUser", "runAsNonRoot"))
    return bool(user and user.value == "0") or (not user and not (promise and promise.value == "true"))


def _results(mounts: list[_Mount], container: MappingNode, pod: Pod[MappingNode], parsed: Parsed) -> Iterator[Finding]:
    """Find a directory of results that is on no volume, or where the container cannot write.

    A container that can write on none of its claims only reads results of others.
    """
    foreign = [mount for mount in mounts if mount.is_foreign]
    if foreign and all(mount.is_read_only for mount in foreign):
        return
    for name, value, path in _said(container, parsed):
        nearest = _nearest(mounts, path)
        if nearest is None:
            lost = "what is written there is lost with the container"
            message = f"{name} is {path}, which is on no volume: {lost}"
            yield breach("results-not-stored", value, message, "put it below a mount")
        elif nearest.is_read_only:
            message = f"{name} is {path}, below {nearest.path.value}, which is mounted read-only"
            yield breach("results-read-only", value, message, "put it below another mount")
        elif foreign and nearest.volume.get("emptyDir") and _is_own(nearest, container, pod, parsed):
            message = f"{name} is {path}, which is on an emptyDir: what is written there is lost with the pod"
            yield breach("results-not-stored", value, message, f"put it below {foreign[0].path.value}")


def _said(container: MappingNode, parsed: Parsed) -> Iterator[tuple[str, Scalar, str]]:
    """Yield what variables and options say of directories of results: a name, its place, the path."""
    for name, value in variables.find(container, parsed).values.items():
        if _RESULTS.search(name) and isinstance(value, Scalar) and value.value.startswith("/"):
            yield name, value, value.value
    words = list(variables.words(container))
    for word, following in zip_longest(words, words[1:]):
        for match in _OPTION.finditer(word.value):
            place = word if match[2] else following
            path = match[2] or (place.value if place else "")
            if place and path.startswith("/") and "$" not in path:
                yield match[1], place, path


def _is_own(mount: _Mount, container: MappingNode, pod: Pod[MappingNode], parsed: Parsed) -> bool:
    """Say whether no other container has a volume, and this one is told of no place to upload to."""
    name = mount.volume.text("name")
    others = (each for each in pod.containers if each is not container)
    is_shared = any(each.text("name") == name for other in others for each in mappings(other.get("volumeMounts")))
    texts = [*variables.words(container), *variables.find(container, parsed).values.values()]
    return not is_shared and not any(isinstance(each, Scalar) and _UPLOADS.search(each.value) for each in texts)


def _nearest(mounts: list[_Mount], path: str) -> _Mount | None:
    """Return the mount that a path is on: of those above it, the one with the longest path."""
    return max((each for each in mounts if each.holds(path)), key=lambda each: len(each.path.value), default=None)


def _home(mounts: list[_Mount], container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a home where the container cannot write, as its files are read-only and nothing is mounted there."""
    context, home = container.mapping("securityContext"), variables.find(container, parsed).value("HOME")
    if not home or not home.value.startswith("/") or not context or context.text("readOnlyRootFilesystem") != "true":
        return
    nearest = _nearest(mounts, home.value)
    if nearest is None or nearest.is_read_only or any(nearest.volume.get(kind) for kind in _WRITTEN):
        message = f"HOME is {home.value}, where this container can write nothing"
        yield breach("home-read-only", home, message, "mount an emptyDir there, or name another")


def _missing_files(mounts: list[_Mount], container: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find a file that a command names below the mount of a ConfigMap which does not have it."""
    for word in variables.words(container):
        named = _FILE.fullmatch(word.value)
        mount = _nearest(mounts, named[1]) if named else None
        held = mount.volume.mapping("configMap") if mount and mount.node.get("subPath") is None else None
        if named and mount and held:
            files, name = keys.files_of(held, parsed), posixpath.relpath(named[1], mount.path.value)
            if files and not any(f"{each}/".startswith(f"{name}/") for each in files) and name != ".":
                message = f"volume {mount.node.text('name')!r} has no file {name!r}"
                hint = suggest(name, files) or f"it has {', '.join(sorted(files))}"
                yield breach("no-such-key", word, message, hint)


def _not_executable(mounts: list[_Mount], container: MappingNode) -> Iterator[Finding]:
    """Find a program that is a file of a ConfigMap or a Secret, which nobody may execute unless its mode says so."""
    first = next(variables.words(container), None) if container.get("command") else None
    for mount in mounts if first else ():
        held = mount.written
        if first and held and mount.holds(first.value) and held.get("items") is None:
            mode = _mode(held.get("defaultMode"))
            if held.get("defaultMode") is None or (mode is not None and not mode & _EXECUTE):
                message = f"{first.value} is a file of volume {mount.node.text('name')!r}, which nobody may execute"
                yield breach("not-executable", first, message, "defaultMode: 0555, or name its program")
