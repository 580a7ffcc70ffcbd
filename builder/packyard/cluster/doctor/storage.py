"""Whether the claims of a package are there and bound, can be mounted as its pods mount them, and are large enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from packyard.cluster.doctor.facts import Facts, Questions
from packyard.cluster.doctor.finding import Finding, error, passed
from packyard.kubernetes import held, pods
from packyard.kubernetes.lenient import Object, mapping, text

_CHECK = "storage"
_CLAIM = "PersistentVolumeClaim"


def ask_claims(objects: Sequence[Object]) -> Questions:
    """Ask for the claims that pods mount and objects do not bring."""
    return Questions(named=frozenset((_CLAIM, name) for name in _claims(objects)))


def claims(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the claims that pods mount: there, and neither lost nor going."""
    for name in sorted(_claims(objects)):
        found, about = facts.find(_CLAIM, name), f"{_CLAIM} {name}"
        describe = f"kubectl --namespace={facts.namespace} describe persistentvolumeclaim {quote(name)}"
        if found is None:
            fix = f"kubectl --namespace={facts.namespace} get persistentvolumeclaims"
            why = "its pods stay Pending; set PVC_NAME to one that is there, or create it"
            yield error(_CHECK, about, "is not there", why=why, fix=fix)
        elif mapping(found.get("metadata")).get("deletionTimestamp"):
            yield error(_CHECK, about, "is being deleted", why="new pods cannot mount it", fix=describe)
        elif text(mapping(found.get("status")).get("phase")) == "Lost":
            yield error(_CHECK, about, "has lost its volume", why="its pods stay Pending", fix=describe)
        else:
            yield passed(_CHECK, about)


def _claims(objects: Sequence[Object]) -> set[str]:
    """Return the names of the claims that pods mount and objects do not bring."""
    own = {text(mapping(item.get("metadata")).get("name")) for item in objects if item.get("kind") == _CLAIM}
    named = (each for pod in pods.find_all(objects) for each in held.find(pod))
    return {each.name for each in named if each.kind == _CLAIM} - own - {""}
