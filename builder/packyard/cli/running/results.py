"""Show where the results of a run are, and copy them to this computer.

packyard results RUN           where they are
packyard results RUN --to DIR  copy them; typed again, it adds what is missing

While a pod of the run has the storage, tar sends the files from there; afterwards a pod of the run's own image and user
mounts it, to be read alone, and is deleted in the end. Each file appears whole; what is in DIR already stays.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from packyard.cli import declare, output, progress
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, interrupts
from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.kubernetes.lenient import name_of
from packyard.running.runs import record as records
from packyard.running.runs import results, status, transfer
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.results import Place
from packyard.running.runs.run import Reference
from packyard.running.runs.transfer import Copied

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
    ways = [_way(client, arguments.run, place) for place in places]
    if not arguments.to:
        declare.alone(arguments, "results", "without --to DIR", "timeout")
    elif unheld := [pair for pair in zip(places, ways, strict=True) if not pair[0].volume]:
        raise InputError(*(Problem(f"{each.path} is on no volume of the run's pods", hint=way) for each, way in unheld))
    code = 0
    for number, (place, way) in enumerate(zip(places, ways, strict=True)):
        if arguments.to:  # several places are copied into numbered folders
            to = Path(arguments.to, str(number) if len(places) > 1 else "")
            copied = _copy(client, arguments, place, to)
            _tell(copied, to)
            code |= bool(copied.left)
        elif arguments.output == "text":
            output.line(str(place))
            output.note(f"to copy it, while a pod of the run is there: {way}" if place.is_fleeting else way)
    rows = [(arguments.run, place.path, place.held, way) for place, way in zip(places, ways, strict=True)]
    ROWS.show(rows, arguments.output)
    return code


def _tell(copied: Copied, to: Path) -> None:
    for name, reason in copied.left:
        output.warning(f"{name} is not copied: it {reason}")
    more = f"; {copied.there} are here already" if copied.there else ""
    count = f"{output.counted(copied.copied, 'file')} of {copied.files}, {copied.size / 1e6:.1f} MB"
    output.note(f"{count}, copied to {to}{more}")


def _way(client: Kubectl, run: str, place: Place) -> str:
    """Return the command that copies a place, or why there is none."""
    scheme = place.path.partition("://")[0]
    if place.is_address:
        return f"{_SYNC.get(scheme, f'# by a client of {scheme}:')} {shlex.quote(place.path)} DIR"
    if not place.volume:
        return "no volume of its pods is known to hold that"
    return client.packyard("results", run, "--to", "DIR")


def _copy(client: Kubectl, arguments: argparse.Namespace, place: Place, to: Path) -> Copied:
    """Copy a place from a pod of the run that has it, or from one that is made for this."""

    def received(pod: str, container: str) -> Copied:
        with progress.busy(f"copying {place.path}"):
            return transfer.copy(
                client, pod, container, place.path, to, lambda size: progress.arriving(place.path, size)
            )

    if pod := results.mounting(client, place, arguments.run):
        output.note(f"copying from pod {pod}")
        return received(pod, str(place.container.get("name", "")))
    if place.is_fleeting or place.volume.get("hostPath"):
        problem = f"{place.path} is on a volume that only its pods have, and no pod of {arguments.run} runs"
        raise InputError(Problem(problem, hint=client.by_hand("get", "pods", "--output=wide")))
    job = results.reader(place, arguments.run, runs.new_word())
    record = RunRecord(run=name_of(job), number=1, when="", objects=(Reference.of(job, client.namespace),))
    with interrupts.made(client, [job]):
        now = clusters.started(
            client, record, clusters.seconds(arguments), lambda now: f"the pod that copies {now.explained}"
        )
        if now.state != status.RUNNING:
            raise UnavailableError(Problem(f"the pod that copies {now.explained}", hint="--timeout 15m waits longer"))
        return received(now.pods[0].name, results.CONTAINER)
