"""What administrators install for packages: operators, drivers and devices, and in which state a cluster has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote

from packyard.core.bundle.required import Required
from packyard.core.kubernetes import operator_versions, operators, requirements
from packyard.core.kubernetes.lenient import Object, mapping
from packyard.core.kubernetes.operators import Operator
from packyard.core.kubernetes.requirements import Requirement
from packyard.running.doctor import apis, facts, references
from packyard.running.doctor.facts import Facts, Questions, UnreadError
from packyard.running.doctor.finding import Finding, error, passed, unknown, warning
from packyard.running.runs.kubectl import Kubectl

_CHECK = "prerequisites"
_DEFINITION, _DRIVER, _RESOURCE = "CustomResourceDefinition", "CSIDriver", "Resource"
_SECRET, _KUBERNETES = "Secret", "Kubernetes"
_KINDS = (_DEFINITION, _DRIVER, _RESOURCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prerequisite:
    """Something to be installed: an ``operator`` that is known, or what nobody is known to offer.

    ``requirements`` are those that it meets, ``packages`` those that have one of them. ``required`` is a Secret or a
    version of Kubernetes, as an author says it.
    """

    operator: Operator | None
    requirements: Sequence[Requirement]
    packages: Sequence[str]
    required: Required | None = None

    @property
    def name(self) -> str:
        """What people call it."""
        if self.required:
            return str(self.requirements[0])
        return self.operator.name if self.operator else self.requirements[0].name

    @property
    def install(self) -> Sequence[str]:
        """The commands that bring it."""
        if self.required and self.required.secret:
            literals = " ".join(f"--from-literal={quote(key)}=VALUE" for key in self.required.keys)
            return [f"kubectl create secret generic {quote(self.required.secret)} {literals}"]
        return self.operator.install if self.operator else ()

    @property
    def description(self) -> str:
        """What there is to say of it: what it is for, where it is described, who says so, or whom to ask."""
        if self.required:
            return self.required.description or f"{self.packages[0]} says so"
        if self.operator:
            return self.operator.link or (f"{self.operator.by} says so" if self.operator.by else "")
        return "ask who made the package"


def find(use_cases: Iterable[tuple[str, str, Sequence[Object], Sequence[Required]]]) -> list[Prerequisite]:
    """Return what use cases need installed, in the order of installation.

    Each is a package, a path, objects, and what its authors say.
    """
    needed: dict[Requirement, list[str]] = {}
    others: dict[Required, str] = {}
    whole: list[Object] = []
    for package, _, objects, required in use_cases:
        whole += objects
        others |= {each: package for each in required if each not in others}
        stated = [_parse(word) for each in required for word in each.words]
        named = [name for each in required for name in each.definitions]
        for each in (*requirements.find(objects, named), *stated):
            if each.kind in _KINDS or each in stated:
                needed.setdefault(each, []).append(package)
    table = [operator for each, package in others.items() for operator in operators.declared([each], package)]
    of_table = operators.needed(map(str, needed), [*table, *operator_versions.table(whole)])
    groups: list[tuple[Operator | None, list[Requirement]]] = [(each, []) for each in of_table]
    owned = {word: members for each, members in reversed(groups) if each for word in each.requirements}
    for one in sorted(needed):
        if str(one) in owned:
            owned[str(one)].append(one)
        else:
            groups.append((None, [one]))
    by_words = {each.words[0]: each for each in others if not each.operator}
    return [
        Prerequisite(
            operator=operator,
            requirements=members,
            packages=sorted({name for each in members for name in needed[each]}),
            required=by_words.get(str(members[0])),
        )
        for operator, members in groups
    ]


def _parse(word: str) -> Requirement:
    kind, _, name = word.partition(" ")
    return Requirement(kind=kind, name=name)


def examine(kubectl: Kubectl, prerequisites: Sequence[Prerequisite]) -> list[Finding]:
    """Return the state of each on a cluster; in the calls of one `facts.read`."""
    wanted = {each for item in prerequisites for each in item.requirements}
    everywhere = {"Deployment"} if any(item.operator and item.operator.definitions for item in prerequisites) else set()
    everywhere |= {"Node"} if any(each.kind == _RESOURCE for each in wanted) else set()
    named = frozenset((each.kind, each.name) for each in wanted if each.kind not in (_RESOURCE, _KUBERNETES))
    asks_version = any(each.kind == _KUBERNETES for each in wanted)
    cluster = facts.read(kubectl, Questions(named=named, everywhere=frozenset(everywhere), version=asks_version))
    return [judge(item, cluster) for item in prerequisites]


def judge(item: Prerequisite, cluster: Facts) -> Finding:
    """Return the worst that can be said of one."""
    try:
        findings = [*_offered(item, cluster), *_operated(item, cluster)]
    except UnreadError as reason:
        return unknown(_CHECK, item.name, f"you may not look: {reason}")
    return min(findings, key=lambda each: ("error", "warning", "unknown", "passed").index(each.severity))


def _offered(item: Prerequisite, cluster: Facts) -> Iterator[Finding]:
    for requirement in item.requirements:
        if requirement.kind == _KUBERNETES:
            yield from apis.kubernetes([item.required] if item.required else [], (), cluster)
        elif requirement.kind == _SECRET and item.required:
            yield from references.there((), cluster, [item.required])
        elif requirement.kind == _RESOURCE:
            nodes = cluster.all("Node")
            having = [node for node in nodes if _has(node, requirement.name)]
            if not having:
                yield error(_CHECK, item.name, f"none of {len(nodes)} nodes has {requirement.name}")
            else:
                there = f"{len(having)} of {len(nodes)} nodes have {requirement.name}"
                yield replace(passed(_CHECK, item.name), message=there)
        elif cluster.find(requirement.kind, requirement.name) is None:
            yield error(_CHECK, item.name, f"is missing: there is no {requirement}")
        elif not (item.operator and item.operator.definitions):
            yield passed(_CHECK, item.name)


def _has(node: Mapping[str, object], name: str) -> bool:
    amount = mapping(mapping(node.get("status")).get("allocatable")).get(name)
    return str(amount or "0") != "0"


def _operated(item: Prerequisite, cluster: Facts) -> Iterator[Finding]:
    """Judge who acts on the kinds that an operator brings."""
    if item.operator and item.operator.definitions:
        running = operators.find(item.operator, cluster.all("Deployment"))
        if not running:
            message = "its kinds are there, and no Deployment of this cluster runs it"
            yield warning(_CHECK, item.name, message, fix=item.operator.fix)
        for each in running:
            finding = apis.judge(item.operator, each)
            message = f": {finding.message}" if finding.message else " runs"
            yield replace(finding, message=f"{each.version or 'its version'}{message}")
    elif item.operator is None and item.requirements[0].kind == _DEFINITION:
        yield unknown(_CHECK, item.name, "is there; who acts on it is not known to packyard")
