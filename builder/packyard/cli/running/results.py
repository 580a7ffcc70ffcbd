"""Show where the results of a run are, and copy them to this computer.

packyard results RUN           where they are
packyard results RUN --to DIR  copy them; typed again, it goes on with what is
                               missing

A pod of the run's own image and user mounts the storage, to be read alone, and sends the files; it is deleted in the
end, after Ctrl-C too. Each file appears whole. What is here already and the same is not sent again; what you changed
here since stays.
"""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packyard.cli import declare, output, progress
from packyard.cli.rows import Rows
from packyard.cli.running import clusters, interrupts
from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError
from packyard.core.kubernetes.lenient import Object, name_of
from packyard.running.results import copier as copiers
from packyard.running.results.listing import Listed
from packyard.running.results.received import Folder
from packyard.running.results.transfer import Source
from packyard.running.runs import beside, results
from packyard.running.runs import record as records
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.results import Place

ROWS = Rows(
    "place",
    "run, path, held, copy, to?, files?, bytes?, copied?, left (file, reason)",
)
_PAUSE = 1.0  # seconds between two looks at the pod
_SYNC = {"s3": "aws s3 sync", "gs": "gcloud storage rsync --recursive"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    clusters.add_run(parser)
    declare.value(parser, "--to DIR", "copy them into this folder; it may have some of them", default="")
    text = "an image with sh, find, stat and tar for the pod that copies (default: that of the run)"
    declare.value(parser, "--image IMAGE", text, default="")
    declare.value(parser, "--timeout TIME", "how long the pod may take to start", type=clusters.duration, default="5m")
    clusters.add_arguments(parser)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Copied:
    """What came of copying a place: its ``files``, those ``copied`` now, with their bytes, and those ``there`` before.

    ``left`` are not copied, each with the reason.
    """

    to: Path
    files: int
    copied: int
    size: int
    there: int
    left: Sequence[tuple[str, str]]
    is_all: bool


def run(arguments: argparse.Namespace) -> int:
    """Show the places of results, or copy what is there."""
    client = clusters.find(arguments)
    record = records.read_last(client, arguments.run)
    places = results.places(record.read_objects())
    if not places:
        hint = f"{client.packyard('logs', arguments.run)} prints what it logs"
        raise InputError(Problem(f"run {arguments.run} does not say where its results are: no OUTPUT_DIR", hint=hint))
    if not arguments.to:
        return _show(client, arguments, places)
    for place in places:
        _check(client, arguments, place)
    return _copy_all(client, arguments, places)


def _copy_all(client: Kubectl, arguments: argparse.Namespace, places: Sequence[Place]) -> int:
    """Copy all places, several into folders of their own; return 1 where something is not copied."""
    rows, code = [], 0
    for place in places:
        copy = _copy(client, arguments, place, Path(arguments.to, *(_folder(place, places) if len(places) > 1 else ())))
        more = f"; {copy.there} are here already" if copy.there else ""
        size = f"{copy.size / 1e6:.1f} MB"
        output.note(f"{output.counted(copy.copied, 'file')} of {copy.files}, {size}, copied to {copy.to}{more}")
        rows.append(_row(client, arguments, place, str(copy.to), copy.files, copy.size, copy.copied, copy.left))
        code |= not copy.is_all
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


def _check(client: Kubectl, arguments: argparse.Namespace, place: Place) -> None:
    """Refuse what no pod can mount."""
    if place.is_address or not place.volume:
        hint = _way(client, arguments, place)
        raise InputError(Problem(f"{place.path} is on no volume of the run's pods", hint=hint))


def _copy(client: Kubectl, arguments: argparse.Namespace, place: Place, to: Path) -> _Copied:
    """Copy a place by a pod of the run that alone can read it, or by one that is made for this."""
    bound = copiers.bound(client, place, arguments.run)
    if bound.pod:
        output.note(f"copying from pod {bound.pod}, which alone can read {place.path}")
        container = str(place.container.get("name", ""))
        return _received(Source(kubectl=client, pod=bound.pod, container=container, directory=place.path), to)
    copier = copiers.make(place, arguments.run, runs.new_word(), image=arguments.image, node=bound.node)
    with interrupts.tidied(lambda: copiers.delete(client, copier)):
        beside.create(client, [copier])
        pod = _started(client, arguments, copier)
        return _received(Source(kubectl=client, pod=pod, container=copiers.CONTAINER, directory=place.path), to)


def _started(client: Kubectl, arguments: argparse.Namespace, copier: Object) -> str:
    """Return the name of the pod when it runs, and say meanwhile what it waits for."""
    begin, reason = time.monotonic(), ""
    try:
        while not (look := clusters.patiently(lambda: copiers.look(client, copier))).pod:
            progress.waited()
            if look.refused:
                hint = "--image names another image, with sh, find, stat and tar: busybox"
                raise UnavailableError(Problem(f"the pod that copies does not run: {look.refused}", hint=hint))
            if look.waiting != reason:
                output.note(f"pod of {name_of(copier)} waits: {look.waiting}")
            reason = look.waiting
            progress.waiting(f"waiting: {reason}", time.monotonic() - begin)
            if time.monotonic() > begin + arguments.timeout:
                hint = "--timeout 15m waits longer"
                raise UnavailableError(Problem(f"the pod that copies has not started: {reason}", hint=hint))
            time.sleep(_PAUSE)
        return look.pod
    finally:
        progress.waited()


def _received(source: Source, to: Path) -> _Copied:
    """Copy what is lacking here, and tell what is not copied and why."""
    listed = source.list()
    size = arrived = 0

    def arrive(count: int) -> None:
        nonlocal arrived
        arrived += count
        progress.arriving(source.directory, arrived, size)

    whole: list[Listed] = []
    folder = Folder(to, arrive)
    lacking, there, newer = folder.sort(listed.files)
    size = sum(each.size for each in lacking)
    try:
        folder.check_room(lacking)
        with progress.busy(f"{output.counted(len(lacking), 'file')} of {len(listed.files)}"):
            gone = source.copy(lacking, folder, whole.append)
    except (PackyardError, KeyboardInterrupt):
        output.notice(
            f"{len(whole)} of {output.counted(len(lacking), 'file')} are copied, each whole; type it again to go on"
        )
        raise
    finally:
        folder.close()
    left = [
        *((each.path, "went away while it was copied") for each in gone),
        *((each.path, "was changed here since, and stays: remove it, or name another folder") for each in newer),
        *listed.refused,
    ]
    for name, reason in left:
        output.warning(f"{name} is not copied: it {reason}")
    if listed.others:
        output.warning(f"{output.counted(listed.others, 'link')}, devices or names with line breaks are not copied")
    if listed.is_partial:
        output.warning(f"some folders of {source.directory} may not be read by the user of the pod")
    is_all = not (left or listed.is_partial)
    return _Copied(
        to=to,
        files=len(listed.files),
        size=sum(each.size for each in whole),
        copied=len(whole),
        there=len(there),
        left=left,
        is_all=is_all,
    )


def _folder(place: Place, places: Sequence[Place]) -> tuple[str, ...]:
    """Return the folder for one of several places: the last of its path, and its number where that is no name."""
    names = [each.path.rstrip("/").rpartition("/")[2] for each in places]
    number = places.index(place)
    own = names[number]
    return (own if own not in ("", "..", ".") and names.count(own) == 1 else str(number),)
