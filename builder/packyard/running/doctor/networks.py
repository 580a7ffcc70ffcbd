"""Whether NetworkPolicies cut the pods off: from all that they fetch, or from each other.

Told is only what no rule opens at all. What a rule admits is not computed, nor whether the network obeys policies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packyard.core.kubernetes import selection
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, name_of
from packyard.running.doctor import wanted
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, passed, warning
from packyard.running.doctor.wanted import PodSet

_CHECK, _KIND = "network", "NetworkPolicy"
_CUT = {
    "egress": ("lets nothing out of the pods", "they resolve no name, fetch nothing, and do not reach each other"),
    "ingress": ("lets nothing reach the pods", "pods of the run do not reach each other"),
}


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for the policies of the namespace."""
    return Questions(inside=frozenset({_KIND} if wanted.find(objects) else ()))


def open_to(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find a way out of the pods, and between them where there are several."""
    sets = wanted.find(objects)
    if not sets:
        return
    own = {name_of(item): item for item in objects if item.get("kind") == _KIND}
    policies = [*own.values(), *(each for each in facts.all(_KIND) if name_of(each) not in own)]
    directions = ("egress", "ingress") if sum(each.count for each in sets) > 1 else ("egress",)
    by_way = {way: _closing(sets, policies, way) for way in directions}
    for way, (whose, names) in by_way.items():
        if names:
            message, why = _CUT[way]
            fix = f"{facts.inside} describe networkpolicies"
            yield warning(_CHECK, f"{_KIND} {', '.join(names)}", f"{message} of {whose}", why=why, fix=fix)
    if not any(names for _, names in by_way.values()):
        yield passed(_CHECK, "the network of the pods")


def _closing(sets: Sequence[PodSet], policies: Sequence[Object], way: str) -> tuple[str, list[str]]:
    """Return of which pods all policies together leave a direction without a rule, and the names of these."""
    for pod_set in sets:
        labels = labels_of(mapping(pod_set.pod.template))
        those = [item for item in policies if _closes(mapping(item.get("spec")), labels, way)]
        if those and not any(mapping(item.get("spec")).get(way) for item in those):
            return pod_set.who, sorted(map(name_of, those))
    return "", []


def _closes(spec: Object, labels: Object, way: str) -> bool:
    """Say whether a policy admits in a direction only what its rules name, for pods with these labels."""
    types = spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    return way.capitalize() in types and selection.selects(spec.get("podSelector") or {}, labels)
