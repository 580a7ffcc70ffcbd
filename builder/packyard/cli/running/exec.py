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
    found = clusters.find(arguments)
    record = records.read_last(found, arguments.run)
    seen = status.read_one(found, record)
    pod = _pod(found, arguments, seen)
    container = choose.container(pod, arguments.container)
    words = [pod.name, f"--container={container}", "--", *(arguments.command or _SHELL)]
    if arguments.output != "text":
        done = found.call("exec", *words)
        text = done.output.decode("utf-8", "replace")
        ROWS.show([(pod.name, pod.role, pod.index, container, done.code, text, done.said)], arguments.output)
        return done.code
    output.note(f"in pod {pod.name}, container {container}")
    terminal = ["--tty"] if output.can_ask() and output.on_terminal() else []
    return found.attach("exec", "--stdin", *terminal, *words)


def _pod(found: Kubectl, arguments: argparse.Namespace, seen: RunStatus) -> PodStatus:
    """Return the first pod that is meant and that runs, or say why none does."""
    pods = choose.pods(seen, arguments.role, arguments.index)
    for each in pods:
        if choose.container(each, arguments.container) in each.running:
            return each
    hint = found.packyard("logs", seen.run)
    if not pods:
        raise InputError(Problem(f"run {seen.run} has no pods; it {seen.explained}", hint=hint))
    first = pods[0]
    why = f": {first.reason}" if first.reason else ""
    raise InputError(Problem(f"{choose.title(first, pods)} does not run; it is {first.state}{why}", hint=hint))
