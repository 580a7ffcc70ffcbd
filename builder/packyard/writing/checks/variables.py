"""The variables of a container: those of ``env``, and those of the package's ConfigMaps that ``envFrom`` names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from packyard.core.kubernetes.kinds import CORE, is_kind, name_of
from packyard.core.yaml.document import mappings, scalars
from packyard.core.yaml.node import Entry, MappingNode, Node, Scalar
from packyard.writing.checks.parsed import Parsed


@dataclass(slots=True)
class Variables:
    """The place of each name, and its value; ``complete`` where the container gets no others from ``envFrom``."""

    named: dict[str, Entry | Scalar] = field(default_factory=dict)
    values: dict[str, Node | None] = field(default_factory=dict)
    complete: bool = True

    def add(self, name: str, place: Entry | Scalar, value: Node | None) -> None:
        """Add a variable; a later one of the same name has the value that counts."""
        self.named.setdefault(name, place)
        self.values[name] = value

    def value(self, name: str) -> Scalar | None:
        """Return the value of a variable, if it is written in the package."""
        found = self.values.get(name)
        return found if isinstance(found, Scalar) else None


def find(container: MappingNode, parsed: Parsed) -> Variables:
    """Return the variables of a container."""
    found = Variables()
    for each in mappings(container.get("envFrom")):
        reference = each.mapping("configMapRef")
        entries = config_map(reference.text("name"), parsed) if reference else None
        prefix = each.text("prefix")
        found.complete = found.complete and entries is not None
        for entry in entries or ():
            found.add(prefix + entry.name, entry, entry.value)
    for each in mappings(container.get("env")):
        name = each.get("name")
        if isinstance(name, Scalar):
            found.add(name.value, name, each.get("value"))
    return found


def is_filled_in(text: str) -> bool:
    """Say whether others put a text into this one later: Kubernetes a variable, a template or envsubst a value."""
    return any(mark in text for mark in ("$(", "{{", "${"))


def config_map(name: str, parsed: Parsed) -> list[Entry] | None:
    """Return what the ConfigMaps of a name hold; None if the package has none."""
    found: list[Entry] | None = None
    for root in parsed.objects:
        called = name_of(root) if is_kind(root, CORE, "ConfigMap") else None
        if called and called.value == name:
            data = root.mapping("data")
            found = (found or []) + (data.entries if data else [])
    return found


def words(container: MappingNode) -> Iterator[Scalar]:
    """Yield the command and the arguments of a container."""
    for name in ("command", "args"):
        yield from scalars(container.get(name))


def stated(root: MappingNode, parsed: Parsed) -> Iterator[tuple[str, Node | None]]:
    """Yield what an object says of variables: the keys of a ConfigMap, and ``env`` of containers, with their values."""
    data = root.mapping("data") if is_kind(root, CORE, "ConfigMap") else None
    yield from ((entry.name, entry.value) for entry in (data.entries if data else ()))
    for pod in parsed.pods_of(root):
        for container in pod.containers:
            yield from ((each.text("name"), each.get("value")) for each in mappings(container.get("env")))
