"""Reach what a run serves from this machine: TensorBoard, a notebook, the servers of a model. Ctrl-C ends it.

The Service or pod is found; PORT, a number or a name, chooses one of several. `kubectl port-forward` opens the port on
127.0.0.1 alone: what is forwarded may ask nobody for a password, so it is not offered to others.
"""

from __future__ import annotations

import argparse

from packyard.cli import output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.cli.running.interrupts import INTERRUPTED
from packyard.core.errors import InputError, Problem
from packyard.running.runs import forward, status
from packyard.running.runs import record as records

ROWS = Rows("port", "target, port, local, address", line="{address}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    parser.add_argument("port", metavar="PORT", nargs="?", default="", help="which port, by number or name")
    clusters.add_pods(parser)
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the address, and hand over to kubectl."""
    client = clusters.find(arguments)
    record = records.read_last(client, arguments.run)
    run_status = status.read_one(client, record)
    running = [each for each in status.choose(run_status, arguments.role, arguments.index) if each.running]
    if not running:
        hint = client.packyard("status", record.run)
        raise InputError(Problem(f"no such pod of run {record.run} runs; it {run_status.explained}", hint=hint))
    is_any = not arguments.role and arguments.index is None
    ports = forward.find(record.read_objects()) if is_any else []
    port = forward.choose(ports, arguments.port, running[0], record.run)
    local = forward.local_port(port)
    ROWS.show([(port.target, port.number, local, port.address(local))], arguments.output)
    output.flush()
    try:
        return client.attach("port-forward", f"--address={forward.HERE}", port.target, f"{local}:{port.number}")
    except KeyboardInterrupt:
        return INTERRUPTED
