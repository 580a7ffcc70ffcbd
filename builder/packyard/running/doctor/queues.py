"""Whether the queues of Kueue are there that objects are to wait in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from packyard.core.kubernetes import operators
from packyard.core.kubernetes.lenient import Object, condition, mapping, text
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, warning

_CHECK = "queue"
_LABEL = "kueue.x-k8s.io/queue-name"
_GROUP, _KIND, _RESOURCE = "kueue.x-k8s.io", "LocalQueue", "localqueues.kueue.x-k8s.io"


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for the queues that objects name, and whether there is Kueue."""
    names = _names(list(objects))
    return Questions(custom=frozenset((_RESOURCE, name) for name in names), groups=bool(names))


def active(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the queues, and that they let something in."""
    for name in sorted(_names(list(objects))):
        about = f"{_KIND} {name}"
        list_all = f"{facts.inside} get {_RESOURCE}"
        if _GROUP not in facts.groups:
            kueue = operators.of(_RESOURCE)
            why = "the label of the queue has no effect: the run starts at once, beside all others"
            fix = kueue.fix if kueue else ""
            yield warning(_CHECK, about, "there is no Kueue in the cluster", why=why, fix=fix)
            continue
        found = facts.find(_KIND, name)
        if found is None:
            why = "the run stays suspended, and never starts"
            yield error(_CHECK, about, "is not there", why=why, fix=list_all)
            continue
        state = condition(found, "Active")
        if state.get("status") == "False":
            why = "the run stays suspended until it is"
            fix = f"{facts.inside} describe {_RESOURCE} {quote(name)}"
            yield error(_CHECK, about, f"is not active: {text(state.get('message'))}", why=why, fix=fix)
        else:
            yield passed(_CHECK, about)


def _names(value: object) -> set[str]:
    """Return the queues that labels name, those of objects and of the pods in them."""
    if isinstance(value, list):
        return {name for item in value for name in _names(item)}
    found = {name for member in mapping(value).values() for name in _names(member)}
    return found | ({text(mapping(value).get(_LABEL))} - {""})
