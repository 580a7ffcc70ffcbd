"""Reach what a run serves from this machine: TensorBoard, a notebook, the servers of a model. Ctrl-C ends it.

The Service or pod is found; PORT, a number or a name, chooses one of several. The port is open on 127.0.0.1 alone, and
there is no --address: what is forwarded may ask nobody for a password, so it is not offered to others.
"""

from __future__ import annotations

import argparse
import time

from packyard.cli import output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.cli.running.interrupts import INTERRUPTED
from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.running.runs import forward, status
from packyard.running.runs import record as records
from packyard.running.runs.forward import Port
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord

ROWS = Rows("port", "target, port, local, address", line="{address}")
_PAUSES = (1, 1, 2, 4, 8, 16)  # seconds until a connection that was lost is tried again


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    parser.add_argument("port", metavar="PORT", nargs="?", default="", help="which port, by number or name")
    clusters.add_pods(parser)
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Forward a port until somebody ends it; a pod that was started again is reached again."""
    client = clusters.find(arguments)
    record = records.read_last(client, arguments.run)
    port = _choose(client, arguments, record)
    local = forward.local_port(port)
    is_told = False
    lost = 0
    try:
        while True:
            try:
                for is_open in forward.forward(client, port, local):
                    if is_open and not is_told:
                        _tell(arguments, port, local)
                        is_told = True
                    elif is_open and lost:
                        output.note(f"{port} is reached again")
                    lost = 0 if is_open else lost
            except UnavailableError as error:
                if lost == len(_PAUSES) or not (is_told or isinstance(error, forward.TakenError)):
                    raise
                if is_told:
                    output.note(f"{error}; trying again in {_PAUSES[lost]} s")
                    time.sleep(_PAUSES[lost])
                    port = _choose(client, arguments, record) if port.target.startswith("pod/") else port
                else:
                    local = forward.local_port(port)
                lost += 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _choose(client: Kubectl, arguments: argparse.Namespace, record: RunRecord) -> Port:
    run_status = clusters.patiently(lambda: status.read_one(client, record))
    if not any(each.running for each in run_status.pods):
        hint = client.packyard("status", record.run)
        raise InputError(Problem(f"no pod of run {record.run} runs; it {run_status.explained}", hint=hint))
    objects = record.read_objects()
    ports = forward.find(objects, run_status, role=arguments.role, index=arguments.index)
    return forward.choose_port(ports, arguments.port, run_status, arguments.role, arguments.index)


def _tell(arguments: argparse.Namespace, port: Port, local: int) -> None:
    if ROWS.show([(port.target, port.number, local, port.address(local))], arguments.output):
        output.note(f"{port} is forwarded; Ctrl-C ends it")
    output.flush()
