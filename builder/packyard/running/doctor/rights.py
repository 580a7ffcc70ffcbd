"""Whether the user may apply these objects in the namespace and record the run; of all else, verbs speak themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packyard.core.kubernetes.groups import resource_of
from packyard.core.kubernetes.kinds import group_of
from packyard.core.kubernetes.lenient import Object, text, type_of
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, unknown

_CHECK, _ABOUT = "rights", "your rights"
_RECORDS = {("", "configmaps", "create"), ("", "configmaps", "list")}
_WHY = "the run cannot be deployed; an administrator gives the Role that docs/operating.md has"


def ask(_: Sequence[Object]) -> Questions:
    """Ask for the rights."""
    return Questions(rights=True)


def may_apply(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find the right to create and to change each kind of object, and those that records of runs need."""
    kinds = {
        (group_of(version), facts.apis.get(version, {}).get(kind) or resource_of(kind))
        for version, kind in map(type_of, objects)
    }
    needed = {(*kind, verb) for kind in kinds for verb in ("create", "patch")} | _RECORDS
    lacking = sorted(each for each in needed if not any(_gives(rule, *each) for rule in facts.rules))
    words = ", ".join(f"{verb} {resource}{group and f'.{group}'}" for group, resource, verb in lacking)
    if not lacking:
        yield passed(_CHECK, _ABOUT)
    elif facts.all_rules:
        yield error(_CHECK, _ABOUT, f"you may not {words}", why=_WHY)
    else:
        yield unknown(_CHECK, _ABOUT, f"the cluster does not tell all of them: you may or may not {words}", why=_WHY)


def _gives(rule: Object, group: str, resource: str, verb: str) -> bool:
    """Say whether a rule of a role gives a right on all objects of a resource."""
    fields = {"apiGroups": group, "resources": resource, "verbs": verb}
    return not rule.get("resourceNames") and all(
        not _texts(rule, field).isdisjoint({word, "*"}) for field, word in fields.items()
    )


def _texts(rule: Object, field: str) -> set[str]:
    words = rule.get(field)
    return set(map(text, words)) if isinstance(words, list) else set()
