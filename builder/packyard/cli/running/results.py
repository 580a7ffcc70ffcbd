"""Show where the results of a run are, and copy them to this computer.

packyard results RUN           where they are
packyard results RUN --to DIR  copy them; typed again, it adds what is missing

While a pod of the run has the storage, tar sends the files from there; afterwards a pod of the run's own image and user
mounts it, to be read alone, and is deleted in the end. Each file appears whole; what is in DIR already stays.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from packyard.cli import declare, output, progress
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, interrupts
from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.kubernetes.lenient import Object, name_of
from packyard.running.runs import beside, results, status, transfer
from packyard.running.runs import record as records
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.results import Place
from packyard.running.runs.run import Reference
from packyard.running.runs.transfer import Copied

ROWS = Rows(
    "place",
    "run, path, held, copy, to?, files?, bytes?, copied?, left (file, reason)",
)
_SYNC = {"s3": "aws s3 sync", "gs": "gcloud storage rsync --recursive"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    declare.value(parser, "--to DIR", "copy them into this folder; it may have some of them", default="")
    text = "an image with sh and tar for the pod that copies (default: that of the run)"
    declare.value(parser, "--image IMAGE", text, default="")
    clusters.add_timeout(parser, "how long the pod may take to start", "5m")
    clusters.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the places of results, or copy what is there."""
    client = clusters.find(arguments)
    record = records.read_last(client, arguments.run)
    places = results.places(record.read_objects())
    if not places:
        hint = f"{client.packyard('logs', arguments.run)} prints what it logs"
        raise InputError(Problem(f"run {arguments.run} does not say where its results are: no OUTPUT_DIR", hint=hint))
    if not arguments.to:
        declare.alone(arguments, "results", "without --to DIR", "image", "timeout")
        return _show(client, arguments, places)
    for place in places:
        if place.is_address or not place.volume:
            hint = _way(client, arguments, place)
            raise InputError(Problem(f"{place.path} is on no volume of the run's pods", hint=hint))
    return _copy_all(client, arguments, places)


def _copy_all(client: Kubectl, arguments: argparse.Namespace, places: Sequence[Place]) -> int:
    """Copy all places, several into folders of their own; return 1 where something is not copied."""
    rows, code = [], 0
    for place in places:
        to = Path(arguments.to, *(_folder(place, places) if len(places) > 1 else ()))
        copied = _copy(client, arguments, place, to)
        for name, reason in copied.left:
            output.warning(f"{name} is not copied: it {reason}")
        if copied.others:
            output.warning(f"not copied, as they are no files: {copied.others} links or devices")
        if copied.said:
            output.warning(f"{place.path}: {copied.said}")
        more = f"; {copied.there} are here already" if copied.there else ""
        count = f"{output.counted(copied.copied, 'file')} of {copied.files}, {copied.size / 1e6:.1f} MB"
        output.note(f"{count}, copied to {to}{more}")
        counts = (copied.files, copied.size, copied.copied, copied.left)
        rows.append(_row(client, arguments, place, str(to), *counts))
        code |= bool(copied.left or copied.said)
    ROWS.show(rows, arguments.output)
    return code


def _show(client: Kubectl, arguments: argparse.Namespace, places: Sequence[Place]) -> int:
    if ROWS.show([_row(client, arguments, place) for place in places], arguments.output):
        for place in places:
            output.line(str(place))
            output.note(f"{_when(place)}{_way(client, arguments, place)}")
    return 0


def _row(client: Kubectl, arguments: argparse.Namespace, place: Place, *copied: object) -> tuple[object, ...]:
    held = "" if place.is_address else place.held
    nothing = (None, None, None, None, ())
    return arguments.run, place.path, held, _way(client, arguments, place), *(copied or nothing)


def _when(place: Place) -> str:
    if not (place.is_address or place.volume):
        return ""
    return "to copy it, while a pod of the run is there: " if place.is_fleeting else "to copy it: "


def _way(client: Kubectl, arguments: argparse.Namespace, place: Place) -> str:
    """Return the command that copies a place, or why there is none."""
    scheme = place.path.partition("://")[0]
    if place.is_address:
        return f"{_SYNC.get(scheme, f'# by a client of {scheme}:')} {shlex.quote(place.path)} DIR"
    if not place.volume:
        return "no volume of its pods is known to hold that"
    return client.packyard("results", arguments.run, "--to", "DIR")


def _copy(client: Kubectl, arguments: argparse.Namespace, place: Place, to: Path) -> Copied:
    """Copy a place from a pod of the run that has it, or from one that is made for this."""
    pod = "" if arguments.image else results.mounting(client, place, arguments.run)
    if pod:
        output.note(f"copying from pod {pod}")
        return _received(client, pod, str(place.container.get("name", "")), place, to)
    if place.is_fleeting or place.volume.get("hostPath"):
        problem = f"{place.path} is on a volume that only its pods have, and no pod of {arguments.run} runs"
        raise InputError(Problem(problem, hint=client.by_hand("get", "pods", "--output=wide")))
    job = results.reader(place, arguments.run, runs.new_word(), arguments.image)
    hint = client.by_hand("delete", "job", name_of(job))
    left = Problem("the pod that copies could not be deleted", hint=hint)
    with interrupts.tidied(lambda: beside.delete(client, [job], left=left)):
        beside.create(client, [job])
        return _received(client, _started(client, arguments, job), results.CONTAINER, place, to)


def _started(client: Kubectl, arguments: argparse.Namespace, job: Object) -> str:
    """Return the name of the pod when it runs, and say meanwhile what it waits for."""
    record = RunRecord(run=name_of(job), number=1, when="", objects=(Reference.of(job, client.namespace),))
    seen = clusters.wait(
        client, record, clusters.seconds(arguments), lambda now: f"the pod that copies {now.explained}"
    )
    if seen.state == status.RUNNING:
        return seen.pods[0].name
    if seen.state == status.STARTING:
        hint = "--timeout 15m waits longer"
        raise UnavailableError(Problem(f"the pod that copies has not started: {seen.reason}", hint=hint))
    hint = "--image names another image, with sh and tar: busybox"
    raise UnavailableError(Problem(f"the pod that copies does not run: {seen.reason}", hint=hint))


def _received(client: Kubectl, pod: str, container: str, place: Place, to: Path) -> Copied:
    arrived = 0

    def arrive(count: int) -> None:
        nonlocal arrived
        arrived += count
        progress.arriving(place.path, arrived, None)

    with progress.busy(f"copying {place.path}"):
        return transfer.copy(client, pod, container, place.path, to, arrive)


def _folder(place: Place, places: Sequence[Place]) -> tuple[str, ...]:
    """Return the folder for one of several places: the last of its path, and its number where that is no name."""
    names = [each.path.rstrip("/").rpartition("/")[2] for each in places]
    number = places.index(place)
    own = names[number]
    return (own if own not in ("", "..", ".") and names.count(own) == 1 else str(number),)
