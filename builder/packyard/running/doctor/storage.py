"""Whether the claims that pods mount are there and bound, and can be mounted as the pods mount them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from packyard.core.kubernetes import claims as of_claims
from packyard.core.kubernetes import pods, selection
from packyard.core.kubernetes.claims import CLAIM
from packyard.core.kubernetes.lenient import Object, is_ending, mapping, name_of, text
from packyard.core.kubernetes.pods import Pod
from packyard.running.doctor import wanted
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, warning

_CHECK = "storage"
_ONE_POD, _ONE_NODE, _READ_ONLY = "ReadWriteOncePod", "ReadWriteOnce", "ReadOnlyMany"
_PENDING = "its pods stay Pending"
#: Drivers of disks, which are attached to one node at a time.
_OF_DISKS = (
    *("ebs.csi.aws.com", "disk.csi.azure.com", "pd.csi.storage.gke.io", "cinder.csi.openstack.org"),
    *("dobs.csi.digitalocean.com", "csi.hetzner.cloud", "csi.vsphere.vmware.com"),
)


def ask_claims(objects: Sequence[Object]) -> Questions:
    """Ask for the claims that pods mount and objects do not bring."""
    return Questions(named=frozenset((CLAIM, name) for name in mounted(objects)))


def claims(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the claims that pods mount: there, and neither lost nor going."""
    for name in mounted(objects):
        claim, about, fix = facts.find(CLAIM, name), f"{CLAIM} {name}", describe(name, facts)
        if claim is None:
            why = f"{_PENDING}; name one that is there with PVC_NAME, or have it created"
            fix = f"{facts.inside} get persistentvolumeclaims"
            yield error(_CHECK, about, "is not there", why=why, fix=fix)
        elif is_ending(claim):
            yield error(_CHECK, about, "is being deleted", why="new pods cannot mount it", fix=fix)
        elif phase(claim) == "Lost":
            yield error(_CHECK, about, "has lost its volume", why=_PENDING, fix=fix)
        else:
            yield passed(_CHECK, about)


def ask_classes(objects: Sequence[Object]) -> Questions:
    """Ask for the classes that say when claims are bound, and for the volumes, which nodes may have to be near."""
    return Questions(everywhere=frozenset({"StorageClass", "PersistentVolume"} if mounted(objects) else ()))


def volumes_of(pod: Pod[Object], facts: Facts) -> dict[str, Object]:
    """Return the volumes that the claims of a pod are bound to, by claim, as far as they may be read."""
    named = {name_of(each): each for each in facts.objects.get("PersistentVolume", ())}
    claims_there = {name_of(each): each for each in facts.objects.get(CLAIM, ())}
    bound_to = {name: text(mapping(each.get("spec")).get("volumeName")) for name, each in claims_there.items()}
    return {name: named[at] for name, _ in of_claims.mounts(pod) if (at := bound_to.get(name, "")) in named}


