"""Faults of what containers see of volumes: mounts that hide or break each other, results that are not on any volume.

mountPath: /pvc                       a claim
mountPath: /pvc/cache                 below it: its mount point has to be made inside of the claim, as root
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
#: Variables that say where downloads are kept, and options of commands that say either.
_CACHES = re.compile(r"(HF_HOME|HF_HUB_CACHE|HUGGINGFACE_HUB_CACHE|TRANSFORMERS_CACHE|HF_DATASETS_CACHE|TORCH_HOME)$")
_OPTION = re.compile(
    r"--?(?:((?:output|results?|save)[-_](?:dir|directory|path))|(download[-_]dir))(?:[=\s]+['\"]?(/[\w./-]+)|\Z)"
)
#: What a program that uploads its results itself is told, and where nobody expects them to stay.
_UPLOADS = re.compile(r"\b(?:s3|gs|gcs|az|abfss?|oci|hf|hdfs|https?)://")
_SCRATCH = ("/tmp", "/scratch", "/var/tmp")
#: A word of a command that is a file, or an option with one.
_FILE = re.compile(r"(?:--?[\w-]+=)?(/[\w./-]+)")
_OTHERS_READ = 0o004
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
                yield from _same(mounts)
                yield from _below(mounts, pod, container)
                yield from _unreadable(mounts, pod, container)
                if mounts:
                    yield from _results(mounts, container, pod, parsed)
                yield from _shared_memory(mounts)
                yield from _home(mounts, container, parsed)
                yield from _not_executable(mounts, container)
                yield from _missing_files(mounts, container, parsed)


def _mounts(container: MappingNode, volumes: dict[str, MappingNode]) -> Iterator[_Mount]:
    for node in mappings(container.get("volumeMounts")):
        path, volume = node.scalar("mountPath"), volumes.get(node.text("name"))
        if path and path.value and volume is not None:
            yield _Mount(node, path, volume)


def _same(mounts: list[_Mount]) -> Iterator[Finding]:
    seen: set[str] = set()
    for mount in mounts:
        if mount.path.value in seen:
            message = f"two volumes are mounted at {mount.path.value}: the API server rejects the pod"
            yield breach("same-mount-path", mount.path, message, "give one of them another path")
        seen.add(mount.path.value)


def _below(mounts: list[_Mount], pod: Pod[MappingNode], container: MappingNode) -> Iterator[Finding]:
    """Find a mount below a claim or an export: a directory for it has to be made inside, as root."""
    for outer in mounts:
        for inner in mounts:
            path = inner.path.value
            if inner is outer or not outer.is_foreign or path == outer.path.value or not outer.holds(path):
                continue
            if outer.is_read_only:
                above = f"the read-only mount {outer.path.value}"
                message = f"{path} lies below {above}, where its directory cannot be made"
            elif _runs_as_root(pod, container) or outer.volume.get("hostPath"):
                continue
            else:
                message = (
                    f"{path} lies below {outer.path.value}: its directory is made there as root, "
                    "which the pod's user may not read and a server may refuse"
                )
            hint = "mount it beside the other, not below"
            yield breach("mount-below-claim", inner.path, message, hint)


def _unreadable(mounts: list[_Mount], pod: Pod[MappingNode], container: MappingNode) -> Iterator[Finding]:
    """Find files of a Secret or a ConfigMap whose mode does not let the user of the container read them."""
    if _runs_as_root(pod, container) or pod.spec.find("securityContext", "fsGroup"):
        return
    for mount in mounts:
        held = mount.written
        modes = [held.get("defaultMode"), *(item.get("mode") for item in mappings(held.get("items")))] if held else []
        for mode in modes:
            number = _mode(mode)
            if mode is not None and number is not None and not number & _OTHERS_READ:
                message = f"only root can read files of mode {number:04o}, and the container runs as another user"
                yield breach("unreadable-mount", mode, message, "add fsGroup, or use mode 0444")


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
    for name, value, path, is_cache in _said(container, parsed):
        nearest = _nearest(mounts, path)
        if is_cache:
            if nearest is None and foreign and not path.startswith(_SCRATCH):
                message = f"{name} is {path}, which is on no volume: each start downloads everything again"
                yield breach("cache-not-stored", value, message, "put it below a mount")
        elif nearest is None:
            lost = "what is written there is lost with the container"
            message = f"{name} is {path}, which is on no volume: {lost}"
            yield breach("results-not-stored", value, message, "put it below a mount")
        elif nearest.is_read_only:
            message = f"{name} is {path}, below {nearest.path.value}, which is mounted read-only"
            yield breach("results-read-only", value, message, "put it below another mount")
        elif foreign and nearest.volume.get("emptyDir") and _is_own(nearest, container, pod, parsed):
            message = f"{name} is {path}, which is on an emptyDir: what is written there is lost with the pod"
            yield breach("results-not-stored", value, message, f"put it below {foreign[0].path.value}")


def _said(container: MappingNode, parsed: Parsed) -> Iterator[tuple[str, Scalar, str, bool]]:
    """Yield what variables and options say of directories: a name, its place, the path, whether it is a cache."""
    own = variables.find(container, parsed)
    is_offline = any(own.value(name) for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))
    for name, value in own.values.items():
        is_cache = bool(_CACHES.search(name)) and not is_offline
        if (is_cache or _RESULTS.search(name)) and isinstance(value, Scalar) and value.value.startswith("/"):
            yield name, value, value.value, is_cache
    words = list(variables.words(container))
    for word, following in zip_longest(words, words[1:]):
        for match in _OPTION.finditer(word.value):
            place = word if match[3] else following
            path = match[3] or (place.value if place else "")
            if place and path.startswith("/") and "$" not in path:
                yield match[1] or match[2], place, path, bool(match[2])


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


def _shared_memory(mounts: list[_Mount]) -> Iterator[Finding]:
    """Find a volume for shared memory that is on disk."""
    for mount in mounts:
        empty = mount.volume.mapping("emptyDir") if mount.path.value.rstrip("/") == "/dev/shm" else None
        if empty and empty.text("medium") != "Memory":
            message = "the volume at /dev/shm is a directory on disk, and no memory"
            yield breach("shared-memory", mount.node, message, "emptyDir: {medium: Memory}")


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
