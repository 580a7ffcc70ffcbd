"""What a pod asks for: the CPUs, memory and devices that a scheduler sets aside for it, and the most that it may use.

Containers run side by side, init containers one after the other before them, but those that restart always stay. What
has a limit and no request asks for its limit. Amounts are those of ``quantity``, in 10^-9.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from operator import or_

from packyard.core.kubernetes import quantity
from packyard.core.kubernetes.lenient import Object, mapping
from packyard.core.kubernetes.pods import Pod

#: For each resource an amount: ``+`` adds them up, ``|`` takes the largest of each.
Amounts = Counter[str]

_BYTES = ("memory", "storage", "hugepages-")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a pod asks for, and the most that it may use."""

    requests: Amounts
    limits: Amounts


def amounts(value: object) -> Amounts:
    """Return the amounts of a mapping of quantities; what is no quantity is left out."""
    parsed = {str(name): quantity.parse(str(amount)) for name, amount in mapping(value).items()}
    return Counter({name: amount for name, amount in parsed.items() if amount is not None})


def of(pod: Pod[Object]) -> Asked:
    """Return what a pod asks for in all."""
    return Asked(_whole(pod, ("limits", "requests")) + amounts(pod.get("overhead")), _whole(pod, ("limits",)))


def _whole(pod: Pod[Object], fields: tuple[str, ...]) -> Amounts:
    """Return what containers need together, of these fields of their resources, of which the last counts."""
    running, starting = Amounts(), [Amounts()]
    for path, container in pod.container_places:
        resources = mapping(container.get("resources"))
        own = Amounts({name: amount for field in fields for name, amount in amounts(resources.get(field)).items()})
        if path[-2] != "initContainers" or container.get("restartPolicy") == "Always":
            running += own
        else:
            starting.append(running + own)  # beside those that were started before and stay
    return reduce(or_, starting, running)


def times(unit: Amounts, count: int) -> Amounts:
    """Return amounts for so many."""
    return Amounts({name: amount * count for name, amount in unit.items()})


def number(name: str, amount: int) -> str:
    """Return an amount of a resource as a number: ``2.5``, ``64Gi``."""
    if not any(part in name for part in _BYTES):
        return f"{amount / 10**9:.6g}"
    unit, size = ("Gi", 2**30) if amount >= 10**9 * 2**30 else ("Mi", 2**20)
    return f"{amount / 10**9 / size:.6g}{unit}"