def bound(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the claims that are there bound, or waiting for their first pod."""
    for name in mounted(objects):
        claim = facts.find(CLAIM, name)
        if claim is None or phase(claim) == "Lost" or is_ending(claim):
            continue  # of which `claims` speaks
        class_name = text(mapping(claim.get("spec")).get("storageClassName"))
        storage_class = facts.find("StorageClass", class_name)
        if phase(claim) == "Bound" or _waits(storage_class):
            yield passed(_CHECK, f"volume of {CLAIM} {name}")
        else:
            of_class = (
                f"its class {class_name} is not there"
                if class_name and not storage_class
                else f"its class is {class_name or 'none'}"
            )
            message = f"is not bound to a volume; {of_class}"
            yield error(_CHECK, f"{CLAIM} {name}", message, why=_PENDING, fix=describe(name, facts))


def mountable(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the access modes of claims, there or brought, good for all pods that mount them."""
    own = {name_of(item): item for item in of_claims.brought(objects)}
    for name in mounted(objects, brought=True):
        claim = own.get(name) or facts.find(CLAIM, name)
        if claim is not None and mapping(claim.get("spec")).get("volumeMode") == "Block" and _is_filed(name, objects):
            why, message = (
                "nodes refuse to mount it",
                "is a block device (volumeMode Block), and pods mount it as files",
            )
            yield error(_CHECK, f"{CLAIM} {name}", message, why=why, fix=describe(name, facts))
        elif claim is not None:
            holder = _holder(name, objects, facts)
            yield _judge(name, modes(claim), *_use(name, objects), name_of(holder), facts)
            if modes(claim) == {_ONE_NODE} and holder:
                yield from _attached(name, holder, objects, facts)


def _is_filed(name: str, objects: Sequence[Object]) -> bool:
    """Say whether a container mounts a claim, as files: as a device it stands in volumeDevices."""
    return any(name in of_claims.filed(each.pod) for each in wanted.find(objects))


def _attached(name: str, holder: Object, objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Yield that another pod holds the disk of a claim on its node, where pods of the run may come to another one."""
    here = text(mapping(holder.get("spec")).get("nodeName"))
    for pod in (each.pod for each in wanted.find(objects) if name in dict(of_claims.mounts(each.pod))):
        volume = volumes_of(pod, facts).get(name, {})
        spec = {field: pod.get(field) for field in ("nodeSelector", "affinity", "tolerations")}
        nodes = [
            name_of(each)
            for each in facts.objects.get("Node", ())
            if selection.admits(spec, each)
            and selection.reaches(volume, each)
            and not selection.is_cordoned(spec, each)
            and not selection.intolerable(spec, each)
        ]
        is_disk = text(mapping(mapping(volume.get("spec")).get("csi")).get("driver")) in _OF_DISKS
        if here and is_disk and any(each != here for each in nodes):
            message = f"is {_ONE_NODE}, and pod {name_of(holder)} mounts it on node {here}"
            why = "pods of the run that come to another node stay ContainerCreating until that has ended"
            yield warning(_CHECK, f"{CLAIM} {name}", message, why=why, fix=describe(name, facts))
            return


def _holder(name: str, objects: Sequence[Object], facts: Facts) -> Object:
    """Return a pod of somebody else that mounts a claim; nothing where there is none."""
    own = {id(each) for each in wanted.there(objects, facts)}
    others = (
        item
        for item in facts.objects.get("Pod", ())
        if id(item) not in own and mapping(item.get("metadata")).get("namespace") == facts.namespace
    )
    mounting = (item for item in others for pod in pods.find(item) if name in dict(of_claims.mounts(pod)))
    return next(mounting, {})


def _judge(name: str, has: set[str], count: int, is_written: bool, holder: str, facts: Facts) -> Finding:
    about, fix = f"{CLAIM} {name}", describe(name, facts)
    many = f"{count} pods of the run mount it at once"
    if is_written and has == {_READ_ONLY}:
        why = "pods that write to it fail"
        return error(_CHECK, about, f"is {_READ_ONLY}, and pods write to it", why=why, fix=fix)
    if count > 1 and has == {_ONE_POD}:
        why = "all but one stay Pending"
        return error(_CHECK, about, f"is {_ONE_POD}, and {many}", why=why, fix=fix)
    if has == {_ONE_POD} and holder:
        message = f"is {_ONE_POD}, and pod {holder} mounts it"
        return error(_CHECK, about, message, why="the run's pod stays Pending until that has ended", fix=fix)
    if count > 1 and has and has <= {_ONE_POD, _ONE_NODE} and len(facts.objects.get("Node", ())) != 1:
        why = "those on another node than the first stay ContainerCreating; a claim for all nodes is ReadWriteMany"
        return warning(_CHECK, about, f"is {_ONE_NODE}, and {many}", why=why, fix=fix)
    return passed(_CHECK, f"access to {about}")


def describe(name: str, facts: Facts) -> str:
    """Return the command that shows a claim with its events."""
    return f"{facts.inside} describe persistentvolumeclaim {quote(name)}"


def phase(claim: Object) -> str:
    """Return the phase of a claim, such as ``Bound``."""
    return text(mapping(claim.get("status")).get("phase"))


def modes(claim: Object) -> set[str]:
    """Return the access modes of a claim: those of its volume, or those that it asks for."""
    names = mapping(claim.get("status")).get("accessModes") or mapping(claim.get("spec")).get("accessModes")
    return set(map(text, names)) if isinstance(names, list) else set()


def _waits(storage_class: Object | None) -> bool:
    return storage_class is not None and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"


def mounted(objects: Sequence[Object], *, brought: bool = False) -> list[str]:
    """Return the names of the claims that pods mount, without those that objects bring."""
    own = {name_of(item) for item in of_claims.brought(objects)}
    named = {name for each in wanted.find(objects) for name, _ in of_claims.mounts(each.pod)}
    return sorted(named if brought else named - own)


def _use(name: str, objects: Sequence[Object]) -> tuple[int, bool]:
    """Return how many pods mount a claim at once, and whether any writes to it."""
    counts, is_written = [0], False
    for moment in wanted.moments(wanted.find(objects)):
        mounts = [(each.count, writes) for each in moment for one, writes in of_claims.mounts(each.pod) if one == name]
        counts.append(sum(count for count, _ in mounts))
        is_written |= any(writes for _, writes in mounts)
    return max(counts), is_written
