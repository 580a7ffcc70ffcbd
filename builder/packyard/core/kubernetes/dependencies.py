"""What objects hold of others: fields with names, and what pods have of claims, ConfigMaps and Secrets, with keys.

env: [{valueFrom: {secretKeyRef: {name: bucket, key: id}}}]           Secret bucket, with the key id
volumes: [{configMap: {name: run, items: [{key: a, path: b}]}}]       ConfigMap run, with the key a
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packyard.core.kubernetes.kinds import RBAC, TRAINER
from packyard.core.kubernetes.lenient import Object, mapping, mappings, text
from packyard.core.kubernetes.pods import Pod

#: Mappings that hold the name of a kind in its core group, and the keys under which the name may stand.
HOLDERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "configMapRef": ("ConfigMap", ("name",)),
    "configMapKeyRef": ("ConfigMap", ("name",)),
    "configMap": ("ConfigMap", ("name",)),
    "secretRef": ("Secret", ("name",)),
    "secretKeyRef": ("Secret", ("name",)),
    "secret": ("Secret", ("secretName", "name")),
    "persistentVolumeClaim": ("PersistentVolumeClaim", ("claimName",)),
}
#: Fields whose value is the name.
NAMES = {"serviceAccountName": "ServiceAccount", "subdomain": "Service"}
#: Mappings that hold a kind and a name, with the apiVersion that is meant where they have none.
TYPED = {"roleRef": f"{RBAC}/v1", "runtimeRef": f"{TRAINER}/v1alpha1", "scaleTargetRef": "apps/v1"}
#: What every cluster or every namespace has.
ALWAYS_THERE = {
    *(("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt"), ("Namespace", "default")),
    ("ConfigMap", "istio-ca-root-cert"),  # where Istio is
    ("Role", "extension-apiserver-authentication-reader"),  # in kube-system
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A reference to an object of the pod's namespace; one that is ``optional`` may lack the object or a key."""

    kind: str
    name: str
    keys: tuple[str, ...] = ()
    is_optional: bool = False


def find(pod: Pod[Object]) -> Iterator[Dependency]:
    """Yield what a pod refers to, in its own fields and in the volumes that a mapping above it lists."""
    for part in (pod.spec, *pod.volumes):
        yield from of(part)


def of(value: object) -> Iterator[Dependency]:
    """Yield what a part of a pod refers to."""
    if isinstance(value, list):
        for item in value:
            yield from of(item)
    for field, member in mapping(value).items():
        if field in HOLDERS and isinstance(member, Mapping):
            kind, names = HOLDERS[field]
            keys = [member.get("key"), *(item.get("key") for item in mappings(member.get("items")))]
            yield Dependency(
                kind=kind,
                name=next(filter(None, (text(member.get(name)) for name in names)), ""),
                keys=tuple(filter(None, map(text, keys))),
                is_optional=member.get("optional") is True,
            )
        else:
            yield from of(member)
