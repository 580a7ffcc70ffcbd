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
from packyard.running.runs import record as records
from packyard.running.runs import status

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
    """Hand the terminal to the first pod that is meant and that runs, or say why none does."""
    client = clusters.find(arguments)
    run_status = status.read_one(client, records.read_last(client, arguments.run))
    pods = status.choose(run_status, arguments.role, arguments.index)
    running = [each for each in pods if status.container(each, arguments.container) in each.running]
    if not running:
        why = f"pod {pods[0].name} is {pods[0].state}: {pods[0].reason}" if pods else f"it {run_status.explained}"
        hint = client.packyard("logs", run_status.run)
        raise InputError(Problem(f"no such pod of run {run_status.run} runs; {why.rstrip(': ')}", hint=hint))
    pod, container = running[0], status.container(running[0], arguments.container)
    words = [pod.name, f"--container={container}", "--", *(arguments.command or _SHELL)]
    if arguments.output != "text":
        result = client.call("exec", *words)
        text = result.output.decode("utf-8", "replace")
        ROWS.show([(pod.name, pod.role, pod.index, container, result.code, text, result.errors)], arguments.output)
        return result.code
    output.note(f"in pod {pod.name}, container {container}")
    terminal = ["--tty"] if output.can_ask() and output.on_terminal() else []
    return client.attach("exec", "--stdin", *terminal, *words)
