"""Reach what a run serves from this machine: TensorBoard, a notebook, the servers of a model. Ctrl-C ends it.

The Service or pod is found; PORT, a number or a name, chooses one of several. `kubectl port-forward` opens the port on
this machine alone, as what is forwarded may ask nobody for a password, and says where.
"""

from __future__ import annotations

import argparse

from packyard.cli.running import clusters
from packyard.cli.running.interrupts import INTERRUPTED
from packyard.running.runs import forward
from packyard.running.runs import record as records


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    parser.add_argument("port", metavar="PORT", nargs="?", default="", help="which port, by number or name")
    clusters.add_pods(parser)
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Find the port, and hand over to kubectl."""
    client = clusters.find(arguments)
    record = records.read_last(client, arguments.run)
    pod, _ = clusters.running(client, record, arguments)
    is_any = not arguments.role and arguments.index is None
    ports = forward.find(record.read_objects()) if is_any else []
    port = forward.choose(ports, arguments.port, pod.name, record.run)
    try:
        return client.attach("port-forward", *port.words)
    except KeyboardInterrupt:
        return INTERRUPTED
