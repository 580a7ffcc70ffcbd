"""Deploy a use case to a cluster as a run, and wait until its pods run.

packyard deploy DIR                        as it is set; again, it completes what is missing
packyard deploy DIR WORKERS=8              as if this were set; nothing in DIR changes
packyard deploy DIR RUN_NAME=second        another run of the same use case, beside the first
packyard deploy DIR --replace              the run anew, if it is over or can no longer be changed
packyard deploy DIR --diff                 only show what would change on the cluster

packyard checks the use case and asks the cluster all that `packyard doctor` asks; if anything is refused, nothing is
applied.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

from packyard.cli import directory as directories
from packyard.cli.running import clusters, doctor, rollout, undeploy
from packyard.core.errors import UsageError
from packyard.running.runs import deploy, status
from packyard.running.runs import record as records
from packyard.running.runs import run as runs
from packyard.running.runs import undeploy as removing
from packyard.running.runs.changes import FixedError
from packyard.running.runs.deploy import Plan
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.prepared import Prepared

ROWS = rollout.ROWS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser, "[NAME=VALUE…]")
    clusters.add_arguments(parser)
    rollout.add_arguments(parser)
    rollout.add_of_new(parser)


def check_replace(arguments: argparse.Namespace, verb: str) -> None:
    """Refuse to show what would change of what is deleted first."""
    if arguments.diff and arguments.replace:
        problem = "--diff and --replace exclude each other"
        raise UsageError(f"packyard {verb}: {problem}; packyard {verb} --help shows the usage")


def run(arguments: argparse.Namespace) -> int:
    """Deploy a run, or show what that would change."""
    check_replace(arguments, "deploy")
    found, prepared, words = clusters.find_for(arguments, "deploy")
    again = found.packyard("deploy", *words)
    another = _another(found, prepared, words)
    with rollout.untouched():
        if not arguments.no_doctor:
            doctor.gate(found, prepared, autoscaled=arguments.autoscaled)
        who, when = found.who(), rollout.now()

        def plan() -> Plan:
            return deploy.plan(found, prepared, who=who, when=when, force=arguments.force, hint=another)

        made = replacing(found, arguments, prepared.run, plan) if arguments.replace else plan()
    return rollout.run(found, arguments, made, again=again, another=another)


def replacing(found: Kubectl, arguments: argparse.Namespace, run: str, plan: Callable[[], Plan]) -> Plan:
    """Return a plan; a run in its way that is over, or whose fields can no longer be changed, is deleted first."""
    try:
        made = plan()
        if not made.before or not status.read_one(found, made.before[-1]).is_over:
            return made
        before = made.before
    except FixedError:
        before = records.read_run(found, run)
    removal = replace(removing.find(found, {run: before}), records=())  # its history goes on
    waiting = argparse.Namespace(**{**vars(arguments), "delete_claims": False, "no_wait": False})
    undeploy.delete(found, waiting, removal)
    return plan()


def _another(found: Kubectl, prepared: Prepared, words: list[str]) -> str:
    """Say how to deploy this run anew, or another run of the use case."""
    replaced = f"{found.packyard('deploy', *words)} --replace deletes it first"
    if runs.SETTER not in prepared.setters:
        return replaced
    kept = [word for word in words if not word.startswith(f"{runs.SETTER}=")]
    command = found.packyard("deploy", *kept, f"{runs.SETTER}={runs.new_word()}")
    return f"{replaced}; another run beside it: {command}"
