"""Show where the results of a run are, and copy them to this computer.

packyard results RUN           where they are
packyard results RUN --to DIR  copy them; typed again, it adds what is missing

A pod of the run's own image and user mounts the storage, to be read alone; tar sends the files from there, and the pod
is deleted in the end. Each file appears whole; what is in DIR already stays.
"""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from pathlib import Path

from packyard.cli import declare, output, progress
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.core.errors import InputError, Problem, UnavailableError, refuse
from packyard.core.kubernetes.lenient import name_of
from packyard.running.runs import record as records
from packyard.running.runs import results, status, transfer
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.results import Place
from packyard.running.runs.run import Reference

ROWS = Rows("place", "run, path, held, copy")
_SYNC = {"s3": "aws s3 sync", "gs": "gcloud storage rsync --recursive"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    declare.value(parser, "--to DIR", "copy them into this folder; it may have some of them", default="")
    clusters.add_timeout(parser, "how long the pod may take to start", "5m")
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the places of results, or copy what is there; return 1 where something is not copied."""
    client = clusters.find(arguments)
    places = results.places(records.read_last(client, arguments.run).read_objects())
    if not places:
        hint = f"{client.packyard('logs', arguments.run)} prints what it logs"
        raise InputError(Problem(f"run {arguments.run} does not say where its results are: no OUTPUT_DIR", hint=hint))
    copied: list[bool] = []
    ways = [_way(client, arguments.run, place) for place in places]
    if arguments.to:
        unfit = [(place, way) for place, way in zip(places, ways, strict=True) if place.is_of_pods or not place.volume]
        refuse(Problem(f"{place.path} is on no volume that another pod can have", hint=way) for place, way in unfit)
        folders = [Path(arguments.to, str(number) if places[1:] else "") for number in range(1, len(places) + 1)]
        copied = [_copy(client, arguments, place, to) for place, to in zip(places, folders, strict=True)]
    else:
        declare.alone(arguments, "results", "without --to DIR", "timeout")
    rows = [(arguments.run, place.path, place.held, way) for place, way in zip(places, ways, strict=True)]
    if ROWS.show(rows, arguments.output) and not arguments.to:
        for place, way in zip(places, ways, strict=True):
            output.line(str(place))
            output.note(way)
    return int(not all(copied))


def _way(client: Kubectl, run: str, place: Place) -> str:
    """Return the command that copies a place, or why there is none."""
    scheme, _, is_bucket = place.path.partition("://")
    if is_bucket:
        return f"{_SYNC.get(scheme, f'# by a client of {scheme}:')} {shlex.quote(place.path)} DIR"
    if not place.volume:
        return "no volume of its pods is known to hold that"
    if place.is_of_pods:
        return f"{client.packyard('exec', run)} enters a pod that has it"
    return client.packyard("results", run, "--to", "DIR")


def _copy(client: Kubectl, arguments: argparse.Namespace, place: Place, to: Path) -> bool:
    """Copy a place from a pod that is made for this, and return whether all of it is here."""
    job = results.reader(place, arguments.run, runs.new_word())
    record = RunRecord(run=name_of(job), number=1, when="", objects=(Reference.of(job, client.namespace),))
    counts = Counter[str]()
    with clusters.made(client, [job]):
        now = clusters.started(
            client, record, clusters.seconds(arguments), lambda now: f"the pod that copies {now.explained}"
        )
        if now.state != status.RUNNING:
            raise UnavailableError(Problem(f"the pod that copies {now.explained}", hint="--timeout 15m waits longer"))
        with progress.busy(f"copying {place.path}") as show:
            for sent in transfer.copy(client, now.pods[0].name, results.CONTAINER, place.path, to):
                counts["size"] += sent.size
                counts["left" if sent.fault else "copied" if sent.is_written else "here"] += 1
                show(f"copying {place.path}: {counts['size'] / 1e6:.1f} MB")
                if sent.fault:
                    output.warning(f"{sent.name} is not copied: it {sent.fault}")
    more = f"; {counts['here']} are here already" if counts["here"] else ""
    copied = f"{output.counted(counts['copied'], 'file')}, {counts['size'] / 1e6:.1f} MB"
    output.note(f"{copied}, copied to {to}{more}")
    return not counts["left"]
