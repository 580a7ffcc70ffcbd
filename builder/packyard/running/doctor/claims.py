"""Whether claims that pods mount are there, bound or waiting, in modes that fit; and whether new ones have a class."""

from collections.abc import Iterator, Sequence
from shlex import quote

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.lenient import Object, is_ending, mapping, mappings, name_of, text
from packyard.core.kubernetes.pods import Pod
from packyard.running.doctor import demand
from packyard.running.doctor.demand import PodSet
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, warning
from packyard.running.runs.waiting import CLAIM

_CHECK, _CLASS = "storage", "StorageClass"
_ONE_POD, _ONE_NODE, _READ_ONLY = "ReadWriteOncePod", "ReadWriteOnce", "ReadOnlyMany"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_PENDING = "its pods stay Pending"


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for the claims that pods mount, the classes that make volumes, and nodes: one node may do with one volume."""
    named = frozenset((CLAIM, name) for name in mounted(objects))
    classes = {_CLASS} if named or _new(objects) else set()
    nodes = {"Node"} if mounted(objects, brought=True) else set()
    return Questions(named=named, everywhere=frozenset(classes | nodes))


def judge(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find claims there, with a class where they are new, and in modes that fit."""
    yield from _there(objects, facts)
    yield from _classes(objects, facts)
    yield from _modes_of_all(objects, facts)


def _there(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the claims that pods mount: there, neither lost nor going, and bound or waiting for their first pod."""
    for name in mounted(objects):
        claim, about, fix = facts.find(CLAIM, name), f"{CLAIM} {name}", _describe(name, facts)
        if claim is None:
            why = f"{_PENDING}; name one that is there with PVC_NAME, or have it created"
            fix = f"{facts.inside} get persistentvolumeclaims"
            yield error(_CHECK, about, "is not there", why=why, fix=fix)
        elif message := _wrong(claim, facts):
            yield error(_CHECK, about, message, why=_PENDING, fix=fix)
        else:
            yield passed(_CHECK, about)


def _modes_of_all(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the access modes of claims, there or brought, good for all pods that mount them."""
    own = {name_of(item): item for item in _brought(objects)}
    sets = demand.find(objects)
    for name in mounted(objects, brought=True):
        if claim := own.get(name) or facts.find(CLAIM, name):
            yield _fit(claim, *_use(name, sets), facts)


def _classes(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the class of each claim that comes; one that is to have none waits for a volume that somebody makes."""
    for claim in _new(objects):
        about = f"{CLAIM} {name_of(claim)}" if name_of(claim) else "claims made for pods"
        name = mapping(claim.get("spec")).get("storageClassName")
        classes = (item for item in facts.all(_CLASS) if name_of(item) == name or (name is None and _is_default(item)))
        if name == "" or any(classes):
            yield passed(_CHECK, about)
            continue
        message = (
            f"is of the class {name}, which is not there" if name else "names no class, and no class is the default"
        )
        why, fix = "it stays Pending, with its pods, unless some volume fits it", "kubectl get storageclasses"
        yield warning(_CHECK, about, message, why=why, fix=fix)


def mounted(objects: Sequence[Object], *, brought: bool = False) -> list[str]:
    """Return the names of the claims that pods mount, without those that objects bring."""
    own = {name_of(item) for item in _brought(objects)}
    named = {name for pods in demand.find(objects) for name, _ in _mounts(pods.pod)}
    return sorted(named if brought else named - own)


def _wrong(claim: Object, facts: Facts) -> str:
    """Return what keeps pods from mounting a claim that is there; one that waits for a pod is well."""
    phase = text(mapping(claim.get("status")).get("phase"))
    if is_ending(claim) or phase in ("Bound", "Lost"):
        return "is being deleted" if is_ending(claim) else "has lost its volume" if phase == "Lost" else ""
    class_name = text(mapping(claim.get("spec")).get("storageClassName"))
    storage_class = facts.find(_CLASS, class_name)
    if (storage_class or {}).get("volumeBindingMode") == "WaitForFirstConsumer":
        return ""
    is_missing = class_name and not storage_class
    why = f"its class {class_name} is not there" if is_missing else f"its class is {class_name or 'none'}"
    return f"is not bound to a volume; {why}"


def _fit(claim: Object, count: int, is_written: bool, facts: Facts) -> Finding:
    name, has = name_of(claim), _modes(claim)
    about, fix, many = f"{CLAIM} {name}", _describe(name, facts), f"{count} pods of the run mount it at once"
    if is_written and has == {_READ_ONLY}:
        why = "pods that write to it fail"
        return error(_CHECK, about, f"is {_READ_ONLY}, and pods write to it", why=why, fix=fix)
    if count > 1 and has == {_ONE_POD}:
        return error(_CHECK, about, f"is {_ONE_POD}, and {many}", why="all but one stay Pending", fix=fix)
    if count > 1 and has and has <= {_ONE_POD, _ONE_NODE} and len(facts.all("Node")) != 1:
        why = "those on another node than the first stay ContainerCreating; a claim for all nodes is ReadWriteMany"
        return warning(_CHECK, about, f"is {_ONE_NODE}, and {many}", why=why, fix=fix)
    return passed(_CHECK, f"access to {about}")


def _use(name: str, sets: Sequence[PodSet]) -> tuple[int, bool]:
    """Return how many pods mount a claim at once, and whether any writes to it."""
    counts, is_written = [0], False
    for moment in demand.moments(sets):
        mounts = [(pods.count, writes) for pods in moment for claim, writes in _mounts(pods.pod) if claim == name]
        counts.append(sum(count for count, _ in mounts))
        is_written |= any(writes for _, writes in mounts)
    return max(counts), is_written


def _mounts(pod: Pod[Object]) -> Iterator[tuple[str, bool]]:
    """Yield the name of each claim that a pod mounts, and whether a container may write to it."""
    mounted_volumes = [mount for container in pod.containers for mount in mappings(container.get("volumeMounts"))]
    for volume in pod.volumes:
        source = mapping(volume.get("persistentVolumeClaim"))
        if name := text(source.get("claimName")):
            own = (candidate for candidate in mounted_volumes if candidate.get("name") == volume.get("name"))
            writes = any(mount.get("readOnly") is not True for mount in own)
            yield name, writes and source.get("readOnly") is not True


def _brought(objects: Sequence[Object]) -> list[Object]:
    return [item for item in objects if item.get("kind") == CLAIM]


def _new(objects: Sequence[Object]) -> list[Object]:
    """Return the claims among objects, and what claims are made of that live as long as a pod, or are one for each."""
    per_pod = [claim for item in objects for claim in mappings(mapping(item.get("spec")).get("volumeClaimTemplates"))]
    volumes = [volume for pod in pods.find_all(objects) for volume in pod.volumes]
    ephemeral = [mapping(mapping(volume.get("ephemeral")).get("volumeClaimTemplate")) for volume in volumes]
    return [*_brought(objects), *per_pod, *(claim for claim in ephemeral if claim)]


def _is_default(storage_class: Object) -> bool:
    return mapping(mapping(storage_class.get("metadata")).get("annotations")).get(_DEFAULT) == "true"


def _describe(name: str, facts: Facts) -> str:
    return f"{facts.inside} describe persistentvolumeclaim {quote(name)}"


def _modes(claim: Object) -> set[str]:
    """Return the access modes of a claim or volume: those of its volume, or those that it asks for."""
    names = mapping(claim.get("status")).get("accessModes") or mapping(claim.get("spec")).get("accessModes")
    return set(map(text, names)) if isinstance(names, list) else set()
