"""What a pod asks for: the CPUs, memory and devices that a scheduler sets aside for it, and the most that it may use.

Containers run side by side, init containers one after the other before them, but those that restart always stay. What
has a limit and no request asks for its limit. What the pod says itself in ``resources`` (from Kubernetes 1.34) counts
in place of what its containers add up to. Amounts are those of ``quantity``, in 10^-9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from packyard.core.kubernetes import quantity
from packyard.core.kubernetes.lenient import Object, mapping
from packyard.core.kubernetes.pods import Pod

#: For each resource an amount.
Amounts = dict[str, int]

_BYTES = ("memory", "storage", "hugepages-")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a container or a pod asks for, and the most that it may use."""

    requests: Amounts = field(default_factory=dict)
    limits: Amounts = field(default_factory=dict)


def amounts(value: object) -> Amounts:
    """Return the amounts of a mapping of quantities; what is no quantity is left out."""
    parsed = {str(name): quantity.parse(str(amount)) for name, amount in mapping(value).items()}
    return {name: amount for name, amount in parsed.items() if amount is not None}


def of(pod: Pod[Object]) -> Asked:
    """Return what a pod asks for in all."""
    running: list[Asked] = []
    starting: list[list[Asked]] = []
    for path, container in pod.container_places:
        demand = _said(container)
        if path[-2] != "initContainers" or container.get("restartPolicy") == "Always":
            running.append(demand)
        else:
            starting.append([*running, demand])  # beside those that were started before and stay
    whole = [Asked(total(e.requests for e in each), total(e.limits for e in each)) for each in (running, *starting)]
    own = amounts(mapping(pod.get("resources")).get("requests"))
    most_of_pod = amounts(mapping(pod.get("resources")).get("limits"))
    requests = {**most_of_pod, **most(each.requests for each in whole), **own}
    limits = {**most(each.limits for each in whole), **most_of_pod}
    return Asked(total([requests, amounts(pod.get("overhead"))]), limits)


def _said(container: Object) -> Asked:
    resources = mapping(container.get("resources"))
    limits = amounts(resources.get("limits"))
    return Asked({**limits, **amounts(resources.get("requests"))}, limits)


def total(all_amounts: Iterable[Mapping[str, int]]) -> Amounts:
    """Return the sums of amounts."""
    sums: Amounts = {}
    for part in all_amounts:
        for name, amount in part.items():
            sums[name] = sums.get(name, 0) + amount
    return sums


def most(all_amounts: Iterable[Mapping[str, int]]) -> Amounts:
    """Return the largest of each amount."""
    largest: Amounts = {}
    for part in all_amounts:
        for name, amount in part.items():
            largest[name] = max(largest.get(name, 0), amount)
    return largest


def times(unit: Mapping[str, int], count: int) -> Amounts:
    """Return amounts for so many."""
    return {name: amount * count for name, amount in unit.items()}


def shown(name: str, amount: int) -> str:
    """Return an amount of a resource for people: ``2.5 cpu``, ``64Gi memory``."""
    return f"{number(name, amount)} {name}"


def number(name: str, amount: int) -> str:
    """Return an amount of a resource as a number: ``2.5``, ``64Gi``."""
    if not any(part in name for part in _BYTES):
        return f"{amount / 10**9:.6g}"
    unit, size = ("Gi", 2**30) if amount >= 10**9 * 2**30 else ("Mi", 2**20)
    return f"{amount / 10**9 / size:.6g}{unit}"
