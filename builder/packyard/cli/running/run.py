"""From nothing to a running job: get a package, set values, check the cluster, deploy, follow the log.

packyard run mnist-fp32-training-k8s/first-run/none -n ml
    get, set, doctor, deploy, logs
packyard run PACKAGE@VERSION/USECASE NAME=VALUE... -n ml
    a certain version, with these values

USECASE is the path of a use case, or a part of it that no other has, such as first-run/none. A package in the working
directory is used as it is there. Values are set in it once the run is deployed; of a refused run nothing stays in it.
Where no RUN_NAME is set, the run gets a name that no other has. Each step is a verb of its own, shown as it begins.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from packyard.cli import declare, output, parser, preferences, state, untarred
from packyard.cli import directory as directories
from packyard.cli import main as command_line
from packyard.cli.running import clusters, deploy
from packyard.cli.running.interrupts import INTERRUPTED
from packyard.core.bundle import address
from packyard.core.bundle.manifest import Manifest
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, Problem
from packyard.core.files.tree import Tree
from packyard.running.runs import run as runs
from packyard.running.runs.rendered import Rendered
from packyard.using.setters.packages import read_krmfile, read_package

EXAMPLE = "packyard run mnist-fp32-training-k8s/first-run/none"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("use_case", metavar="PACKAGE/USECASE")
    parser.add_argument("values", metavar="NAME=VALUE", nargs="*", help="set before the run is deployed")
    declare.value(parser, "--from CHANNEL", "the channel that has the package", dest="channel")
    clusters.add_arguments(parser)
    declare.switch(parser, "--no-doctor", "run whatever packyard doctor would find")


def run(arguments: argparse.Namespace) -> int:
    """Do one step after the other, up to the first that fails; its exit code is that of the run."""
    clusters.find(arguments)  # before anything is fetched
    name, _, wanted = arguments.use_case.partition("/")
    reference = Reference.parse(name)
    folder = Path(reference.name)
    if not folder.exists():
        from_ = [f"--from={arguments.channel}"] if arguments.channel else []
        _step("get", name, *from_, hide=["messages", "results"])
    from_channel = preferences.as_flag(preferences.source(arguments.channel))
    described = _described(folder, reference, from_channel)
    directory = folder / address.only(described.deployed(), wanted, described.name, name)
    named = _named(directory, arguments.values)
    words = [str(directory), *arguments.values, *named]
    there = clusters.typed(arguments)
    given = [*there, *declare.given(arguments, "no-doctor")]
    flags = "".join(f" {shlex.quote(each)}" for each in given) + from_channel
    values = directories.merged({}, directories.values(words[1:], "run"))
    state.tell_pending(Tree(directory))
    typed = _shown(["run", arguments.use_case]) + flags
    rendered = Rendered.of(directory, values, path=os.environ.get("PATH", ""), command=typed)
    if not arguments.no_doctor and (code := _step("doctor", *words, *there, hide=["messages"])):
        again = _shown(["run", arguments.use_case, *arguments.values]) + flags
        output.note(f"nothing is set or deployed; once this is mended: {again}")
        return code
    code = _step("deploy", *words, *given, hide=["messages", "results"], by=_deployed)
    if arguments.values:  # only now: what a refused run was to have must not stay in the package
        _step("set", str(directory), *arguments.values, hide=["messages", "results"])
    return code or _followed(rendered.run, there)


def _followed(run: str, there: Sequence[str]) -> int:
    """Print the log of a run, which goes on if that is interrupted or fails."""
    words, code = ["logs", run, "--follow", *there], INTERRUPTED
    try:
        code = _step(*words)
    finally:
        if code == INTERRUPTED:
            ending = _shown(["undeploy", run, *there])
            output.notice(f"run {run} goes on; {_shown(words)} follows it again, {ending} ends it")
    return code


def _step(*words: str, hide: Sequence[str] = (), by: Callable[[list[str]], int] = command_line.run) -> int:
    """Show a command in a line and run it."""
    output.note(f"$ {_shown(words)}")
    with output.without(*hide):
        return by(list(words))


def _deployed(words: list[str]) -> int:
    """Deploy what doctor was asked about, or is not to be asked about."""
    return parser.run(deploy, words[0], words[1:], is_examined=True)


def _shown(words: Sequence[str]) -> str:
    """Return a command line without the values of setters that look secret."""
    return shlex.join(["packyard", *clusters.concealed(words)])


def _described(folder: Path, reference: Reference, from_channel: str) -> Manifest:
    """Return what the package in the working directory says of itself, if it is the one that is asked for."""
    manifest = untarred.read(folder, hint="move it away, or name another package").described
    if manifest.name != reference.name or not reference.admits(manifest.version):
        command = shlex.join(
            ["packyard", "upgrade", str(folder), *filter(None, [reference.version or reference.choice])]
        )
        hint = f"{command}{from_channel} moves it there"
        raise InputError(
            Problem(f"is {manifest.name} {manifest.version}, not {reference}", file=str(folder), hint=hint)
        )
    return manifest


def _named(directory: Path, words: Sequence[str]) -> list[str]:
    """Return a name for this run alone, where its objects can have one and the user has not set one."""
    setters = read_krmfile(read_package(Tree(directory), "")).definitions.setters
    if runs.SETTER not in setters or setters[runs.SETTER].is_set:
        return []
    return [] if any(word.startswith(f"{runs.SETTER}=") for word in words) else [f"{runs.SETTER}={runs.new_word()}"]
