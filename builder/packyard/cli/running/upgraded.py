"""`packyard upgrade RUN VERSION`: a deployed run moved to another version of its package, from its record alone.

The version of the record is set as the record says, and merged with the other as an untarred package is; what was
changed by hand is what the recorded objects have beside that, and is merged object by object.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from packyard.cli import bundles, directory, output, preferences
from packyard.cli.running import clusters, doctor, rollout
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.reference import Reference, order
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, PackyardError, Problem, UsageError
from packyard.core.yaml.node import Source
from packyard.running.runs import deploy
from packyard.running.runs import record as records
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.merged import Merge
from packyard.running.runs.prepared import Prepared, list_items, prepare
from packyard.running.runs.record import RunRecord
from packyard.running.runs.run import Object
from packyard.using.kustomize.builtin import try_components
from packyard.using.kustomize.objects import parse
from packyard.using.options.option_setters import reach
from packyard.using.options.switch import enable
from packyard.using.render.render import Inputs, build
from packyard.using.setters.change import change_setters
from packyard.using.upgrade.directory import upgrade
from packyard.using.upgrade.merge import Merged

_DECIDE = "--ours keeps what the run has, --theirs takes the new version's"


@dataclass(frozen=True, slots=True)
class _Moved:
    """A run moved to another version: what is deployed, and what became of the package."""

    prepared: Prepared
    merged: Merged


def run(arguments: argparse.Namespace, words: Sequence[str], news: Callable[[Merged], Iterator[str]]) -> int:
    """Upgrade a run; ``news`` says of a merged package what is new and what is kept."""
    name, version, values = _split(words)
    arguments.diff = arguments.diff or arguments.dry_run
    rollout.check(arguments, "upgrade")
    try:
        client = clusters.find(arguments)
    except PackyardError as error:
        problem = Problem("is not a directory", file=name, hint="name an untarred package")
        raise InputError(problem, *error.problems) from error
    output.note(f"{name} is no folder here, and is taken for a run")
    before = records.read_run(client, name)
    last = before[-1]
    base, theirs = _bundles(client, arguments, last, version)
    with rollout.untouched():
        typed = client.packyard("upgrade", *(each for each in words if "=" not in each), *_flags(arguments))
        again = client.packyard("upgrade", *words, *_flags(arguments))
        moved = _moved(client, arguments, last, base, theirs, values, (typed, again))
        _tell(last, theirs, moved.merged, news)
        if not arguments.no_doctor:
            doctor.gate(client, moved.prepared, autoscaled=arguments.autoscaled)
    another = f"{again} --replace deletes the run first, and deploys it anew; claims and results stay"
    planner = partial(deploy.plan, client, moved.prepared, source=last)
    return rollout.run(client, arguments, name, planner, again=again, another=another)


def _flags(arguments: argparse.Namespace) -> list[str]:
    """Return the flags that say where bundles are, what becomes of conflicts, and how to deploy."""
    flags = {"from": arguments.channel, "base": arguments.base}
    decision = [f"--{arguments.decision}"] if arguments.decision else []
    given = [f"--{name}={value}" for name, value in flags.items() if value is not None]
    return [*given, *decision, *rollout.typed(arguments)]


def _split(words: Sequence[str]) -> tuple[str, str, dict[str, list[str]]]:
    name, *rest = words
    version = rest.pop(0) if rest and "=" not in rest[0] else ""
    return name, version, directory.values(rest, "upgrade")


def _bundles(client: Kubectl, arguments: argparse.Namespace, last: RunRecord, version: str) -> tuple[Bundle, Bundle]:
    """Return the bundle that a run was made of, and the one to move to."""
    if not last.package:
        hint = "packyard deploy DIR deploys what you changed"
        raise InputError(Problem(f"run {last.run} is of no package", hint=hint))
    channel = preferences.source(arguments.channel)
    if arguments.base is not None:
        base = bundles.read(Path(arguments.base))
    else:
        try:
            base = bundles.find(Reference.parse(f"{last.package}@{last.version}"), channel)
        except PackyardError as error:
            hint = f"--from names a channel that has it, --base the file {last.package}.tar.gz"
            problem = f"the bundle of {last.package} {last.version}, which run {last.run} is made of, was not found"
            raise InputError(*error.problems, Problem(problem, hint=hint)) from error
    if Digest.of(base.manifest.to_bytes()) != last.digest:
        hint = f"--base names the file that it was: {last.package}.tar.gz"
        raise ConflictError(Problem(f"{base.name} {base.version} is not what run {last.run} is made of", hint=hint))
    if version.endswith(".tar.gz"):
        return base, bundles.read(Path(version))
    reference = Reference.parse(f"{last.package}@{version}" if version else last.package)
    theirs = bundles.find(reference, channel)
    output.note(f"{theirs.name}@{theirs.version} from {channel}")
    if order(theirs.version) < order(base.version) and not (reference.version or reference.digest):
        problem = f"run {last.run} is {base.version}, and {channel} has nothing newer"
        raise InputError(Problem(problem, hint=f"to go back: {client.packyard('rollback', last.run)}"))
    return base, theirs


def _moved(
    client: Kubectl,
    arguments: argparse.Namespace,
    last: RunRecord,
    base: Bundle,
    theirs: Bundle,
    values: Mapping[str, Sequence[str]],
    commands: tuple[str, str],
) -> _Moved:
    """Merge the package as the record has it with the new version, and then the objects.

    ``commands`` are what the user typed, without values and with them, for the hints of errors.
    """
    if arguments.decision == "markers":
        raise UsageError("packyard upgrade: --markers writes into files, and a run has none: --ours or --theirs")
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        top = base.unpack(Path(os.path.realpath(folder)))
        try:
            use_case = _as_recorded(top / last.use_case, last)
            before = _objects(use_case)
            merged = _merged(top, base, theirs, arguments.decision)
            use_case = top / merged.use_cases.get(last.use_case, last.use_case)
            command, again = commands
            prepared = prepare(use_case, values, path=os.environ.get("PATH", ""), command=command, again=again)
        except PackyardError as error:  # of a folder that the user does not have
            raise error.mapped(lambda problem: problem.renamed(str(top), base.name)) from error
    if prepared.run != last.run:
        problem = f"{theirs.name} {theirs.version} names the run {prepared.run}"
        raise ConflictError(Problem(problem, hint="packyard deploy DIR deploys it beside this one"))
    merge = Merge(arguments.decision)
    old, new = (runs.labelled(objects, last.run, client.namespace) for objects in (before, prepared.objects))
    objects = merge.objects(old, records.whole(client, last), new)
    if merge.conflicts and not arguments.decision:
        raise _undecided([*map(Problem, merge.conflicts)])
    for each in merge.conflicts:
        output.note(f"  conflict, decided by --{arguments.decision}: {each}")
    return _Moved(replace(prepared, objects=objects), merged)


def _as_recorded(use_case: Path, last: RunRecord) -> Path:
    """Enable and set what a record says."""
    if last.options:
        enable(use_case, list(last.options), lambda text: try_components(use_case, text))
    if last.values:
        listed = {setter.name for setter in Inputs.read(use_case).setters if setter.is_list}
        recorded = {name: list_items(text) if name in listed else [text] for name, text in last.values.items()}
        change_setters(use_case, recorded, beside=reach(use_case, list(recorded), recursive=False))
    return use_case


def _merged(top: Path, base: Bundle, theirs: Bundle, decision: str) -> Merged:
    try:
        return upgrade(top, base, theirs, decision).merged
    except ConflictError as error:
        raise _undecided(error.problems[:-1]) from error  # the last one is of files that the user does not have


def _undecided(conflicts: Sequence[Problem]) -> ConflictError:
    count = output.counted(len(conflicts), "conflict")
    return ConflictError(*conflicts, Problem(f"{count}; nothing is deployed", hint=_DECIDE))


def _objects(use_case: Path) -> list[Object]:
    """Return the objects of a use case, whatever is still to be set: secrets are in no record."""
    return [item.root for item in parse(Source("", build(use_case, path=os.environ.get("PATH", "")).decode()))]


def _tell(last: RunRecord, theirs: Bundle, merged: Merged, news: Callable[[Merged], Iterator[str]]) -> None:
    word = "downgraded" if order(theirs.version) < order(last.version) else "upgraded"
    output.note(f"run {last.run}: {theirs.name} {word} from {last.version}, record {last.number}, to {theirs.version}")
    for text in news(merged):
        output.note(f"  {text}")
