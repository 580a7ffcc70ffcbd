"""A channel in a registry: a package is a repository, a version a tag, and what is known of it refers to it.

    PATH/bert:1.2.0_-cpu     the version 1.2.0+cpu of bert; its annotations have what an index would list of it
    its referrers            provenance, SBOM, signatures; why it was yanked
    PATH/bert:1.1            what `gc` removed: an artifact in its place that says so, and why
    PATH/index:bert          there is a package of that name: nobody can ask which repositories there are below a path
    PATH/index:_closed…      a release that is closed, or a shard of one that is published

A bundle is pushed by its digest, then what refers to it, and its tag last: what has no tag is not published.

A registry lets a tag be overwritten, and knows no condition: every write looks before, and reads back after. So of two
that write one tag at the very same moment both may think that they were first. Different packages never meet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property

from packyard.core.bundle import record, reference
from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem
from packyard.core.files.regular import LIMIT
from packyard.core.work import parallel
from packyard.sharing.entry import CHECKSUM, IndexEntry, bundle_key
from packyard.sharing.stores.oci import manifest as manifests
from packyard.sharing.stores.oci.address import Address, tag_of, version_of
from packyard.sharing.stores.oci.manifest import FACTS, REASON, REFERRERS, TITLE, Descriptor, Manifest
from packyard.sharing.stores.oci.registry import Registry
from packyard.sharing.stores.store import MissingStoreError, NotFoundError, ReadOnly, check_key, check_same, too_long

INDEX = "index"
_BUNDLE = re.compile(r"([^/]+)/([a-z0-9][-a-z0-9]*)\.tar\.gz(|\.[a-z0-9.]+)")
_MOST = 50  # referrers of one bundle


@dataclass(frozen=True, slots=True)
class _Place:
    """The repository and tag of a bundle, and what messages call it; ``file`` is it, or was published with it."""

    repository: str
    tag: str
    shown: str
    file: str
    end: str


class OCIStore(ReadOnly):
    """The channel at ``oci://host/path``, whose keys are those of bundles, and of what was published with them.

    ``tell`` hears which logins are of no use. Nothing is swapped, as there are no conditional writes, and only `change`
    removes.
    """

    def __init__(self, address: str, *, tell: Callable[[str], object] = lambda _: None) -> None:
        self._address = Address.parse(address)
        self.address = str(self._address)
        self._registry = Registry(self._address, tell)
        self._bundles: dict[tuple[str, str], Manifest] = {}  # those that were read, or pushed: they do not change
        self._manifest, self._referrers = cache(self._registry.manifest), cache(self._registry.referrers)

    # Bundles, and what was published with them.

    def push(self, entry: IndexEntry, data: bytes) -> None:
        """Write a bundle that nobody sees yet: `tag` publishes it."""
        place, manifest = self._place(entry.key), manifests.bundle(entry)
        self._registry.upload(place.repository, data)
        self._registry.write_manifest(place.repository, Digest.of(manifest), manifest)
        self._bundles[place.repository, place.tag] = Manifest.parse(manifest, what=place.shown)

    def tag(self, key: str) -> None:
        """Publish a bundle that was pushed, unless somebody else was faster."""
        place = self._place(key)
        pushed, stored = self._bundles[place.repository, place.tag], None
        with suppress(MissingStoreError):  # many hide what is not there yet
            stored = self._tagged(place)
        if stored is None:
            self._registry.write_manifest(place.repository, place.tag, pushed.data)
            stored = self._tagged(place)
        check_same(place.shown, stored.layer.digest if stored else Digest("nothing"), pushed.layer.digest)

    def put(self, key: str, data: bytes) -> None:
        """Write what is known of a bundle that was pushed or published; see `Store.put`."""
        place = self._place(key)
        bundle = self._bundle(place)
        if place.end in ("", CHECKSUM):
            stored = Digest.of(_line(bundle, place)) if place.end else bundle.layer.digest
            check_same(place.shown, stored, Digest.of(data))
        elif (before := self._beside(place, bundle)) and before.annotations.get(TITLE) == place.file:
            check_same(place.shown, before.layer.digest, Digest.of(data))
        else:
            self._registry.upload(place.repository, data)
            self._refer(place, bundle, manifests.referrer(place.end, place.file, data, bundle.own))

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`. Raises `IntegrityError` for bytes without the right digest."""
        place = self._place(key)
        bundle = self._bundle(place)
        if place.end == CHECKSUM:
            return _line(bundle, place)
        artifact = self._beside(place, bundle) if place.end else bundle
        if artifact is None:
            raise _missing(place)
        if artifact.layer.size > limit:
            raise too_long(place.shown, limit)
        return self._registry.blob(place.repository, artifact.layer)

    def list(self, prefix: str, *, age: float = 0) -> Sequence[str]:  # noqa: ARG002  # none has an age
        """Return the keys that begin with ``prefix``: those of all packages that the index has."""
        keys = [bundle_key(name, version) for name in self.names for version in self.versions(name)]
        return sorted(key for key in self.files(keys) if key.startswith(prefix))

    def files(self, bundles: Collection[str]) -> set[str]:
        """Return which of these bundles are there, and what was published with each."""
        return {key for keys in parallel.each(self._files, list(bundles)) for key in keys}

    def _files(self, key: str) -> Sequence[str]:
        place = self._place(key)
        with suppress(MissingStoreError, NotFoundError):
            types = {kind for kind, _ in self._refer_to(place, self._bundle(place))}
            return [key, key + CHECKSUM, *(key + end for end in REFERRERS if REFERRERS[end] in types)]
        return []

    refusal = InputError("what is published in a registry is never replaced, nor removed")
    keeps_conditions = swap = remove = ReadOnly.refuse

    # What an index would say.

    @cached_property
    def _marks(self) -> set[str]:
        """The tags of the index; who goes through them takes a copy, as `mark` adds to them in other threads."""
        return set(self._registry.tags(self._address.repository(INDEX)))

    @property
    def names(self) -> Sequence[str]:
        """The names of the packages."""
        return sorted(tag for tag in set(self._marks) if reference.is_name(tag))

    def marks(self, start: str) -> Sequence[str]:
        """Return what `mark` wrote that begins so."""
        with suppress(MissingStoreError):
            return [tag for tag in set(self._marks) if tag.startswith(start)]
        return ()

    def mark(self, tag: str) -> None:
        """Write something into the index that says something by being there: a name, or that a release is closed."""
        if tag not in self.marks(tag):
            manifest = manifests.note(manifests.MARK_TYPE, {TITLE: tag})  # two may not write the same
            self._registry.write_manifest(self._address.repository(INDEX), tag, manifest)
            with suppress(MissingStoreError):
                self._marks.add(tag)

    def versions(self, name: str) -> Sequence[str]:
        """Return what may be versions of a package: tags that are spelled so."""
        tags = self._registry.tags(self._address.repository(name))
        return [version for version in map(version_of, tags) if reference.is_version(version)]

    def version(self, name: str, version: str) -> IndexEntry | None:
        """Return what is there under a version, None for what packyard did not write under that tag."""
        place = self._place(bundle_key(name, version))
        bundle = self._tagged(place)
        if bundle is None or FACTS not in bundle.annotations:
            return None
        facts = bundle.annotations[FACTS].encode()
        entry = record.parse_any(facts, lambda fields: fields.take_all(IndexEntry), file=place.shown)
        if (entry.name, entry.version) != (name, version):  # a tag of somebody's own beside that of the version
            return None
        if bundle.type == manifests.REMOVED_TYPE:
            return replace(entry, removed=bundle.annotations.get(REASON, "no reason is given"))
        self._bundles[place.repository, place.tag] = bundle
        notes = self._of_type(place, bundle, manifests.YANKED_TYPE)
        return replace(entry, yanked=next((note.annotations.get(REASON, "") for note in notes), ""))

    def change(self, entry: IndexEntry) -> None:
        """Say of a bundle that it is yanked or removed, and why.

        An artifact that says so takes the place of one that is removed, whose bytes go where that can be. A registry
        that changes no tags lets it be deleted first, or refuses.
        """
        place = self._place(entry.key)
        bundle = self._bundle(place)
        if entry.removed:
            about = {REASON: entry.removed, FACTS: bundle.annotations.get(FACTS, "")}
            known = [digest for _, digest in self._refer_to(place, bundle)]
            self._registry.write_manifest(place.repository, place.tag, manifests.note(manifests.REMOVED_TYPE, about))
            del self._bundles[place.repository, place.tag]
            for digest in (*known, bundle.own.digest):
                self._registry.delete(place.repository, digest)
        elif not self._of_type(place, bundle, manifests.YANKED_TYPE):
            self._refer(place, bundle, manifests.note(manifests.YANKED_TYPE, {REASON: entry.yanked}, bundle.own))

    # Manifests.

    def _bundle(self, place: _Place) -> Manifest:
        """Return the manifest of a bundle, as it was read before, or raise `NotFoundError`."""
        at = (place.repository, place.tag)
        if at not in self._bundles:
            stored = self._tagged(place)
            if stored is None or stored.type == manifests.REMOVED_TYPE:
                raise _missing(place)
            self._bundles[at] = stored
        return self._bundles[at]

    def _tagged(self, place: _Place) -> Manifest | None:
        data = self._registry.manifest(place.repository, place.tag)
        return None if data is None else Manifest.parse(data, what=place.shown)

    def _beside(self, place: _Place, bundle: Manifest) -> Manifest | None:
        """Return what refers to a bundle and has the type of an end; what we wrote goes before what others did."""
        beside = self._of_type(place, bundle, REFERRERS[place.end])
        return next((item for item in beside if item.annotations.get(TITLE) == place.file), next(iter(beside), None))

    def _of_type(self, place: _Place, bundle: Manifest, kind: str) -> Sequence[Manifest]:
        own = [digest for type_, digest in self._refer_to(place, bundle) if type_ == kind]
        read = (self._manifest(place.repository, digest) for digest in own)
        return [Manifest.parse(data, what=place.shown) for data in read if data]

    def _refer_to(self, place: _Place, bundle: Manifest) -> Sequence[tuple[str, Digest]]:
        """Return what refers to a bundle, each with its type; some registries list other types, or none."""
        listed = self._referrers(place.repository, bundle.own.digest)[:_MOST]
        return [(self._type(place, descriptor), descriptor.digest) for descriptor in listed]

    def _type(self, place: _Place, listed: Descriptor) -> str:
        if listed.artifact_type not in ("", manifests.EMPTY_TYPE):
            return listed.artifact_type
        data = self._manifest(place.repository, listed.digest)
        return manifests.type_of(data, what=place.shown) if data else ""

    def _refer(self, place: _Place, bundle: Manifest, data: bytes) -> None:
        self._registry.refer(place.repository, bundle.own.digest, data)
        self._referrers.cache_clear()

    def _place(self, key: str) -> _Place:
        check_key(key)
        match = _BUNDLE.fullmatch(key)
        if match is None or match[2] == INDEX or match[3] not in ("", CHECKSUM, *REFERRERS):
            problem = Problem(f"a registry has no place for {key!r}", hint="it has bundles, and what is known of them")
            raise InputError(problem)
        repository, tag, end = self._address.repository(match[2]), tag_of(match[1]), match[3]
        shown = self._registry.place(repository, tag) + (f" ({end})" if end else "")
        return _Place(repository, tag, shown, f"{match[2]}.tar.gz{end}", end)


def _missing(place: _Place) -> NotFoundError:
    return NotFoundError(Problem("not found", file=place.shown))


def _line(bundle: Manifest, place: _Place) -> bytes:
    """Return the checksum file of a bundle, which the digest of its layer says."""
    return f"{bundle.layer.digest.hex}  {place.file.removesuffix(CHECKSUM)}\n".encode()
