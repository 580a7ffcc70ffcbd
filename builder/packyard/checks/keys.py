"""Faults of what is named inside of an object: keys of ConfigMaps, files of volumes, annotations, fixed words.

configMap: {name: settings, items: [{key: a.txt, path: a}]}     settings has the key a.txt
volumeMounts: [{name: settings, subPath: a}]                    and the volume has the file a
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packyard.checks import variables
from packyard.checks.finding import Finding, error
from packyard.checks.parsed import Parsed
from packyard.errors import suggest
from packyard.kubernetes.kinds import CORE, NETWORKING, RBAC, is_kind
from packyard.kubernetes.pods import Pod
from packyard.yaml.document import mappings
from packyard.yaml.node import MappingNode, Node, Scalar, SequenceNode

_FIELD_PATH = re.compile(r"metadata\.(annotations|labels)\['([^']+)'\]\Z")
_SOURCES = ("configMap", "downwardAPI")
#: Fields whose values are a few words, which no schema of Kubernetes lists.
_CHOICES = {
    "persistentVolumeReclaimPolicy": ("Retain", "Delete", "Recycle"),
    "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "concurrencyPolicy": ("Allow", "Forbid", "Replace"),
    "completionMode": ("Indexed", "NonIndexed"),
    "fsGroupChangePolicy": ("OnRootMismatch", "Always"),
    "dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    "volumeMode": ("Filesystem", "Block"),
    "protocol": ("TCP", "UDP", "SCTP"),
    "externalTrafficPolicy": ("Cluster", "Local"),
}
_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
_HOST_PATHS = ("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")
_RESTARTS = ("Always", "OnFailure", "Never")
_DIRECTIONS = ("Ingress", "Egress")
_MEDIA = ("Memory", "HugePages", "HugePages-2Mi", "HugePages-1Gi")
_SUBJECTS = ("ServiceAccount", "User", "Group")
_SECCOMP = ("RuntimeDefault", "Localhost", "Unconfined")
_SYSTEMS = ("linux", "windows")
_SERVICES = ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find names inside of objects that lead nowhere, and words that Kubernetes does not know."""
    for root in parsed.objects:
        if is_kind(root, CORE, "PersistentVolumeClaim", "PersistentVolume"):
            yield from _storage(root)
        if is_kind(root, CORE, "Service"):
            yield from _choice(root.mapping("spec"), "type", _SERVICES)
            yield from _address(root.mapping("spec"))
        for subject in (
            mappings(root.get("subjects")) if is_kind(root, RBAC, "RoleBinding", "ClusterRoleBinding") else ()
        ):
            yield from _choice(subject, "kind", _SUBJECTS)
        if is_kind(root, NETWORKING, "NetworkPolicy"):
            spec = root.mapping("spec")
            types = spec.get("policyTypes") if spec else None
            for item in types.items if isinstance(types, SequenceNode) else ():
                yield from _word(item.value, "policyTypes", _DIRECTIONS)
        yield from _words(root.mapping("spec"))
        for pod in parsed.pods_of(root):
            yield from _words(pod.spec)
            yield from _choice(pod.spec, "restartPolicy", _RESTARTS)
            yield from _choice(pod.spec.mapping("nodeSelector"), "kubernetes.io/os", _SYSTEMS)
            for volume in pod.volumes:
                yield from _choice(volume.mapping("hostPath"), "type", _HOST_PATHS)
                yield from _choice(volume.mapping("emptyDir"), "medium", _MEDIA)
            yield from _pod(pod, parsed)


def _storage(root: MappingNode) -> Iterator[Finding]:
    """Find a claim or a volume without an access mode or a size, which the API server rejects."""
    spec = root.mapping("spec")
    kind = root.text("kind")
    modes = spec.get("accessModes") if spec else None
    items = modes.items if isinstance(modes, SequenceNode) else []
    place = root.entry("spec") or root
    if (not items and modes is None) or (isinstance(modes, SequenceNode) and not items):
        yield error("incomplete-claim", place, f"the {kind} has no accessModes", "ReadWriteMany")
    for item in items:
        yield from _word(item.value, "accessModes", _MODES)
    size = spec.mapping("capacity") if spec and kind == "PersistentVolume" else None
    size = size or (spec.mapping("resources", "requests") if spec else None)
    if size is None or size.get("storage") is None:
        yield error("incomplete-claim", place, f"the {kind} has no size", "storage: 10Gi")


def _words(holder: MappingNode | None) -> Iterator[Finding]:
    """Find words that Kubernetes does not know, in a spec and in the containers and ports of a pod."""
    parts = [holder] if holder else []
    for container in mappings(holder.get("containers")) + mappings(holder.get("initContainers")) if holder else ():
        parts += [container, *mappings(container.get("ports"))]
    for part in tuple(parts):
        yield from _choice(part.mapping("securityContext", "seccompProfile"), "type", _SECCOMP)
    context = holder.mapping("securityContext") if holder else None
    for part in (*parts, *([context] if context else [])):
        for entry in part.entries:
            if entry.name in _CHOICES:
                yield from _word(entry.value, entry.name, _CHOICES[entry.name])


