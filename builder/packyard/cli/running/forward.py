"""Reach what a run serves from this machine: TensorBoard, a notebook, the servers of a model. Ctrl-C ends it.

The pod is found that announces PORT, a number or a name; without PORT, the first port that speaks HTTP. `kubectl
port-forward` opens it on this machine alone, as what is forwarded may ask nobody for a password, and says where.
"""

from __future__ import annotations

import argparse

from packyard.cli.running import clusters
from packyard.cli.running.interrupts import INTERRUPTED
from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes.lenient import mapping, mappings, text
from packyard.running.runs import record as records
from packyard.running.runs import status
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.status import RunStatus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    parser.add_argument("port", metavar="PORT", nargs="?", default="", help="which port, by number or name")
    clusters.add_pods(parser)
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Find the port, and hand over to kubectl."""
    client = clusters.find(arguments)
    now = status.read_one(client, records.read_last(client, arguments.run))
    pod, port = _port(client, now, arguments)
    try:
        return client.attach("port-forward", f"pod/{pod}", str(port))
    except KeyboardInterrupt:
        return INTERRUPTED


def _port(client: Kubectl, now: RunStatus, arguments: argparse.Namespace) -> tuple[str, object]:
    """Return the pod and the number of a port; a number that none announces is one of the pod that is meant."""
    is_any = not arguments.role and arguments.index is None
    pods = now.pods if is_any else status.choose(now, arguments.role, arguments.index)
    ports = [
        (text(each.get("name")), pod.name, each.get("containerPort"))
        for pod in pods
        if pod.running
        for container in mappings(mapping(pod.item.get("spec")).get("containers"))
        for each in mappings(container.get("ports"))
    ]
    for name, pod_name, number in sorted(ports, key=lambda each: not each[0].startswith("http")):
        if arguments.port in ("", name, str(number)):
            return pod_name, number
    meant, _ = clusters.running(client, now, arguments)
    if arguments.port.isdecimal():
        return meant.name, arguments.port
    known = ", ".join(f"{number} {name} of {pod_name}" for name, pod_name, number in ports)
    hint = f"its ports: {known}" if ports else "name a port by its number"
    raise InputError(Problem(f"run {now.run} announces no port {arguments.port}".rstrip(), hint=hint))
