"""Copy packages from one channel to another: to promote what was tried, or for networks that do not reach the first.

packyard copy FROM TO                          everything
packyard copy FROM TO NAME NAME@^1.2           all versions of one package, and a range of another
packyard copy FROM TO NAME@1.2.0 ...           these versions: all of them or none, and none that is yanked
packyard copy FROM TO --images images.yaml     also list the images, and write images.sh, which copies them

The bytes stay the same, with their provenance, SBOMs and yanks. Interrupted, the next run goes on. The images are
copied by `sh images.sh HOST`, with crane or skopeo, or by `skopeo sync --scoped --src yaml --dest docker images.yaml
HOST`; then users set REGISTRY=HOST/docker.io.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from packyard.cli import output, preferences
from packyard.cli.channels import COPIED, fetching, open_channel, row, trust
from packyard.cli.sharing import signing
from packyard.core.errors import UnavailableError, UsageError
from packyard.sharing.publishing.copy import copy
from packyard.sharing.publishing.images import SCRIPT, image_list, image_script

ROWS = COPIED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("source", metavar="FROM", help="the channel that has the packages")
    parser.add_argument("target", metavar="TO", help="the channel that gets them")
    parser.add_argument("references", metavar="NAME[@VERSION]", nargs="*", help="what is copied (default: all)")
    parser.add_argument("--images", metavar="FILE", help="write a list of images, and a script that copies them")
    signing.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Copy what is missing; print a line for each bundle."""
    if Path(arguments.images or "").suffix == SCRIPT:
        raise UsageError(
            f"packyard copy: --images {arguments.images} names the list; the script beside it ends in {SCRIPT}"
        )
    keys = signing.keys(arguments.key)
    with output.busy(f"copying from {arguments.source}"):
        found = copy(
            open_channel(arguments.source),
            open_channel(arguments.target),
            arguments.references,
            how=fetching(arguments.source),
            keys=keys,
            trusted=trust(arguments.target),
            memory=preferences.memory(arguments.target),
            with_images=bool(arguments.images),
            done=_tell,
        )
    for each in found:
        if each.proof:
            output.note(each.proof.said(preferences.key_names()))
    if arguments.images:
        images = [image for each in found for image in each.images]
        _write(Path(arguments.images), image_list(images))
        _write(Path(arguments.images).with_suffix(SCRIPT), image_script(images))
    ROWS.show([row(each.entry, each.status) for each in found], arguments.output)
    signing.tell_unsigned(keys)
    return 0


def _tell(number: int, count: int) -> None:
    output.doing(f"{number} of {output.counted(count, 'package')} copied")


def _write(file: Path, data: bytes) -> None:
    try:
        file.write_bytes(data)
    except OSError as error:
        raise UnavailableError(f"{file}: {error.strerror}") from error
