"""From nothing to a running job: get a package, set values, check the cluster, deploy, follow the log.

packyard run mnist-fp32-training-k8s/first-run/none -n ml     get, set, doctor, deploy, logs
packyard run PACKAGE@VERSION/USECASE NAME=VALUE... -n ml      a certain version, with these values

USECASE is the path of a use case, or a part of it that no other has, such as first-run/none. A package in the working
directory is used as it is there. Values are set in it; where RUN_NAME is not among them, the run gets a name that no
other has. Each step is a verb of its own, and shown as it begins.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from packyard.cli import main as command_line
from packyard.cli import output, untarred, use_cases
from packyard.cli.running import clusters
from packyard.core.bundle.manifest import Manifest
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, Problem
from packyard.core.files.tree import Tree
from packyard.running.runs import run as runs
from packyard.using.setters.packages import read_krmfile, read_package

EXAMPLE = "packyard run mnist-fp32-training-k8s/first-run/none"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("use_case", metavar="PACKAGE/USECASE")
    parser.add_argument("values", metavar="NAME=VALUE", nargs="*", help="set before the run is deployed")
    parser.add_argument("--from", dest="channel", metavar="CHANNEL", help="the channel that has the package")
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Do one step after the other, up to the first that fails; its exit code is that of the run."""
    clusters.find(arguments)  # before anything is fetched
    name, _, wanted = arguments.use_case.partition("/")
    asked = Reference.parse(name)
    folder = Path(asked.name)
    if not folder.exists():
        _step("get", name, *([f"--from={arguments.channel}"] if arguments.channel else []))
    directory = folder / use_cases.only(_described(folder, asked), wanted)
    values = _values(directory, arguments.values)
    there = [f"--{name}={given}" for name in ("namespace", "context", "kubeconfig") if (given := vars(arguments)[name])]
    if values and (code := _step("set", str(directory), *values)):
        return code
    if code := _step("doctor", str(directory), *there):
        return code
    if code := _step("deploy", str(directory), "--no-doctor", *there):
        return code
    prepared, _ = clusters.prepared([str(directory)], "run")
    return _step("logs", prepared.run, "--follow", *there)


def _step(*words: str) -> int:
    """Show a command and run it."""
    output.note(f"$ {shlex.join(['packyard', *words])}")
    return command_line.run(list(words))


def _described(folder: Path, asked: Reference) -> Manifest:
    """Return what the package in the working directory says of itself, if it is the one that is asked for."""
    found = untarred.read(folder, hint="move it away, or name another package").described
    if found.name != asked.name or not asked.admits(found.version):
        hint = f"packyard upgrade {folder} moves it to another version"
        raise InputError(Problem(f"is {found.name} {found.version}, not {asked}", file=str(folder), hint=hint))
    return found


def _values(directory: Path, words: Sequence[str]) -> list[str]:
    """Return the values to set, with a name for the run where its objects can have one and none is given."""
    known = read_krmfile(read_package(Tree(directory), "")).definitions.setters
    if runs.SETTER not in known or any(word.startswith(f"{runs.SETTER}=") for word in words):
        return list(words)
    return [*words, f"{runs.SETTER}={runs.new_word()}"]
