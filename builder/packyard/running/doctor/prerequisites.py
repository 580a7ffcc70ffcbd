"""What administrators install for packages: operators, drivers and devices, and in which state a cluster has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packyard.core.kubernetes import operators, requirements
from packyard.core.kubernetes.lenient import Object, mapping
from packyard.core.kubernetes.operators import Operator
from packyard.core.kubernetes.requirements import Requirement
from packyard.running.doctor import apis, facts
from packyard.running.doctor.facts import Facts, Questions, UnreadError
from packyard.running.doctor.finding import Finding, error, passed, unknown, warning
from packyard.running.runs.kubectl import Kubectl

_CHECK = "prerequisites"
_DEFINITION, _DRIVER, _RESOURCE = "CustomResourceDefinition", "CSIDriver", "Resource"
_KINDS = (_DEFINITION, _DRIVER, _RESOURCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prerequisite:
    """Something to be installed: an ``operator`` that is known, or what nobody is known to offer.

    ``requirements`` are those that it meets, ``packages`` those that have one of them.
    """

    operator: Operator | None
    requirements: Sequence[Requirement]
    packages: Sequence[str]

    @property
    def name(self) -> str:
        """What people call it."""
        return self.operator.name if self.operator else self.requirements[0].name


def find(use_cases: Iterable[tuple[str, str, Sequence[Object]]]) -> list[Prerequisite]:
    """Return what use cases need installed, in the order of installation: each is a package, a path and objects."""
    needed: dict[Requirement, list[str]] = {}
    for package, _, objects in use_cases:
        for each in requirements.find(objects):
            if each.kind in _KINDS:
                needed.setdefault(each, []).append(package)
    known = {each: operators.needed([str(each)]) for each in sorted(needed)}
    groups: dict[str, tuple[Operator | None, list[Requirement]]] = {}
    for operator in operators.needed(map(str, needed)):
        groups[operator.name] = (operator, [each for each, found in known.items() if operator in found])
    groups |= {str(each): (None, [each]) for each, found in known.items() if not found}
    return [
        Prerequisite(
            operator=operator,
            requirements=found,
            packages=sorted({name for each in found for name in needed[each]}),
        )
        for operator, found in groups.values()
    ]


def examine(kubectl: Kubectl, found: Sequence[Prerequisite]) -> list[Finding]:
    """Return the state of each on a cluster; in the calls of one `facts.read`."""
    wanted = {each for item in found for each in item.requirements}
    everywhere = {"Deployment"} if any(item.operator and item.operator.definitions for item in found) else set()
    everywhere |= {"Node"} if any(each.kind == _RESOURCE for each in wanted) else set()
    named = frozenset((each.kind, each.name) for each in wanted if each.kind != _RESOURCE)
    known = facts.read(kubectl, Questions(named=named, everywhere=frozenset(everywhere)))
    return [judge(item, known) for item in found]


def judge(item: Prerequisite, known: Facts) -> Finding:
    """Return the worst that can be said of one."""
    try:
        findings = [*_offered(item, known), *_operated(item, known)]
    except UnreadError as reason:
        return unknown(_CHECK, item.name, f"you may not look: {reason}")
    return min(findings, key=lambda each: ("error", "warning", "unknown", "passed").index(each.severity))


def _offered(item: Prerequisite, known: Facts) -> Iterator[Finding]:
    for each in item.requirements:
        if each.kind == _RESOURCE:
            nodes = known.all("Node")
            having = [node for node in nodes if _has(node, each.name)]
            if not having:
                yield error(_CHECK, item.name, f"none of {len(nodes)} nodes has {each.name}")
            else:
                there = f"{len(having)} of {len(nodes)} nodes have {each.name}"
                yield replace(passed(_CHECK, item.name), message=there)
        elif known.find(each.kind, each.name) is None:
            yield error(_CHECK, item.name, f"is missing: there is no {each}")
        elif not (item.operator and item.operator.definitions):
            yield passed(_CHECK, item.name)


def _has(node: Mapping[str, object], name: str) -> bool:
    amount = mapping(mapping(node.get("status")).get("allocatable")).get(name)
    return str(amount or "0") != "0"


def _operated(item: Prerequisite, known: Facts) -> Iterator[Finding]:
    """Judge who acts on the kinds that an operator brings."""
    if item.operator and item.operator.definitions:
        running = operators.find(item.operator, known.all("Deployment"))
        if not running:
            yield warning(_CHECK, item.name, "its kinds are there, and no Deployment of this cluster runs it")
        for each in running:
            found = apis.judge(item.operator, each)
            message = f": {found.message}" if found.message else " runs"
            yield replace(found, message=f"{each.version or 'its version'}{message}")
    elif item.operator is None and item.requirements[0].kind == _DEFINITION:
        yield unknown(_CHECK, item.name, "is there; who acts on it is not known to packyard")
