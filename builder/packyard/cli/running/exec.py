"""Open a shell in a pod of a run, or run a command there: its launcher, chief, master or leader, else the first.

  packyard exec RUN
  packyard exec RUN --role worker --index 1 -- nvidia-smi -L

The exit code is that of the command.
"""

from packyard.cli import declare, output
from packyard.cli.running import clusters

#: Every word behind ``--`` is the command's, whatever it looks like.
TAKES_COMMAND = True
_SHELL = ("sh", "-c", "command -v bash >/dev/null && exec bash || exec sh")


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    clusters.add_pods(parser)
    parser.value("--container NAME", "not the first container, but this one", default="")
    parser.usage = f"{parser.prog} [flags] RUN [-- COMMAND ...]"


def run(arguments: declare.Arguments) -> int:
    """Hand the terminal to the first pod that is meant and that runs, or say why none does."""
    client = clusters.find(arguments)
    pod, container = clusters.running(client, arguments, arguments.container)
    output.note(f"in pod {pod.name}, container {container}")
    terminal = ["--tty"] if output.can_ask() and output.on_terminal() else []
    words = (pod.name, f"--container={container}", "--", *(arguments.command or _SHELL))
    return client.attach("exec", "--stdin", *terminal, *words)
