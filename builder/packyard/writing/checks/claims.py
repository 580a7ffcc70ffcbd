"""Faults of claims and of what stands for them: several writers, groups without effect, one value for two places.

accessModes: [ReadWriteOnce]          one node may write; the pods of a Deployment are on several
"""

from collections.abc import Iterator

from packyard.core.kubernetes.kinds import APPS, BATCH, CORE, called, is_kind
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import mappings, scalars
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.core.yaml.values import flag
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

#: Where an object says how many of its pods there are at a time.
_COUNTS = ("replicas", "parallelism")
#: Volumes with a path elsewhere, which fsGroup does not change.
_ELSEWHERE = ("nfs", "hostPath")
#: Claims for one node, or for one pod.
_SINGLE = {"ReadWriteOnce", "ReadWriteOncePod"}


def check(subject: Subject) -> Iterator[Finding]:
    """Find claims that several pods write where one may, and settings of volumes that do not work."""
    claims = subject.named(CORE, "PersistentVolumeClaim").items()
    single = {name: root for name, root in claims if (modes := _modes(root)) and modes <= _SINGLE}
    users: dict[str, list[MappingNode]] = {}
    for root in subject.objects:
        for pod in subject.pods_of(root):
            for name in (written for written in _claimed(pod) if written.value in single):
                users.setdefault(name.value, []).append(root)
                yield from _many(root, name, single[name.value], subject)
            yield from _one_value(pod, subject)
            yield from _host_paths(root, pod, subject)
    for claim, roots in users.items():
        yield from _several(single[claim], roots) if len(roots) > 1 else ()


def _claimed(pod: Pod[MappingNode]) -> Iterator[Scalar]:
    """Yield the names of the claims that a pod may write."""
    for volume in pod.volumes:
        name = volume.scalar("persistentVolumeClaim", "claimName")
        is_written = any(not flag(mount.get("readOnly")) for mount in _mounts(pod, volume))
        if name and name.value and not flag(volume.find("persistentVolumeClaim", "readOnly")) and is_written:
            yield name


def _mounts(pod: Pod[MappingNode], volume: MappingNode) -> list[MappingNode]:
    """Return where containers see a volume."""
    mounts = (mount for container in pod.containers for mount in mappings(container.get("volumeMounts")))
    return [mount for mount in mounts if mount.text("name") == volume.text("name")]


def _modes(claim: MappingNode) -> set[str]:
    return {scalar.value for scalar in scalars(claim.find("spec", "accessModes"))}


def _many(root: MappingNode, name: Scalar, claim: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find a claim for one writer in an object that has several pods, now or after a set."""
    count = _count(root, subject)
    strategy = root.mapping("spec", "strategy") or root
    what = f"claim {name.value!r}, which is for one node ({', '.join(sorted(_modes(claim)))})"
    if count is not None:
        setters = subject.changed_by(count)
        how = f"{count.value} pods write" if not setters else f"as many pods write as {', '.join(sorted(setters))} says"
        yield breach("single-writer", name, f"{how} {what}", "use ReadWriteMany, or a claim for each pod")
    elif (
        is_kind(root, APPS, "Deployment")
        and strategy.text("type") != "Recreate"
        and strategy.text("rollingUpdate", "maxSurge") not in ("0", "0%")
    ):
        message = f"a rollout starts a pod while the one before holds {what}: on another node it waits for ever"
        yield breach("single-writer", name, message, "strategy: {type: Recreate}, or ReadWriteMany")


def _count(root: MappingNode, subject: Subject) -> Scalar | None:
    """Return the number of pods that an object has at a time, if that is more than one, or may be after a set."""
    count = next(filter(None, (root.scalar("spec", field) for field in _COUNTS)), None)
    is_many = count is not None and count.value.isdecimal() and int(count.value) > 1
    return count if is_many or subject.changed_by(count) else None


def _several(claim: MappingNode, roots: list[MappingNode]) -> Iterator[Finding]:
    """Find a claim for one writer that the pods of several objects, or of several roles, write."""
    kinds = ", ".join(dict.fromkeys(f"{root.text('kind')} {called(root)}" for root in roots))
    is_for_one_pod = _modes(claim) == {"ReadWriteOncePod"}
    message = f"several pods write this claim, which is for one {'pod' if is_for_one_pod else 'node'} ({kinds})"
    hint = "use ReadWriteMany, or a claim for each"
    place = claim.find("spec", "accessModes") or claim
    yield breach("single-writer", place, message, hint, severity="error" if is_for_one_pod else "warning")


def _one_value(pod: Pod[MappingNode], subject: Subject) -> Iterator[Finding]:
    """Find a setter that is both where a volume comes from and where containers see it."""
    for volume in pod.volumes:
        for kind in _ELSEWHERE:
            path = volume.find(kind, "path")
            setters = subject.changed_by(path)
            inside = (mount.get("mountPath") for mount in _mounts(pod, volume))
            if path and setters and any(subject.changed_by(node) == setters for node in inside):
                message = (
                    f"{', '.join(sorted(setters))} is the directory of the {kind} volume and where containers see it: "
                    "a directory can only be mounted at its own path"
                )
                yield breach("one-value-two-places", path, message, "give the mount a path of its own")


def _host_paths(root: MappingNode, pod: Pod[MappingNode], subject: Subject) -> Iterator[Finding]:
    """Find directories of nodes in pods of which there are several, which a node without them makes empty."""
    if not is_kind(root, APPS, "Deployment", "ReplicaSet", "StatefulSet") and not is_kind(root, BATCH, "Job"):
        return
    for volume in pod.volumes if _count(root, subject) else ():
        host_path = volume.mapping("hostPath")
        if host_path and host_path.text("type") not in ("Directory", "File") and (entry := host_path.entry("path")):
            message = "there are several pods, and each sees the directory of the node that it happens to run on"
            yield breach("host-path-of-many", entry, message, "use a claim")
