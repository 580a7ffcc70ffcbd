"""The events of a run: those of its objects, of what controllers made of them, and of pods, also of deleted ones.

An event names what it is about. What is there has the label of its run; what is gone is told by its name, which begins
with that of the object that it was made of, and of several such objects it belongs to that with the longest name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes.lenient import Object, mapping, text
from packyard.running.runs import look, roles
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord

#: Kinds that controllers make by names that begin with that of their owner.
_MADE = ("Pod", "Job", "ReplicaSet", "JobSet", "PersistentVolumeClaim", "ControllerRevision")


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to an object, ``count`` times, the last time at ``when``; the ``type`` is Normal or Warning."""

    when: str
    type: str
    object: str
    reason: str
    message: str
    count: int


def read(kubectl: Kubectl, records: Mapping[str, Sequence[RunRecord]], run: str) -> list[Event]:
    """Return the events of one of the runs of ``records``, the newest last."""
    last = {name: of_run[-1] for name, of_run in records.items()}
    own = {(kind, name) for _, kind, name in look.look(kubectl, {run: last[run]}).get(run, {})}
    own |= {(item.kind, item.name) for item in last[run].objects}
    named = ((name, item) for name, record in last.items() for item in record.objects)
    owners = {reference.name: name for name, reference in named if roles.is_workload(reference.group_kind)}
    found = []
    for event in look.events(kubectl):
        about = mapping(event.get("involvedObject"))
        kind, name = text(about.get("kind")), text(about.get("name"))
        if (kind, name) in own or (kind in _MADE and _owner(name, owners) == run):
            found.append(_event(event, f"{kind} {name}"))
    return found


def _owner(name: str, owners: Mapping[str, str]) -> str:
    """Return the run of the object of which something with this name was made: the one with the longest name."""
    begin = max((owner for owner in owners if f"{name}-".startswith(f"{owner}-")), key=len, default="")
    return owners.get(begin, "")


def _event(event: Object, about: str) -> Event:
    count = event.get("count") or mapping(event.get("series")).get("count")
    return Event(
        when=look.time_of(event),
        type="Warning" if event.get("type") == "Warning" else "Normal",
        object=about,
        reason=text(event.get("reason")),
        message=" ".join(text(event.get("message")).split()),
        count=count if isinstance(count, int) else 1,
    )
