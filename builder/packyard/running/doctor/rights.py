"""Whether the user may do in the namespace what verbs do for a run of these objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from packyard.core.kubernetes.groups import is_cluster_scoped, resource_of
from packyard.core.kubernetes.kinds import group_of
from packyard.core.kubernetes.lenient import Object, text, type_of
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, unknown, warning
from packyard.running.runs import roles
from packyard.running.runs.roles import Right

#: What an administrator types; `examine` adds for what and whom.
FIX = "packyard roles"
_CHECK, _ABOUT = "rights", "your rights"
#: What a run can be deployed without: looking at its pods.
_LOOKING = ("pods", "pods/log", "pods/exec", "pods/portforward", "events")
#: The apiVersions of kinds that are asked for, but those of the core group.
_VERSIONS = {
    "CSIDriver": "storage.k8s.io/v1",
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
    "Deployment": "apps/v1",
    "IngressClass": "networking.k8s.io/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "RuntimeClass": "node.k8s.io/v1",
    "StorageClass": "storage.k8s.io/v1",
}
_RECORDS = {Right("", "configmaps", "create"), Right("", "configmaps", "list")}


def ask(_: Sequence[Object]) -> Questions:
    """Ask for the rights."""
    return Questions(rights=True)


def held(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find each right that deploying and watching need; whoever creates a Role must have what it gives."""
    for_runs, always = roles.needed(objects)[0], roles.needed(())[0]
    deploying = (for_runs - always) | _RECORDS | _cluster_wide(objects)
    looking = {each for each in always if not each.group and each.resource in _LOOKING}
    why = "the run cannot be deployed, or not ended", "some of its pods' state cannot be seen"
    for rights, make, consequence in ((deploying, error, why[0]), (looking, warning, why[1])):
        lacking = sorted(each for each in rights if not any(_gives(rule, each) for rule in facts.rules))
        if not lacking:
            yield passed(_CHECK, f"{_ABOUT}: {len(rights)}")
        elif facts.all_rules:
            yield make(_CHECK, _ABOUT, f"you may not {_words(lacking)}", why=consequence, fix=FIX)
        else:
            message = f"the cluster does not tell all of them, so that you may or may not {_words(lacking)}"
            yield unknown(_CHECK, _ABOUT, message, why=consequence)


def may_try(facts: Facts) -> bool:
    """Say whether the user may have the server try to make a pod."""
    return not facts.all_rules or any(_gives(rule, Right("", "pods", "create")) for rule in facts.rules)


def to_read(questions: Questions) -> tuple[set[Right], set[Right]]:
    """Return the rights with which questions are answered: in the namespace, and for the whole cluster.

    A Secret is read by its name alone.
    """
    inside = {_right(kind, "list") for kind in questions.inside}
    everywhere = {_right(kind, "list") for kind in questions.everywhere}
    for kind, name in questions.named:
        if is_cluster_scoped(_VERSIONS.get(kind, "v1"), kind):
            everywhere.add(_right(kind, "get"))
        else:
            inside.add(replace(_right(kind, "get"), name=name if kind == "Secret" else ""))
    for resource in questions.lists:
        whole, _, group = resource.partition(".")
        everywhere.add(Right(group, whole, "list"))
    for resource, _ in questions.custom:
        whole, _, group = resource.partition(".")
        inside.add(Right(group, whole, "get"))
    return inside, everywhere


def _right(kind: str, verb: str) -> Right:
    return Right(group_of(_VERSIONS.get(kind, "v1")), resource_of(kind), verb)


def _cluster_wide(objects: Sequence[Object]) -> set[Right]:
    """Return the rights for what has no namespace."""
    kinds = [each for each in map(type_of, objects) if is_cluster_scoped(*each)]
    return {
        Right(group_of(version), resource_of(kind), verb) for version, kind in kinds for verb in ("create", "patch")
    }


def _gives(rule: Object, right: Right) -> bool:
    """Say whether a rule of a role gives a right."""
    _, _, subresource = right.resource.partition("/")
    resources = {right.resource, "*", *([f"*/{subresource}"] if subresource else [])}
    names = _texts(rule, "resourceNames")
    return (
        not _texts(rule, "apiGroups").isdisjoint({right.group, "*"})
        and not _texts(rule, "resources").isdisjoint(resources)
        and not _texts(rule, "verbs").isdisjoint({right.verb, "*"})
        and (not names or right.name in names)
    )


def _texts(rule: Object, field: str) -> set[str]:
    words = rule.get(field)
    return set(map(text, words)) if isinstance(words, list) else set()


def _words(rights: Iterable[Right]) -> str:
    """Return rights in words: ``create, patch jobs.batch; get pods/log``."""
    verbs: dict[str, list[str]] = {}
    for each in rights:
        whole = f"{each.resource}.{each.group}" if each.group else each.resource
        verbs.setdefault(f"{whole} {each.name}".strip(), []).append(each.verb)
    return "; ".join(f"{', '.join(words)} {what}" for what, words in verbs.items())
