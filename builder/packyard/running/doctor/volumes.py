"""Whether claims that a run brings, or has made, find a volume; and what is to be said of volumes themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from shlex import quote

from packyard.core.kubernetes import claims, pods, selection
from packyard.core.kubernetes.claims import CLAIM
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, mappings, name_of, text
from packyard.core.kubernetes.requests import amounts, shown
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, unknown, warning
from packyard.running.doctor.storage import describe, modes, mounted, phase

_CHECK = "storage"
_VOLUME, _CLASS, _DRIVER = "PersistentVolume", "StorageClass", "CSIDriver"
_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_MADE = "pv.kubernetes.io/provisioned-by"
_NOBODY = "kubernetes.io/no-provisioner"
#: Provisioners that were part of Kubernetes, and the drivers that took their place.
_MOVED = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}
#: Drivers of disks, whose file systems one node mounts at a time, by their own documentation.
_OF_DISKS = (
    *("ebs.csi.aws.com", "disk.csi.azure.com", "pd.csi.storage.gke.io", "rancher.io/local-path"),
    *("dobs.csi.digitalocean.com", "csi.hetzner.cloud"),
)
_MANY = {"ReadWriteMany", "ReadOnlyMany"}
_REFUSED = "the server refuses the change"


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for claims by the names of those that come, for what binds them, and for the drivers of volumes."""
    come = [*claims.brought(objects), *claims.templates(objects)]
    return Questions(
        named=frozenset(
            [(CLAIM, name_of(item)) for item in claims.brought(objects)]
            + [(_DRIVER, name) for name in _drivers(objects)]
        ),
        everywhere=frozenset({_CLASS, _VOLUME, _DRIVER} if come or _brought(objects) or mounted(objects) else ()),
    )


def bindable(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find what binds each claim that comes: its class, or a volume. One that is there already has to be alike."""
    for item in claims.brought(objects):
        there = facts.find(CLAIM, name_of(item))
        yield _changed(item, there, facts) if there else _bound(f"{CLAIM} {name_of(item)}", item, objects, facts)
    for item in claims.templates(objects):
        yield _bound("claims made for pods", item, objects, facts)


def provisioned(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find who makes the volumes of claims that wait for one: a class alone makes none."""
    waiting = [*claims.brought(objects), *claims.templates(objects)]
    waiting += [item for name in mounted(objects) if (item := facts.find(CLAIM, name)) and phase(item) == "Pending"]
    for item in waiting:
        yield from _of_disks(item, facts)
        if name_of(item):  # one made for a pod of a run that is there may have its volume
            yield from _of_what_is_there(item, objects, facts)
    classes = {name_of(each): each for item in waiting for each in _classes(item, facts)}
    for name, storage_class in sorted(classes.items()):
        yield from _elsewhere(name, storage_class, facts)
        provisioner, driver = text(storage_class.get("provisioner")), _driver(storage_class)
        if provisioner == _NOBODY or _is_seen(driver, facts):
            yield passed(_CHECK, f"provisioner of class {name}")
            continue
        message = f"nothing shows that its provisioner is there: no {_DRIVER}, volume or pod names {driver}"
        make = error if ".csi." in driver else warning
        why = "claims of this class stay Pending, with their pods"
        yield make(_CHECK, f"{_CLASS} {name}", message, why=why, fix="kubectl get csidrivers")


def _of_disks(claim: Object, facts: Facts) -> Iterator[Finding]:
    """Yield that a claim for many nodes is of a class that has none for them."""
    spec = mapping(claim.get("spec"))
    for storage_class in _classes(claim, facts):
        if (
            (wanted_modes := sorted(modes(claim) & _MANY))
            and _driver(storage_class) in _OF_DISKS
            and spec.get("volumeMode") != "Block"
        ):
            of_class = f"of the class {name_of(storage_class)}"
            message = f"asks for {wanted_modes[0]} {of_class}, and {_driver(storage_class)} makes volumes for one node"
            why = (
                "it stays Pending, with its pods; a class of a shared file system, such as NFS, makes volumes for many"
            )
            yield warning(_CHECK, f"{CLAIM} {name_of(claim)}", message, why=why, fix="kubectl get storageclasses")


def _elsewhere(name: str, storage_class: Object, facts: Facts) -> Iterator[Finding]:
    """Yield that a class makes volumes in zones alone where no node is."""
    terms = [mappings(each.get("matchLabelExpressions")) for each in mappings(storage_class.get("allowedTopologies"))]
    rules = [{"matchExpressions": [{**rule, "operator": "In"} for rule in term]} for term in terms]
    there = {"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": rules}}}}
    labels = sorted({f"{rule.get('key')}={one}" for term in terms for rule in term for one in rule.get("values") or ()})
    nodes = facts.objects.get("Node", ())
    if labels and nodes and not any(selection.reaches(there, node) for node in nodes):
        message = f"makes volumes for nodes with the labels {' or '.join(labels)} alone, and no node has these"
        why = "claims of this class stay Pending, with their pods, unless such nodes come"
        yield warning(_CHECK, f"{_CLASS} {name}", message, why=why, fix="kubectl get nodes --show-labels")


