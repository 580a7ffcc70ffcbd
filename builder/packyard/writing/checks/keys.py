"""Faults of what is named inside of an object: keys of ConfigMaps and Secrets, and files of volumes.

configMap: {name: settings, items: [{key: a.txt, path: a}]}     settings has the key a.txt
volumeMounts: [{name: settings, subPath: a}]                    and the volume has the file a
"""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.errors import suggest
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_KEYS = {"configMapKeyRef": "ConfigMap", "secretKeyRef": "Secret"}


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find names inside of objects that lead nowhere."""
    for root in parsed.objects:
        for pod in parsed.pods_of(root):
            yield from _pod(pod, parsed)


def _pod(pod: Pod[MappingNode], parsed: Parsed) -> Iterator[Finding]:
    files = {}
    for volume in pod.volumes:
        if held := volume.mapping("configMap"):
            files[volume.text("name")] = files_of(held, parsed)
        for source, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
            if held := volume.mapping(source):
                for item in mappings(held.get("items")):
                    yield from _missing(item.scalar("key"), held, parsed, kind)
    for container in pod.containers:
        for variable in mappings(container.get("env")):
            for source, kind in _KEYS.items():
                if reference := variable.mapping("valueFrom", source):
                    yield from _missing(reference.scalar("key"), reference, parsed, kind)
        for mount in mappings(container.get("volumeMounts")):
            names, path = files.get(mount.text("name")), mount.scalar("subPath")
            if names and path and path.value and path.value not in names and "$(" not in path.value:
                message = f"the volume has no file {path.value!r}: an empty directory is mounted"
                hint = suggest(path.value, names) or f"it has {', '.join(sorted(names))}"
                yield breach("no-such-key", path, message, hint)


def files_of(held: MappingNode, parsed: Parsed) -> set[str]:
    """Return the files of a volume; none where nobody knows."""
    items = mappings(held.get("items"))
    if items:
        return {item.text("path") for item in items}
    return {entry.name for entry in variables.held(held.text("name"), parsed) or ()}


def _missing(key: Scalar | None, reference: MappingNode, parsed: Parsed, kind: str) -> Iterator[Finding]:
    """Find a key that a ConfigMap or a Secret of the package does not have."""
    name = reference.text("secretName") or reference.text("name")
    keys = {entry.name for entry in variables.held(name, parsed, kind) or ()}
    if keys and reference.text("optional") != "true" and parsed.complete and key and key.value not in keys:
        hint = suggest(key.value, keys) or f"it has {', '.join(sorted(keys))}"
        yield breach("no-such-key", key, f"the {kind} has no key {key.value!r}", hint)
