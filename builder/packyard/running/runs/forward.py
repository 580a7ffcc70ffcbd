"""What a run serves: TensorBoard, a notebook, servers of a model, by the ports of its Services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes.kinds import CORE
from packyard.core.kubernetes.lenient import kind_of, mapping, mappings, name_of, text
from packyard.running.runs.run import Object

_PRIVILEGED = 1024
_SCHEMES = ("http", "https")


class Port(NamedTuple):
    """A port of a Service or of a pod, as kubectl names these: ``service/run``. ``name`` is that of the port."""

    target: str
    number: int
    name: str = ""

    @property
    def words(self) -> list[str]:
        """The words of `kubectl port-forward`: the same number here, or one that everybody may open."""
        return [self.target, f":{self.number}" if self.number < _PRIVILEGED else str(self.number)]

    def __str__(self) -> str:
        return f"{self.target} port {self.number}" + (f" ({self.name})" if self.name else "")


def find(objects: Sequence[Object]) -> list[Port]:
    """Return the ports of Services, but of headless ones; first those that speak HTTP."""
    services = [(name_of(item), mapping(item.get("spec"))) for item in objects if kind_of(item) == (CORE, "Service")]
    ports = [
        Port(f"service/{name}", number, text(each.get("name")))
        for name, spec in services
        for each in mappings(spec.get("ports"))
        if spec.get("clusterIP") != "None" and isinstance(number := each.get("port"), int)
    ]
    return sorted(ports, key=lambda each: not each.name.startswith(_SCHEMES))


def choose(ports: Sequence[Port], wanted: str, pod: str, run: str) -> Port:
    """Return the port with a number or a name, or the first; a number that nobody announces is one of the pod."""
    for each in ports:
        if wanted in ("", each.name, str(each.number)):
            return each
    if wanted.isdecimal() and 0 < int(wanted) < 65536:
        return Port(f"pod/{pod}", int(wanted))
    hint = f"its ports: {', '.join(map(str, ports))}" if ports else "no Service is known: name a port by its number"
    problem = f"run {run} serves nothing" + (f" on port {wanted!r}" if wanted else "")
    raise InputError(Problem(problem, hint=hint))
