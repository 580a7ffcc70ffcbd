"""What a run serves, and how this machine reaches it: TensorBoard, a notebook, servers of a model.

Nothing but this machine is ever offered it: what is forwarded may ask nobody for a password.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.kubernetes.kinds import CORE
from packyard.core.kubernetes.lenient import kind_of, mapping, mappings, name_of, text
from packyard.running.runs.run import Object
from packyard.running.runs.workloads import PodStatus

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


def find(objects: Sequence[Object]) -> list[Port]:
    """Return the ports of Services, but of headless ones; first those that speak HTTP."""
    services = [item for item in objects if kind_of(item) == (CORE, "Service")]
    ports = [
        Port(f"service/{name_of(item)}", number, text(each.get("name")))
        for item in services
        if mapping(item.get("spec")).get("clusterIP") != "None"
        for each in mappings(mapping(item.get("spec")).get("ports"))
        if isinstance(number := each.get("port"), int)
    ]
    return sorted(ports, key=lambda each: not each.name.startswith(_SCHEMES))


def choose(ports: Sequence[Port], wanted: str, pod: PodStatus, run: str) -> Port:
    """Return the port with a number or a name, or the first; a number that nobody announces is one of the pod."""
    for each in ports:
        if wanted in ("", each.name, str(each.number)):
            return each
    if wanted.isdecimal() and 0 < int(wanted) < 65536:
        return Port(f"pod/{pod.name}", int(wanted), "")
    hint = f"its ports: {', '.join(map(str, ports))}" if ports else "no Service is known: name a port by its number"
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
