"""The fewest rights in one namespace with which all verbs work on runs of packages, as a Role.

What a run is made of says which kinds its user creates, reads and deletes; whatever it is made of, verbs keep records
of it, look at its pods and look for what it lacks. Whoever creates a Role must have every right that it gives, so its
rules are among those of the user. Nothing is said of kinds without a namespace: these are for administrators.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from packyard.core.kubernetes.groups import is_cluster_scoped, resource_of
from packyard.core.kubernetes.kinds import BATCH, CORE, RBAC, group_of
from packyard.core.kubernetes.lenient import mappings, name_of, text, type_of
from packyard.core.kubernetes.roles import made_of
from packyard.running.runs.run import MANAGED, Object

_Key = TypeVar("_Key")
_API = f"{RBAC}/v1"


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """One verb on one resource, such as ``pods/log`` of the group ``""``; on all objects, or on that of a ``name``."""

    group: str
    resource: str
    verb: str
    name: str = ""


def _rights(group: str, resources: str, verbs: str) -> set[Right]:
    return {Right(group, resource, verb) for resource in resources.split() for verb in verbs.split()}


#: What verbs ask of a namespace, whatever a run is made of; the doctor says itself what it looks at.
_ALWAYS = (
    _rights(CORE, "configmaps", "create delete list")  # records of runs
    | _rights(CORE, "pods persistentvolumeclaims", "get list")
    | _rights(CORE, "pods/log namespaces", "get")
    | _rights(CORE, "pods/exec pods/portforward", "create")
    | _rights(CORE, "events", "list")
    | _rights(CORE, "serviceaccounts", "create delete")  # doctor --probe
    | _rights(BATCH, "jobs", "create delete")
)
#: What they ask of each kind that a run has: it is applied by a patch that may create, read, and deleted.
_OWN = "create delete get list patch"


def needed(objects: Iterable[Mapping[str, Any]]) -> tuple[set[Right], set[str]]:
    """Return the rights for objects, and what among these a user of a namespace cannot create with any of them.

    That is what has no namespace, and a Role that gives all rights of a kind: whoever could create it had these, too.
    """
    rights, beyond = set(_ALWAYS), set()
    for item in objects:
        api_version, kind = type_of(item)
        granted = set(_granted(item)) if (group_of(api_version), kind) == (RBAC, "Role") else set()
        if is_cluster_scoped(api_version, kind):
            beyond.add(f"{kind}, which has no namespace")
        elif any("*" in (each.group, each.resource, each.verb) for each in granted):
            beyond.add(f"Role {name_of(item)}, which gives all rights on something")
        else:
            rights |= granted | _rights(group_of(api_version), resource_of(kind), _OWN)
            for version, child in made_of((group_of(api_version), kind)):
                rights |= _rights(group_of(version), resource_of(child), "list")
    return rights, beyond


def role(rights: Collection[Right], name: str, namespace: str = "", *, kind: str = "Role") -> Object:
    """Return rights as a Role or ClusterRole, in as few rules as can be; without ``namespace``, kubectl's is meant."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), "labels": MANAGED}
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, "rules": _rules(rights)}


def binding(bound_role: Object, users: Sequence[str], groups: Sequence[str]) -> Object:
    """Return what gives a role to users and groups."""
    metadata = bound_role["metadata"]
    subjects = [("User", name) for name in users] + [("Group", name) for name in groups]
    return {
        "apiVersion": _API,
        "kind": f"{bound_role['kind']}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": bound_role["kind"], "name": metadata["name"]},
        "subjects": [{"apiGroup": RBAC, "kind": kind, "name": name} for kind, name in subjects],
    }


def _granted(item: Mapping[str, Any]) -> Iterator[Right]:
    """Yield the rights that a Role gives."""
    for rule in mappings(item.get("rules")):
        groups, resources, verbs, names = (
            [text(each) for each in words] if isinstance(words := rule.get(key), list) else []
            for key in ("apiGroups", "resources", "verbs", "resourceNames")
        )
        for group in groups:
            for resource in resources:
                yield from (Right(group, resource, verb, name) for verb in verbs for name in names or [""])


def _rules(rights: Collection[Right]) -> list[Object]:
    """Return rules: verbs on the same resource stand in one, then names, then resources of a group."""
    held = sorted(each for each in rights if not each.name or replace(each, name="") not in rights)
    verbs = _gathered(((each.group, each.resource, each.name), each.verb) for each in held)
    names = _gathered(((group, resource, found), name) for (group, resource, name), found in verbs.items())
    resources = _gathered(((group, found, named), resource) for (group, resource, found), named in names.items())
    return [
        {
            "apiGroups": [group],
            "resources": list(gathered),
            **({"resourceNames": list(named)} if named != ("",) else {}),
            "verbs": list(found),
        }
        for (group, found, named), gathered in resources.items()
    ]


def _gathered(items: Iterable[tuple[_Key, str]]) -> dict[_Key, tuple[str, ...]]:
    by_key: dict[_Key, list[str]] = {}
    for key, word in items:
        by_key.setdefault(key, []).append(word)
    return {key: tuple(texts) for key, texts in by_key.items()}
