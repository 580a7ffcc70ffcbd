"""Deploy a use case to a cluster as a run, and wait until its pods run.

packyard deploy DIR                  as it is set; again, it completes what is
                                     missing
packyard deploy DIR WORKERS=8        as if this were set; nothing in DIR changes
packyard deploy DIR RUN_NAME=second  another run of the same use case, beside
                                     the first
packyard deploy DIR --dry-run        only show what would change on the cluster

packyard checks the use case and asks the cluster all that `packyard doctor` asks; if anything is refused, nothing is
applied.
"""

from __future__ import annotations

import argparse
from functools import partial

from packyard.cli import directory as directories
from packyard.cli.running import clusters, doctor, rollout
from packyard.running.runs import plan as planning
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.rendered import Rendered

ROWS = rollout.ROWS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser, "[NAME=VALUE…]")
    clusters.add_arguments(parser)
    rollout.add_arguments(parser)
    rollout.add_of_new(parser)
    parser.set_defaults(is_examined=False)  # `packyard run` has asked doctor


def run(arguments: argparse.Namespace) -> int:
    """Deploy a run, or show what that would change."""
    rollout.check(arguments, "deploy")
    flags = rollout.typed(arguments)
    client, rendered, words = clusters.find_for(arguments, "deploy", flags)
    again = client.packyard("deploy", *words, *flags)
    beside = _beside(client, rendered, words, flags)
    with rollout.untouched():
        if not arguments.no_doctor and not arguments.is_examined:
            doctor.gate(client, rendered)
    return rollout.run(client, arguments, partial(planning.plan, client, rendered, beside=beside), again=again)


def _beside(client: Kubectl, rendered: Rendered, words: list[str], flags: list[str]) -> str:
    """Say how to deploy another run of the use case; nothing where it can be one alone."""
    if runs.SETTER not in rendered.setters:
        return ""
    kept = [word for word in words if not word.startswith(f"{runs.SETTER}=")]
    command = client.packyard("deploy", *kept, f"{runs.SETTER}={runs.new_word()}", *flags)
    return f"another run beside it: {command}"