def _choice(holder: MappingNode | None, field: str, choices: tuple[str, ...]) -> Iterator[Finding]:
    node = holder.get(field) if holder else None
    if node is not None:
        yield from _word(node, field, choices)


def _address(spec: MappingNode | None) -> Iterator[Finding]:
    node = spec.get("clusterIP") if spec else None
    if isinstance(node, Scalar) and node.value not in ("None", "") and not re.fullmatch(r"[0-9a-fA-F.:]+", node.value):
        yield error("wrong-value", node, f"clusterIP is {node.value!r}", "None, or an address")


def _word(node: Node, field: str, choices: tuple[str, ...]) -> Iterator[Finding]:
    if isinstance(node, Scalar) and node.value and node.value not in choices and "{{" not in node.value:
        hint = suggest(node.value, choices) or f"must be one of {', '.join(filter(None, choices))}"
        yield error("wrong-value", node, f"{field} is {node.value!r}", hint)


def _pod(pod: Pod[MappingNode], parsed: Parsed) -> Iterator[Finding]:
    files = {}
    for volume in pod.volumes:
        for kind in _SOURCES:
            held = volume.mapping(kind)
            if held:
                files[volume.text("name")] = _files(held, parsed)
                yield from _items(held, pod, parsed)
    for container in pod.containers:
        for each in mappings(container.get("env")):
            source = each.mapping("valueFrom")
            yield from _key(source.mapping("configMapKeyRef") if source else None, parsed)
            yield from _field_path(source.mapping("fieldRef") if source else None, pod)
        for mount in mappings(container.get("volumeMounts")):
            known, path = files.get(mount.text("name")), mount.get("subPath")
            if known and isinstance(path, Scalar) and path.value and path.value not in known and "$(" not in path.value:
                message = f"the volume has no file {path.value!r}: an empty directory is mounted"
                hint = suggest(path.value, known) or f"it has {', '.join(sorted(known))}"
                yield error("no-such-key", path, message, hint)


def _files(held: MappingNode, parsed: Parsed) -> set[str]:
    """Return the files of a volume; none where nobody knows."""
    items = mappings(held.get("items"))
    if items:
        return {item.text("path") for item in items}
    entries = variables.config_map(held.text("name"), parsed)
    return {entry.name for entry in entries or ()}


def _items(held: MappingNode, pod: Pod[MappingNode], parsed: Parsed) -> Iterator[Finding]:
    entries = variables.config_map(held.text("name"), parsed) if held.get("name") else None
    known = {entry.name for entry in entries or ()}
    for item in mappings(held.get("items")):
        key = item.get("key")
        if (
            held.text("optional") != "true"
            and known
            and isinstance(key, Scalar)
            and key.value not in known
            and parsed.complete
        ):
            yield _missing(key, known)
        yield from _field_path(item.mapping("fieldRef"), pod)
        if held.get("name") is None and item.get("fieldRef") is None and item.get("resourceFieldRef") is None:
            message = "the file has no fieldRef, and the API server rejects the pod"
            yield error("no-such-key", item, message, "fieldRef: {fieldPath: metadata.name}")


def _key(reference: MappingNode | None, parsed: Parsed) -> Iterator[Finding]:
    """Find a key that a ConfigMap of the package does not have."""
    entries = variables.config_map(reference.text("name"), parsed) if reference else None
    key = reference.get("key") if reference else None
    known = {entry.name for entry in entries or ()}
    optional = reference is not None and reference.text("optional") == "true"
    if known and parsed.complete and not optional and isinstance(key, Scalar) and key.value not in known:
        yield _missing(key, known)


def _missing(key: Scalar, known: set[str]) -> Finding:
    hint = suggest(key.value, known) or f"it has {', '.join(sorted(known))}"
    return error("no-such-key", key, f"the ConfigMap has no key {key.value!r}", hint)


def _field_path(reference: MappingNode | None, pod: Pod[MappingNode]) -> Iterator[Finding]:
    """Find an annotation or a label that the pod does not have."""
    path = reference.get("fieldPath") if reference else None
    found = _FIELD_PATH.match(path.value) if isinstance(path, Scalar) else None
    metadata = pod.template.mapping("metadata") if pod.template else None
    if found is None or path is None or pod.template is None:
        return
    held = metadata.mapping(found[1]) if metadata else None
    if (held is None or held.get(found[2]) is None) and "/" not in found[2]:
        message = f"the pod has no {found[1].removesuffix('s')} {found[2]!r}: the text is empty"
        yield error("no-such-key", path, message, f"add it to the {found[1]} of the pod")
