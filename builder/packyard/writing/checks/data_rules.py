"""What an API server refuses of Secrets, ConfigMaps, rights and priorities although schemas admit it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from packyard.core.kubernetes import plain_secrets
from packyard.core.kubernetes.kinds import CORE, RBAC, Kind, kind_of
from packyard.core.yaml.document import entries, mappings
from packyard.core.yaml.node import Entry, MappingNode, Scalar
from packyard.writing.checks import variables
from packyard.writing.checks.faults import Fault, at, given

#: The keys that a Secret of a type has; of several in one entry, one is enough.
_KEYS = {
    "kubernetes.io/tls": (("tls.crt",), ("tls.key",)),
    "kubernetes.io/dockerconfigjson": ((".dockerconfigjson",),),
    "kubernetes.io/dockercfg": ((".dockercfg",),),
    "kubernetes.io/basic-auth": (("username", "password"),),
    "kubernetes.io/ssh-auth": (("ssh-privatekey",),),
}
_CONFIGURATIONS = (".dockerconfigjson", ".dockercfg")
_OF_SYSTEM = "system-"
_ITS_OWN = ("system-node-critical", "system-cluster-critical")


def check(root: MappingNode) -> Iterator[Fault]:
    """Find what is refused of an object of these kinds."""
    rule = _OBJECTS.get(kind_of(root))
    return rule(root) if rule else iter(())


def _secret(root: MappingNode) -> Iterator[Fault]:
    data, texts = entries(root.get("data")), entries(root.get("stringData"))
    there = {entry.name for entry in (*data, *texts)}
    for keys in _KEYS.get(root.text("type"), ()):
        if there.isdisjoint(keys):
            message = f"a Secret of type {root.text('type')} has the key {' or '.join(keys)}"
            yield from at(root, "type", message, "add it, or remove the type")
    yield from _encoded(data)
    for entry in texts:
        if entry.name in _CONFIGURATIONS and _is_stated(entry) and not _is_object(entry.text):
            yield entry, f"{entry.name} is no JSON", '{"auths": {…}}'


def _config_map(root: MappingNode) -> Iterator[Fault]:
    binary = entries(root.get("binaryData"))
    yield from _encoded(binary)
    twice = {entry.name for entry in entries(root.get("data"))}
    for entry in binary:
        if entry.name in twice:
            yield entry, f"{entry.name} is in data and in binaryData", "remove one"


def _encoded(data: list[Entry]) -> Iterator[Fault]:
    """Find a value that is not in base64."""
    for entry in data:
        if _is_stated(entry):
            try:
                base64.b64decode("".join(entry.text.split()), validate=True)
            except binascii.Error:
                yield entry, f"the value of {entry.name} is not in base64", "put it into stringData as it is"


def _is_stated(entry: Entry) -> bool:
    """Say whether there is a text that nobody else fills in."""
    text = entry.text if isinstance(entry.value, Scalar) else ""
    return bool(text) and not (plain_secrets.is_place(text) or variables.is_filled_in(text))


def _is_object(text: str) -> bool:
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(text), dict)
    return False


def _role(root: MappingNode) -> Iterator[Fault]:
    for rule in mappings(root.get("rules")):
        if given(rule, ("nonResourceURLs",)):
            if given(rule, ("resources",)):
                yield from at(rule, "nonResourceURLs", "a rule is for resources or for addresses", "make two of it")
            continue
        for field in ("apiGroups", "resources"):
            if given(rule, ("verbs",)) and not given(rule, (field,)):
                yield rule, f"the rule has no {field}", 'apiGroups: [""] is the group of pods' * (field == "apiGroups")


def _binding(root: MappingNode) -> Iterator[Fault]:
    role = root.mapping("roleRef")
    if role and (role.text("apiGroup") or RBAC) != RBAC:
        yield from at(role, "apiGroup", f"the apiGroup of a role is {RBAC}", f"apiGroup: {RBAC}")
    if role and root.text("kind") == "ClusterRoleBinding" and role.text("kind") == "Role":
        message = "a ClusterRoleBinding binds a ClusterRole, and no Role"
        yield from at(role, "kind", message, "kind: ClusterRole, or make it a RoleBinding")
    for subject in mappings(root.get("subjects")):
        group, kind = subject.scalar("apiGroup"), subject.text("kind")
        wanted = "" if kind == "ServiceAccount" else RBAC
        if group and group.value != wanted and kind in ("ServiceAccount", "User", "Group") and group.value:
            yield group, f"the apiGroup of a {kind} is {wanted or 'empty'}", wanted or "remove it"


def _priority(root: MappingNode) -> Iterator[Fault]:
    name = root.scalar("metadata", "name")
    if name and name.value.startswith(_OF_SYSTEM) and name.value not in _ITS_OWN:
        yield name, f"priorities whose names begin with {_OF_SYSTEM} are the cluster's own", "another name"


_OBJECTS: Mapping[Kind, Callable[[MappingNode], Iterator[Fault]]] = {
    (CORE, "Secret"): _secret,
    (CORE, "ConfigMap"): _config_map,
    (RBAC, "Role"): _role,
    (RBAC, "ClusterRole"): _role,
    (RBAC, "RoleBinding"): _binding,
    (RBAC, "ClusterRoleBinding"): _binding,
    ("scheduling.k8s.io", "PriorityClass"): _priority,
}
