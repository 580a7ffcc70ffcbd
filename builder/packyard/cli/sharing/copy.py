"""Copy packages from one channel to another: to promote what was tried, or for networks that do not reach the first.

packyard copy FROM TO                       everything
packyard copy FROM TO NAME NAME@^1.2        all versions of one package, and a
                                            range of another
packyard copy FROM TO NAME@1.2.0 ...        these versions: all of them or none,
                                            and none that is yanked
packyard copy FROM TO --with-images         also copy the images to TO, or to
                                            the registry of --images-to, and
                                            write site.yaml, by which packages
                                            find them, and images.lock, their
                                            digests
packyard copy FROM TO --images images.yaml  only list the images, and write
                                            images.sh, which copies them

The bytes stay the same, with their provenance, SBOMs and yanks. Interrupted, the next run goes on. The images are
copied by `sh images.sh HOST`, with crane or skopeo, or by `skopeo sync --scoped --src yaml --dest docker images.yaml
HOST`; then users set REGISTRY=HOST/docker.io.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path

from packyard.cli import declare, output, preferences, progress
from packyard.cli.channels import BUNDLES, fetching, open_channel, patience, publisher, row, show
from packyard.cli.sharing import signing
from packyard.core.errors import InputError, Problem, UsageError
from packyard.core.files import regular
from packyard.sharing.publishing import relocate
from packyard.sharing.publishing.copy import Copied, copy
from packyard.sharing.publishing.images import SCRIPT, image_list, image_script
from packyard.sharing.stores.oci.address import SCHEMES, Address
from packyard.using.options import site

ROWS = BUNDLES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("source", metavar="FROM", help="the channel that has the packages")
    parser.add_argument("target", metavar="TO", help="the channel that gets them")
    parser.add_argument("references", metavar="NAME[@VERSION]", nargs="*", help="what is copied (default: all)")
    declare.switch(parser, "--with-images", "copy the images, too, and write site.yaml")
    declare.value(parser, "--images-to oci://…", "the registry that gets the images (default: TO)")
    declare.value(parser, "--site FILE", "the file to write", default=site.FILE)
    declare.value(parser, "--images FILE", "write a list of images, and a script that copies them")
    signing.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Copy what is missing; print a line for each bundle."""
    if Path(arguments.images or "").suffix == SCRIPT:
        raise UsageError(
            f"packyard copy: --images {arguments.images} names the list; the script beside it ends in {SCRIPT}"
        )
    keys = signing.keys(arguments.key)
    to = _registry(arguments) if arguments.with_images or arguments.images_to else None
    with progress.busy(f"copying from {arguments.source}"):
        copied = copy(
            open_channel(arguments.source),
            open_channel(arguments.target),
            arguments.references,
            how=fetching(arguments.source),
            by=publisher(arguments.target, keys),
            with_images=bool(arguments.images or to),
            done=_tell,
        )
    for each in copied:
        if each.proof:
            output.note(each.proof.describe(preferences.key_names()))
    if arguments.images:
        images = [image for each in copied for image in each.images]
        listed = Path(arguments.images)
        listed.write_bytes(image_list(images))
        listed.with_suffix(SCRIPT).write_bytes(image_script(images))
    if to is not None:
        _relocate(copied, to, Path(arguments.site))
    show([row(each.entry, each.status) for each in copied], arguments.output)
    signing.tell_unsigned(keys)
    return 0


def _registry(arguments: argparse.Namespace) -> Address:
    """Return where images go."""
    text = arguments.images_to or arguments.target
    if not text.startswith(SCHEMES):
        example = "--images-to oci://registry.example.com/mirror"
        raise UsageError(f"packyard copy --with-images: {text} is no registry; name one: {example}")
    return Address.parse(text)


def _relocate(copied: Sequence[Copied], to: Address, site_file: Path) -> None:
    """Copy the images, and write the lock and the site's file."""
    lock = site_file.with_name("images.lock")
    locked = relocate.read_lock(lock)
    images, registries = [image for each in copied for image in each.images], {*chain(*(x.registries for x in copied))}
    pages = {name: relocate.site(to, name) for name in registries}
    if len(pages) == 1:
        _check_site(site_file, *pages.values())
    with progress.busy(f"copying images to {to}"):
        relocated = relocate.copy_images(images, to, locked, patience=patience(), done=_tell_image)
    relocate.write_lock(lock, locked, relocated)
    for each in relocated:
        output.note(f"{each.image} is {each.place}@{each.digest}")
        if each.moved:
            output.warning(f"{each.image} names {each.moved} by now; {lock} keeps it at {each.digest}")
    if len(pages) == 1:
        site_file.write_bytes(*pages.values())
    _tell_others(registries, images, site_file)


def _check_site(file: Path, data: bytes) -> None:
    if file.exists() and regular.read(file) != data:
        hint = f"write {data.decode().split()[-1]} into it yourself as REGISTRY, or name another one: --site FILE"
        raise InputError(Problem("is there, and says something else", file=str(file), hint=hint))


def _tell_others(registries: Collection[str], images: Sequence[str], site_file: Path) -> None:
    """Say which images no file of a site leads to."""
    if len(registries) > 1:
        output.warning(f"{site_file} is not written: packages pull from {', '.join(sorted(registries))}; set REGISTRY")
        return
    others = sorted({each for each in images if not each.startswith(tuple(f"{name}/" for name in registries))})
    if others:
        output.warning(f"REGISTRY does not lead to {', '.join(others)}: set the setters of these images, such as IMAGE")


def _tell_image(number: int, count: int) -> None:
    progress.doing(f"{number} of {output.counted(count, 'image')}")


def _tell(number: int, count: int) -> None:
    progress.doing(f"{number} of {output.counted(count, 'package')} copied")
