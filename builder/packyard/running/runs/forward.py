"""What a run serves, and how this machine reaches it: TensorBoard, a notebook, servers of a model.

Nothing but this machine is ever offered it: what is forwarded may ask nobody for a password.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import CORE
from packyard.core.kubernetes.lenient import kind_of, mapping, mappings, name_of, text
from packyard.running.runs.run import Object
from packyard.running.runs.status import PodStatus

#: Where ports are opened.
HERE = "127.0.0.1"
_PRIVILEGED = 1024
_LIFTED = 8000  # from 443 to 8443, which everybody may open
_SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a Service or of a pod, as kubectl names these: ``service/run``. ``name`` is that of the port."""

    target: str
    number: int
    name: str

    def address(self, local: int) -> str:
        """Return where it is on this machine: a URL where it speaks HTTP."""
        scheme = next((each for each in reversed(_SCHEMES) if self.name.startswith(each)), "")
        return f"{scheme}://{HERE}:{local}" if scheme else f"{HERE}:{local}"

    def __str__(self) -> str:
        return f"{self.target} port {self.number}" + (f" ({self.name})" if self.name else "")


def find(services: Sequence[Object], objects: Sequence[Object], running: Sequence[PodStatus]) -> list[Port]:
    """Return the ports of Services, or of pods that run where these have none; first those that speak HTTP."""
    ports = list(_of_services(services)) or list(_of_pods(objects, running))
    return sorted(ports, key=lambda each: not each.name.startswith(_SCHEMES))


def choose(ports: Sequence[Port], wanted: str, pod: PodStatus, run: str) -> Port:
    """Return the port with a number or a name, or the first; a number that nobody announces is one of the pod."""
    for each in ports:
        if wanted in ("", each.name, str(each.number)):
            return each
    if wanted.isdecimal() and 0 < int(wanted) < 65536:
        return Port(f"pod/{pod.name}", int(wanted), "")
    hint = f"its ports: {', '.join(map(str, ports))}" if ports else "it has no Service, and its pods name no port"
    problem = f"run {run} serves nothing" + (f" on port {wanted!r}" if wanted else "")
    raise InputError(Problem(problem, hint=hint))


def local_port(port: Port) -> int:
    """Return a free port of this machine, the same number if that is possible."""
    wanted = port.number + _LIFTED if port.number < _PRIVILEGED else port.number
    for number in (wanted, 0):
        with socket.socket() as holder:
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                holder.bind((HERE, number))
            except OSError:
                continue
            return int(holder.getsockname()[1])
    raise UnavailableError(f"no port of {HERE} is free")


def _of_services(objects: Sequence[Object]) -> Iterator[Port]:
    for item in objects:
        spec = mapping(item.get("spec"))
        if kind_of(item) == (CORE, "Service") and spec.get("clusterIP") != "None":
            for each in mappings(spec.get("ports")):
                if isinstance(number := each.get("port"), int):
                    yield Port(f"service/{name_of(item)}", number, text(each.get("name")))


def _of_pods(objects: Sequence[Object], running: Sequence[PodStatus]) -> Iterator[Port]:
    for pod in pods.find_all(objects):
        for container in pod.containers:
            first = next((each for each in running if text(container.get("name")) in each.running), None)
            for each in mappings(container.get("ports")) if first else ():
                if first and isinstance(number := each.get("containerPort"), int):
                    yield Port(f"pod/{first.name}", number, text(each.get("name")))
