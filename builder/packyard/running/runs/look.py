"""Objects as they are on the cluster: all of the runs of a namespace by one call, or some by their names; events.

kubectl get Pod.v1.,Job.v1.batch,…  --selector=packyard/run     every object of every run
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from packyard.core.errors import Problem, refuse
from packyard.core.kubernetes.groups import resource_of
from packyard.core.kubernetes.kinds import group_of, kind_of
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, name_of, text
from packyard.running.runs import roles
from packyard.running.runs.kubectl import UNKNOWN, Kubectl, listed
from packyard.running.runs.record import NUMBER, RunRecord
from packyard.running.runs.run import LABEL, Reference, is_of

#: An object by what it is: group, kind, name.
Key = tuple[str, str, str]
#: The objects of each run.
Objects = Mapping[str, Mapping[Key, Object]]
#: apiVersion and kind.
Kind = tuple[str, str]

_UNSERVED = re.compile(r'no matches for kind "([^"]+)" in version "([^"]+)"')
_NO_LONGER = re.compile(r'"([^" ]+), Resource=([^"]+)".*: the server could not find the requested resource')
_POD = ("v1", "Pod")


def key_of(reference: Reference) -> Key:
    """Return what names an object whatever version it is read in."""
    return (*reference.group_kind, reference.name)


def look(kubectl: Kubectl, records: Mapping[str, RunRecord]) -> Objects:
    """Read the objects of these runs, and what controllers made of them; kinds that are not served have none."""
    runs = f"{LABEL}={next(iter(records))}" if len(records) == 1 else LABEL
    return list_(kubectl, {_POD, *_kinds(records.values())}, f"{runs},!{NUMBER}")


def warned(events: Sequence[Object], reasons: Collection[str], is_about: Callable[[tuple[str, str]], bool]) -> str:
    """Return the message of the newest event with one of these reasons about an object, by its kind and name."""
    for event in reversed(events):
        about = mapping(event.get("involvedObject"))
        if text(event.get("reason")) in reasons and is_about((text(about.get("kind")), text(about.get("name")))):
            return text(event.get("message"))
    return ""


def time_of(event: Object) -> str:
    """Return when an event was seen last."""
    created = mapping(event.get("metadata")).get("creationTimestamp")
    series = mapping(event.get("series")).get("lastObservedTime")
    return next(filter(None, map(text, (series, event.get("lastTimestamp"), event.get("eventTime"), created))), "")


def _kinds(records: Iterable[RunRecord]) -> Iterator[tuple[str, str]]:
    for record in records:
        for item in record.objects:
            yield item.api_version, item.kind
            yield from roles.made_of(item.group_kind)


def names(references: Iterable[Reference]) -> bytes:
    """Return a list of objects that has their names alone, as kubectl reads it from a file."""
    return listed(
        {
            "apiVersion": reference.api_version,
            "kind": reference.kind,
            "metadata": {"name": reference.name, **({"namespace": reference.namespace} if reference.namespace else {})},
        }
        for reference in references
    )


def selector(runs: Collection[str]) -> str:
    """Return the selector of the objects of runs."""
    return f"{LABEL} in ({','.join(sorted(runs))})"


def read(
    kubectl: Kubectl, wanted: Sequence[Reference], also: Iterable[Reference] = ()
) -> dict[Reference, dict[str, Any]]:
    """Return those objects that are there, by one call; ``also`` may be of kinds that the cluster does not know.

    Raises `InputError` for what is ``wanted`` and of such a kind.
    """
    references = list(dict.fromkeys((*wanted, *also)))
    if not references:
        return {}
    words = ("get", "--filename=-", "--ignore-not-found", "--output=json")
    answer = kubectl.call(*words, data=names(references))
    unserved = set(_UNSERVED.findall(answer.errors)) if answer.code else set()
    served = [reference for reference in references if (reference.kind, reference.api_version) not in unserved]
    hint = "packyard doctor DIR says what a use case needs, and how it is installed"
    missing = (reference for reference in wanted if reference not in served)
    unknown = (f"{item}: the cluster does not know {item.kind} of {item.api_version}" for item in missing)
    refuse(Problem(text, hint=hint) for text in unknown)
    if len(served) < len(references):
        return read(kubectl, served)
    if answer.code:
        raise kubectl.refusal(answer.errors)
    return {Reference.of(item, kubectl.namespace): dict(item) for item in kubectl.objects(answer.output)}


def list_(kubectl: Kubectl, kinds: Collection[Kind], wanted: str) -> Objects:
    """Return all objects of some kinds that a selector chooses, by one call; kinds that nobody serves have none."""
    if not kinds:
        return {}
    words = ",".join(f"{kind}.{version.rpartition('/')[2]}.{group_of(version)}" for version, kind in sorted(kinds))
    answer = kubectl.call("get", words, f"--selector={wanted}", "--chunk-size=0", "--output=json")
    stderr = answer.errors if answer.code else ""
    if unknown := {kind for kind in kinds if _is_unknown(kind, stderr)}:
        return list_(kubectl, set(kinds) - unknown, wanted)
    if answer.code:
        raise kubectl.refusal(answer.errors)
    by_run: dict[str, dict[Key, Object]] = {}
    for item in kubectl.objects(answer.output):
        run = text(labels_of(item).get(LABEL))
        if is_of(item, run, kubectl.namespace):
            by_run.setdefault(run, {})[*kind_of(item), name_of(item)] = item
    return by_run


def _is_unknown(kind: Kind, stderr: str) -> bool:
    """Say whether the server does not serve a kind; kubectl may remember that it did."""
    names = {resource_of(kind[1]), kind[1].lower()}
    return any(name.lower() in names for name in UNKNOWN.findall(stderr)) or any(
        (version, name) == (kind[0], resource_of(kind[1])) for version, name in _NO_LONGER.findall(stderr)
    )


def delete(kubectl: Kubectl, references: Iterable[Reference]) -> None:
    """Delete objects, if there are any, those that are gone already too; what they own goes in the background."""
    targets = list(references)
    words = ("delete", "--filename=-", "--ignore-not-found", "--wait=false", "--output=name")
    if targets:
        kubectl.run(*words, data=names(targets))
