"""Whether the namespace is there and admits the pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from packyard.core.kubernetes import pod_security, pods
from packyard.core.kubernetes.lenient import Object, is_ending, mapping, name_of, text
from packyard.core.kubernetes.pod_security import LEVELS
from packyard.running.doctor.facts import Facts
from packyard.running.doctor.finding import Finding, error, passed

_CHECK = "namespace"
_ENFORCE = "pod-security.kubernetes.io/enforce"


def admits(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the namespace, and that its level of Pod Security admits the pods; one that objects bring is theirs."""
    name = facts.namespace
    brought = (item for item in objects if item.get("kind") == "Namespace")
    namespace = next((item for item in brought if name_of(item) == name), None)
    namespace = namespace or facts.find("Namespace", name)
    about, word = f"Namespace {name}", quote(name)
    if namespace is None and facts.is_admitting:
        yield passed(_CHECK, about)
        return
    if namespace is None:
        yield error(_CHECK, about, "is not there", why="nothing can be applied", fix=f"kubectl create namespace {word}")
        return
    if is_ending(namespace):
        why = "what is created there is refused"
        yield error(_CHECK, about, "is being deleted", why=why, fix=f"kubectl get namespace {word} --watch")
        return
    yield passed(_CHECK, about)
    yield from _secure(objects, namespace, about)


def _secure(objects: Sequence[Object], namespace: Object, about: str) -> Iterator[Finding]:
    level = pod_security.find(pods.find_all(objects))
    metadata = mapping(namespace.get("metadata"))
    enforced = text(mapping(metadata.get("labels")).get(_ENFORCE)) or LEVELS[-1]
    if level is None:
        return
    if enforced not in LEVELS or LEVELS.index(enforced) >= LEVELS.index(level.name):
        yield passed(_CHECK, f"Pod Security {level.name}")
        return
    yield error(
        _CHECK,
        about,
        f"enforces the Pod Security level {enforced}, and the pods need {level.name}: {'; '.join(level.objections)}",
        why="its pods are refused, which only events say",
        fix=f"kubectl label --overwrite namespace {quote(text(metadata.get('name')))} {_ENFORCE}={level.name}",
    )
