"""Mirroring: bringing what a channel has into another one, for networks that do not reach it.

The bytes are the same, with checksums, provenance and SBOMs; they stay signed by whom they are. The index, and the
records of what is yanked or closed, are the other channel's own. What it has already is not copied again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from packyard.core.bundle import bundle as bundles
from packyard.core.bundle.reference import Reference
from packyard.core.errors import ConflictError
from packyard.core.kubernetes import images
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching.fetch import Fetching, keep, opened_entry
from packyard.sharing.fetching.verify import verify_listed
from packyard.sharing.index import access, head
from packyard.sharing.index.access import Writer
from packyard.sharing.index.choose import choose
from packyard.sharing.index.head import Memory
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import Package
from packyard.sharing.publishing import promote, yank
from packyard.sharing.publishing.close import close
from packyard.sharing.publishing.publish import Status, publish
from packyard.sharing.publishing.upload import Packed
from packyard.sharing.stores import Store
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust

_AT_ONCE = 4  # uploads
_BATCH = 32  # bundles that are on this disk, and that become one head


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """A bundle that the other channel has now, what was done for it, and the images that its pods run."""

    entry: IndexEntry
    status: Status
    images: tuple[str, ...] = ()


def chosen(listed: Index, texts: Sequence[str]) -> list[IndexEntry]:
    """Return the entries that references name, each once: for ``NAME`` all its versions; without any, all there are."""
    if not texts:
        return list(listed.entries)
    found = [entry for text in texts for entry in _named(listed, Reference.parse(text))]
    return list({str(entry): entry for entry in found}.values())


def _named(listed: Index, asked: Reference) -> Iterable[IndexEntry]:
    package: Package = listed.named(asked.name)
    if asked == Reference(name=asked.name):
        return package.entries
    choice = choose(package, asked).entry  # refuses what there is not
    in_range = [entry for entry in package.entries if asked.admits(entry.version)]
    return in_range if choice in in_range and asked.choice[:1] in ("^", "~") else (choice,)


def mirror(
    source: Store,
    target: Store,
    texts: Sequence[str],
    *,
    how: Fetching | None = None,
    keys: Sequence[SigningKey] = (),
    trusted: Trust = NOBODY,
    memory: Memory | None = None,
    with_images: bool = False,
    done: Callable[[int, int], object] = lambda *_: None,
) -> list[Mirrored]:
    """Bring what is chosen into another channel. Interrupted, it goes on with the next run; done, it changes nothing.

    ``how`` is how to read the source, ``keys``, ``trusted`` and ``memory`` are for the target. ``done`` hears how many
    of how many are there.
    """
    how = how or Fetching()
    trusted = head.trust_to_write(keys, trusted)
    listed = access.read(source, how.trusted, how.memory)
    how = replace(how, trusted=how.trusted.without(listed.head.revoked))
    entries = chosen(listed, texts)
    before = access.current(target, trusted, memory)
    present = {str(entry) for entry in entries if before.lists(entry)}
    missing = [entry for entry in entries if str(entry) not in present]
    put = partial(publish, target, keys=keys, trusted=trusted, memory=memory, at_once=_AT_ONCE)
    results: dict[str, Mirrored] = {}
    for start in range(0, len(missing), _BATCH):
        results |= _batch(source, listed, missing[start : start + _BATCH], how, put)
        done(len(results), len(missing))
    for entry in entries:
        if str(entry) in present:
            found = _images(target, entry, how) if with_images else ()
            results[str(entry)] = Mirrored(entry=entry, status="unchanged", images=found)
    before = access.current(target, trusted)
    new = [entry for entry in entries if entry.yanked and not before.named(entry.name).get(entry.version).yanked]
    if new:
        with access.writer(target, keys=keys, trusted=trusted, memory=memory, alone=True) as writer:
            _yank(writer, new)
    for version in _complete(listed, before, entries):
        close(target, version, keys=keys, trusted=trusted, memory=memory)
    return [results[str(entry)] for entry in entries]


def _batch(
    source: Store,
    listed: Index,
    entries: Sequence[IndexEntry],
    how: Fetching,
    put: Callable[..., list[tuple[IndexEntry, Status]]],
) -> dict[str, Mirrored]:
    found: dict[str, tuple[str, ...]] = {}
    with TemporaryDirectory(prefix="packyard-") as folder:
        packed = []
        for entry in entries:
            verify_listed(source, listed.head, entry, entry, how.trusted)
            file, manifest = keep(source, entry, Path(folder), how)
            packed.append(Packed(entry=replace(entry, yanked=""), file=file))
            found[str(entry)] = manifest.images
        done = put(packed, attest=lambda entry: promote.known(source, entry, how.trusted))
    return {str(entry): Mirrored(entry=entry, status=status, images=found[str(entry)]) for entry, status in done}


def _images(target: Store, entry: IndexEntry, how: Fetching) -> tuple[str, ...]:
    with opened_entry(target, entry, Fetching(patience=how.patience)) as file:
        return bundles.inspect(file, what=str(entry))[0].images


def _yank(writer: Writer, new: Sequence[IndexEntry]) -> None:
    """Yank in the target what is yanked in the source, for the same reasons."""
    channel = writer.current().head.channel
    for entry in new:
        with suppress(ConflictError):  # whoever runs the target yanks it, too
            yank.put(writer, entry, entry.yanked, channel)

    def change(found: Index) -> Index:
        for entry in new:
            if not found.named(entry.name).get(entry.version).yanked:
                found = found.yank(entry, entry.yanked)
        return found

    writer.commit(change)


def _complete(listed: Index, target: Index, entries: Iterable[IndexEntry]) -> list[str]:
    """Return the versions that the source has closed, and the target has not, though it has all bundles of them."""
    found = set()
    for version in {entry.version for entry in entries}:
        there, here = listed.release(version), target.release(version)
        if there and there.closed and not (here and here.closed):
            found.add(version)
    for package in listed.packages() if found else ():
        wanted = [entry for entry in package.entries if entry.version in found]
        copied = target.package(package.name) if wanted else None
        tars = {(each.version, each.tar) for each in copied.entries} if copied else set()
        found -= {entry.version for entry in wanted if (entry.version, entry.tar) not in tars}
    return sorted(found)


def image_list(references: Iterable[str]) -> bytes:
    """Return the list of images that `skopeo sync --src yaml` copies, as YAML: by registry and name, the tags.

    >>> print(image_list(["docker.io/intel/a:1", "python"]).decode(), end="")
    "docker.io":
      images:
        "intel/a": ["1"]
        "library/python": ["latest"]
    """
    found: dict[str, dict[str, set[str]]] = {}
    for reference in references:
        if images.is_valid(reference):
            registry, name, tag = _in_parts(reference)
            found.setdefault(registry, {}).setdefault(name, set()).add(tag)
    return "".join(_lines(found)).encode()


def _lines(found: dict[str, dict[str, set[str]]]) -> Iterator[str]:
    for registry, names in sorted(found.items()):
        yield f"{json.dumps(registry)}:\n  images:\n"
        for name, tags in sorted(names.items()):
            yield f"    {json.dumps(name)}: {json.dumps(sorted(tags))}\n"


def _in_parts(reference: str) -> tuple[str, str, str]:
    """Return registry, name, and digest or tag of an image, as container engines complete them."""
    image = images.parse(reference)
    registry, slash, name = image.name.partition("/")
    if not slash or not ("." in registry or ":" in registry or registry == "localhost"):
        registry, name = "docker.io", image.name if slash else f"library/{image.name}"
    return registry, name, image.digest or image.tag or "latest"