def _of_what_is_there(claim: Object, objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Yield that a claim is of a class that makes no volumes, and no volume that is there fits it."""
    for storage_class in _classes(claim, facts):
        of_class = {"spec": {**mapping(claim.get("spec")), "storageClassName": name_of(storage_class)}}
        if text(storage_class.get("provisioner")) == _NOBODY and not _finds({**claim, **of_class}, objects, facts):
            message = f"is of the class {name_of(storage_class)}, which makes no volumes, and no free volume fits it"
            why = "it stays Pending, with its pods, until there is one"
            about, fix = f"{CLAIM} {name_of(claim)}", "kubectl get persistentvolumes"
            yield warning(_CHECK, about, message, why=why, fix=fix)


def _driver(storage_class: Object) -> str:
    provisioner = text(storage_class.get("provisioner"))
    return _MOVED.get(provisioner, provisioner)


def _classes(claim: Object, facts: Facts) -> list[Object]:
    class_name = mapping(claim.get("spec")).get("storageClassName")
    return [
        each for each in facts.all(_CLASS) if name_of(each) == class_name or (class_name is None and _is_default(each))
    ]


def _is_seen(driver: str, facts: Facts) -> bool:
    """Say whether there is a trace of what makes volumes: a driver, a volume that it made, a pod that is told to."""
    makers = (mapping(mapping(each.get("metadata")).get("annotations")).get(_MADE) for each in facts.all(_VOLUME))
    return (
        any(name_of(each) == driver for each in facts.all(_DRIVER))
        or driver in makers
        or any(driver in json.dumps(mapping(each.get("spec")).get("containers")) for each in facts.all("Pod"))
    )


def own(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the volumes that come not in use by another namespace."""
    for name in _brought(objects):
        holder = mapping(mapping((facts.find(_VOLUME, name) or {}).get("spec")).get("claimRef"))
        other = text(holder.get("namespace"))
        if other in ("", facts.namespace):
            yield passed(_CHECK, f"{_VOLUME} {name}")
            continue
        message = f"is there, for claim {text(holder.get('name'))} of namespace {other}"
        why = "volumes have no namespace, so that two users cannot have one of the same name; set PV_NAME"
        yield error(_CHECK, f"{_VOLUME} {name}", message, why=why, fix=f"kubectl get persistentvolume {quote(name)}")


def drivers(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the drivers of the volumes that pods mount."""
    for name in _drivers(objects):
        why, fix = "no node mounts its volumes: pods stay ContainerCreating", "kubectl get csidrivers"
        yield facts.look_for(_CHECK, _DRIVER, name, why=why, fix=fix, message="is not installed")


def exports(objects: Sequence[Object], _: Facts) -> Iterator[Finding]:
    """Name what only nodes can see: NFS servers, whose names they resolve and whose exports they mount."""
    for server in sorted({text(mapping(each.get("nfs")).get("server")) for each in _all(objects)} - {""}):
        message = "only nodes can tell whether its name resolves and its export can be mounted"
        yield unknown(_CHECK, f"NFS server {server}", message, why="where a mount fails, pods stay ContainerCreating")


def _bound(about: str, claim: Object, objects: Sequence[Object], facts: Facts) -> Finding:
    class_name = mapping(claim.get("spec")).get("storageClassName")
    classes = _classes(claim, facts)
    if classes or _finds(claim, objects, facts):
        return passed(_CHECK, about)
    what = f"is of the class {class_name}, which is not there" if class_name else "is of no class"
    if class_name is None:
        what = "names no class, and no class is the default"
    message = f"{what}, and no volume fits it"
    return error(_CHECK, about, message, why="it stays Pending, with its pods", fix="kubectl get storageclasses")


def _finds(claim: Object, objects: Sequence[Object], facts: Facts) -> bool:
    """Say whether a volume that is there, or comes, can be bound to a claim."""
    volumes = [item for item in objects if item.get("kind") == _VOLUME] + [*facts.all(_VOLUME)]
    return any(_fits(volume, claim, facts.namespace) for volume in volumes)


def _fits(volume: Object, claim: Object, namespace: str) -> bool:
    """Say whether a volume can be bound to a claim of a namespace."""
    spec, wanted = mapping(volume.get("spec")), mapping(claim.get("spec"))
    holder = mapping(spec.get("claimRef"))
    is_held = bool(holder) and (holder.get("namespace"), holder.get("name")) != (namespace, name_of(claim))
    return (
        not is_held
        and text(wanted.get("volumeName")) in ("", name_of(volume))
        and text(spec.get("storageClassName")) == text(wanted.get("storageClassName"))
        and modes(claim) <= modes(volume)
        and selection.selects(wanted.get("selector") or {}, labels_of(volume))
        and claims.requested(claim).get("storage", 0) <= amounts(spec.get("capacity")).get("storage", 0)
    )


def _changed(claim: Object, there: Object, facts: Facts) -> Finding:
    """Return whether a claim can be applied over the one that is there."""
    about, fix = f"{CLAIM} {name_of(claim)}", describe(name_of(claim), facts)
    wants, has = (claims.requested(each).get("storage", 0) for each in (claim, there))
    has_now = f"is there with {shown('storage', has)}"
    if wants < has:
        return error(_CHECK, about, f"{has_now}, and cannot shrink to {shown('storage', wants)}", why=_REFUSED, fix=fix)
    chosen = facts.find(_CLASS, text(mapping(there.get("spec")).get("storageClassName"))) or {}
    if wants > has and chosen.get("allowVolumeExpansion") is not True:
        message = f"{has_now}, and may not grow to {shown('storage', wants)}"
        return error(_CHECK, about, message, why=_REFUSED, fix=fix)
    if modes(claim) != modes({"spec": there.get("spec")}):
        return error(_CHECK, about, "is there with other access modes", why=_REFUSED, fix=fix)
    return passed(_CHECK, about)


def _is_default(storage_class: Object) -> bool:
    return mapping(mapping(storage_class.get("metadata")).get("annotations")).get(_DEFAULT) == "true"


def _brought(objects: Sequence[Object]) -> list[str]:
    return sorted(name_of(item) for item in objects if item.get("kind") == _VOLUME)


def _all(objects: Sequence[Object]) -> list[Object]:
    """Return the volumes of pods, and those that come."""
    own = [mapping(item.get("spec")) for item in objects if item.get("kind") == _VOLUME]
    return [*own, *(volume for pod in pods.find_all(objects) for volume in pod.volumes)]


def _drivers(objects: Sequence[Object]) -> list[str]:
    return sorted({text(mapping(each.get("csi")).get("driver")) for each in _all(objects)} - {""})
