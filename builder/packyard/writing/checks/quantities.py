"""Faults of amounts of resources that schemas admit: no quantity at all, a request above its limit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from packyard.core.errors import suggest
from packyard.core.kubernetes import quantity
from packyard.core.yaml.document import entries
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.core.yaml.values import implicit_type
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

#: Where kinds say how large they are.
_SIZES = {"PersistentVolumeClaim": ("resources", "requests"), "PersistentVolume": ("capacity",)}
#: What no node has, and what no program can do with: one was meant for the other.
_MOST_CPUS, _LEAST_MEMORY = 100_000 * 10**9, 1024 * 10**9
#: The resources without a domain that containers may have.
_KNOWN = ("cpu", "memory", "ephemeral-storage")
#: Devices of which others are named alike, but not nearly.
_DEVICES = (
    *("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi", "google.com/tpu"),
    *("aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "nvidia.com/pgpu", "nvidia.com/vgpu"),
)
_ALIKE, _ONE = 0.92, 10**9


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find amounts that the API server rejects."""
    for root in parsed.fresh:
        for container in parsed.containers_of(root):
            if resources := container.mapping("resources"):
                yield from _resources(resources)
        for volume in (volume for pod in parsed.pods_of(root) for volume in pod.volumes):
            yield from _amount(volume.find("emptyDir", "sizeLimit"), "sizeLimit")
        place = _SIZES.get(root.text("kind"))
        yield from _amount(root.find("spec", *place, "storage") if place else None, "storage", is_some=True)


def _resources(resources: MappingNode) -> Iterator[Finding]:
    requests = entries(resources.get("requests"))
    for entry in (*entries(resources.get("limits")), *requests):
        yield from _amount(entry.value, entry.name)
        if entry.name not in _KNOWN and not re.search(r"^hugepages-|/|\{\{", entry.name):
            message = f"there is no resource {entry.name!r}: the API server rejects the pod"
            hint = suggest(entry.name, _KNOWN) or "cpu, memory, ephemeral-storage, or DOMAIN/NAME of a device"
            yield breach("no-such-resource", entry, message, hint)
        elif name := _slip(entry.name):
            message = f"no driver has a device {entry.name!r}: the pod waits for it for ever"
            yield breach("no-such-resource", entry, message, f"did you mean {name!r}?", severity="warning")
        amount = quantity.parse(entry.text)
        if _is_device(entry.name) and amount and amount % _ONE:
            message = f"{entry.text} of {entry.name} is part of a device: the API server rejects the pod"
            yield breach("request-above-limit", entry, message, "a whole number")
    for entry in requests:
        limit = resources.find("limits", entry.name)
        if limit is None and _is_device(entry.name):
            message = f"a request of {entry.name} has to have a limit, which equals it: a device is not shared"
            yield breach("request-above-limit", entry, message, "write it as a limit alone")
        if not isinstance(limit, Scalar) or not isinstance(entry.value, Scalar):
            continue
        most, least = quantity.parse(limit.value), quantity.parse(entry.value.value)
        if most is not None and least is not None and least > most:
            message = f"the request of {entry.name}, {entry.value.value}, is more than the limit, {limit.value}"
            yield breach("request-above-limit", entry.value, message, "raise the limit")
        elif _is_device(entry.name) and most != least:
            message = f"the request of {entry.name} must equal its limit: a device is not shared"
            yield breach("request-above-limit", entry.value, message, "remove the request")


def _slip(name: str) -> str:
    """Return which device was meant by a name that is nearly its own."""
    maker, _, device = name.casefold().partition("/")
    if "." not in maker and f"{maker}.com/{device}" in _DEVICES:
        return f"{maker}.com/{device}"
    near = (each for each in _DEVICES if SequenceMatcher(None, name.casefold(), each).ratio() > _ALIKE)
    return next(near, "") if name not in _DEVICES else ""


def _is_device(name: str) -> bool:
    return "/" in name and "kubernetes.io/" not in name


def _amount(node: object, name: str, *, is_some: bool = False) -> Iterator[Finding]:
    """Find a text that is no quantity; one that waits for its setter is empty."""
    if not isinstance(node, Scalar) or (node.style == "plain" and implicit_type(node.value) == "boolean"):
        return  # which schemas report
    if node.value and not variables.is_filled_in(node.value):
        amount = quantity.parse(node.value)
        if amount is None or amount < 0 or (is_some and not amount):
            message = f"{node.value!r} is not an amount of {name}"
            yield breach("no-quantity", node, message, "16Gi, 500m or 2, for example")
        elif name == "cpu" and amount >= _MOST_CPUS:
            message = f"{node.value} are more CPUs than any node has"
            yield breach("no-quantity", node, message, "500m or 2, for example", severity="warning")
        elif name == "memory" and 0 < amount < _LEAST_MEMORY:
            message = f"{node.value} is less memory than any program needs"
            yield breach("no-quantity", node, message, "512Mi or 16Gi, for example", severity="warning")
