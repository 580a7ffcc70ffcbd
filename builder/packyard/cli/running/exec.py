"""Open a shell in a pod of a run, or run a command there: its launcher, chief, master or leader, else the first.

  packyard exec RUN
  packyard exec RUN --role worker --index 1 -- nvidia-smi -L

The exit code is that of the command.
"""

from __future__ import annotations

import argparse

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.core.errors import InputError, Problem
from packyard.running.runs import choose, status
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.pod_status import PodStatus
from packyard.running.runs.status import RunStatus

ROWS = Rows("command", "pod, role, index, container, code, text, errors")
#: Every word behind ``--`` is the command's, whatever it looks like.
TAKES_COMMAND = True
_SHELL = ("sh", "-c", "command -v bash >/dev/null && exec bash || exec sh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    clusters.add_pods(parser)
    declare.value(parser, "--container NAME", "not the first container, but this one", default="")
    clusters.add_arguments(parser)
    parser.usage = f"{parser.prog} [flags] RUN [-- COMMAND ...]"


def run(arguments: argparse.Namespace) -> int:
    """Hand the terminal to the pod."""
    client = clusters.find(arguments)
    record = records.read_last(client, arguments.run)
    run_status = status.read_one(client, record)
    pod = _pod(client, arguments, run_status)
    container = choose.container(pod, arguments.container)
    words = [pod.name, f"--container={container}", "--", *(arguments.command or _SHELL)]
    if arguments.output != "text":
        result = client.call("exec", *words)
        text = result.output.decode("utf-8", "replace")
        ROWS.show([(pod.name, pod.role, pod.index, container, result.code, text, result.errors)], arguments.output)
        return result.code
    output.note(f"in pod {pod.name}, container {container}")
    terminal = ["--tty"] if output.can_ask() and output.on_terminal() else []
    return client.attach("exec", "--stdin", *terminal, *words)


def _pod(client: Kubectl, arguments: argparse.Namespace, run_status: RunStatus) -> PodStatus:
    """Return the first pod that is meant and that runs, or say why none does."""
    pods = choose.pods(run_status, arguments.role, arguments.index)
    for pod in pods:
        if choose.container(pod, arguments.container) in pod.running:
            return pod
    hint = client.packyard("logs", run_status.run)
    if not pods:
        raise InputError(Problem(f"run {run_status.run} has no pods; it {run_status.explained}", hint=hint))
    first = pods[0]
    why = f": {first.reason}" if first.reason else ""
    raise InputError(Problem(f"{choose.title(first, pods)} does not run; it is {first.state}{why}", hint=hint))
