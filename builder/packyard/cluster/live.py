"""Objects as they are on the cluster, by their names or by the runs that they belong to; and whose they are."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence

from packyard.cluster.kubectl import Kubectl
from packyard.cluster.run import LABEL, Object, Reference
from packyard.errors import InputError, Problem
from packyard.kubernetes.kinds import group_of
from packyard.kubernetes.lenient import mapping, mappings

#: apiVersion and kind.
Kind = tuple[str, str]

_UNSERVED = re.compile(r'no matches for kind "([^"]+)" in version "([^"]+)"')
_UNKNOWN = re.compile(r'the server doesn\'t have a resource type "([^"]+)"')


def names(references: Iterable[Reference]) -> bytes:
    """Return a list of objects that has their names alone, as kubectl reads it from a file."""
    items = [
        {
            "apiVersion": each.api_version,
            "kind": each.kind,
            "metadata": {"name": each.name, **({"namespace": each.namespace} if each.namespace else {})},
        }
        for each in references
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()


def selector(runs: Collection[str]) -> str:
    """Return the selector of the objects of runs."""
    return f"{LABEL} in ({','.join(sorted(runs))})"


def read(kubectl: Kubectl, wanted: Sequence[Reference], also: Iterable[Reference] = ()) -> dict[Reference, Object]:
    """Return those objects that are there, by one call; ``also`` may be of kinds that the cluster does not know.

    Raises `InputError` for what is ``wanted`` and of such a kind.
    """
    asked = list(dict.fromkeys((*wanted, *also)))
    if not asked:
        return {}
    words = ("get", "--filename=-", "--ignore-not-found", "--show-managed-fields", "--output=json")
    done = kubectl.call(*words, data=names(asked))
    unserved = set(_UNSERVED.findall(done.said)) if done.code else set()
    known = [each for each in asked if (each.kind, each.api_version) not in unserved]
    if missing := [each for each in wanted if each not in known]:
        hint = "packyard prerequisites shows what a package needs, and how to install it"
        problems = (f"{each}: the cluster does not know {each.kind} of {each.api_version}" for each in missing)
        raise InputError(*(Problem(text, hint=hint) for text in problems))
    if len(known) < len(asked):
        return read(kubectl, known)
    if done.code:
        raise kubectl.refusal(done.said)
    return _by_name(kubectl, done.output)


def find(
    kubectl: Kubectl, kinds: Collection[Kind], runs: Collection[str]
) -> tuple[dict[Reference, Object], frozenset[Kind]]:
    """Return all objects of some kinds that have the labels of runs, by one call; and the kinds that are not known."""
    if not kinds:
        return {}, frozenset()
    words = ",".join(f"{kind}.{version.rpartition('/')[2]}.{group_of(version)}" for version, kind in sorted(kinds))
    done = kubectl.call("get", words, f"--selector={selector(runs)}", "--output=json")
    unknown = {each.lower() for each in _UNKNOWN.findall(done.said)} if done.code else set()
    gone = frozenset(each for each in kinds if each[1].lower() in unknown)
    if gone:
        found, more = find(kubectl, set(kinds) - gone, runs)
        return found, gone | more
    if done.code:
        raise kubectl.refusal(done.said)
    return _by_name(kubectl, done.output), gone


def delete(kubectl: Kubectl, references: Iterable[Reference]) -> None:
    """Delete objects, those that are gone already too; what they own is deleted in the background."""
    words = ("delete", "--filename=-", "--ignore-not-found", "--wait=false", "--output=name")
    kubectl.run(*words, data=names(references))


def _by_name(kubectl: Kubectl, data: bytes) -> dict[Reference, Object]:
    found = kubectl.json(data)
    items = mappings(mapping(found).get("items")) if mapping(found).get("kind") == "List" else mappings([found])
    return {Reference.of(item, kubectl.namespace): dict(item) for item in items if item}
