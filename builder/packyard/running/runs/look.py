"""One look at the runs of a namespace: as many requests as there are kinds of objects, however many runs there are.

kubectl get Pod.v1.,Job.v1.batch,…  --selector=packyard/run     every object of every run, in one call of kubectl
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes import roles
from packyard.core.kubernetes.groups import definition
from packyard.core.kubernetes.lenient import Object, kind_of, labels_of, mapping, name_of, text
from packyard.running.runs import live
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import NUMBER, RunRecord
from packyard.running.runs.run import LABEL, Reference, is_of

#: An object by what it is: group, kind, name.
Key = tuple[str, str, str]

_POD = ("v1", "Pod")


@dataclass(frozen=True, slots=True)
class Seen:
    """The objects of each run, and the resources that may not be read: ``jobs.batch``."""

    objects: Mapping[str, Mapping[Key, Object]]
    forbidden: frozenset[str]

    def is_missing(self, run: str, reference: Reference) -> bool:
        """Say whether an object of a run is not there."""
        return key_of(reference) not in self.objects.get(run, {}) and not self.is_unread(reference)

    def is_unread(self, reference: Reference) -> bool:
        """Say whether nothing can be said of an object, as its kind may not be read."""
        return _resource(reference.api_version, reference.kind) in self.forbidden


def key_of(reference: Reference) -> Key:
    """Return what names an object whatever version it is read in."""
    return (*reference.group_kind, reference.name)


def look(kubectl: Kubectl, records: Mapping[str, RunRecord]) -> Seen:
    """Read the objects of these runs, and what controllers made of them; kinds that are not served have none."""
    runs = f"{LABEL}={next(iter(records))}" if len(records) == 1 else LABEL
    listed = live.list_(kubectl, {_POD, *_kinds(records.values())}, f"{runs},!{NUMBER}")
    if _resource(*_POD) in listed.forbidden:
        raise live.may_not_list(kubectl, [_resource(*_POD)])
    by_run: dict[str, dict[Key, Object]] = {}
    for item in listed.items:
        run = text(labels_of(item).get(LABEL))
        group, kind = kind_of(item)
        if is_of(item, run, kubectl.namespace):
            by_run.setdefault(run, {})[group, kind, name_of(item)] = item
    return Seen(by_run, listed.forbidden)


def events(kubectl: Kubectl) -> Sequence[Object]:
    """Return the events of a namespace, the newest last."""
    return sorted(kubectl.read("get", "events", "--chunk-size=0"), key=time_of)


def warnings(kubectl: Kubectl) -> Sequence[Object]:
    """Return the warnings of a namespace; none where they may not be read, as they only explain."""
    return sorted(kubectl.glance("get", "events", "--field-selector=type=Warning", "--chunk-size=0"), key=time_of)


def warned(events: Sequence[Object], about: Collection[tuple[str, str]], reasons: Collection[str]) -> str:
    """Return the message of the newest event with one of these reasons about one of these objects: kinds and names."""
    for event in reversed(events):
        involved = mapping(event.get("involvedObject"))
        if text(event.get("reason")) in reasons and (text(involved.get("kind")), text(involved.get("name"))) in about:
            return text(event.get("message"))
    return ""


def time_of(event: Object) -> str:
    """Return when an event was seen last."""
    created = mapping(event.get("metadata")).get("creationTimestamp")
    series = mapping(event.get("series")).get("lastObservedTime")
    return next(filter(None, map(text, (series, event.get("lastTimestamp"), event.get("eventTime"), created))), "")


def _kinds(records: Iterable[RunRecord]) -> Iterator[tuple[str, str]]:
    for record in records:
        for each in record.objects:
            yield each.api_version, each.kind
            yield from roles.made_of(each.group_kind)


def _resource(api_version: str, kind: str) -> str:
    """Return what messages of a server call the objects of a kind: ``jobs.batch``, ``pods``."""
    return definition(api_version, kind).removesuffix(".")
