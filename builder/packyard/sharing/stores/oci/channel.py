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

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from packyard.core.bundle import record, reference
from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem
from packyard.core.files.regular import LIMIT
from packyard.core.work import parallel
from packyard.sharing.entry import CHECKSUM, IndexEntry, bundle_key
from packyard.sharing.stores.oci import manifest as manifests
from packyard.sharing.stores.oci.address import Address, tag_of, version_of
from packyard.sharing.stores.oci.manifest import FACTS, REASON, REFERRERS, TITLE, Manifest
from packyard.sharing.stores.oci.registry import Registry
from packyard.sharing.stores.store import MissingStoreError, NotFoundError, ReadOnly, check_same

INDEX = "index"
_BUNDLE = re.compile(r"([^/]+)/([a-z0-9][-a-z0-9]*)\.tar\.gz(|\.[a-z0-9.]+)")


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

    # Bundles, and what was published with them.

    def push(self, entry: IndexEntry, data: bytes) -> None:
        """Write a bundle that nobody sees yet: `tag` publishes it."""
        place, manifest = self._place(entry.key), manifests.bundle(entry)
        self._registry.upload(place.repository, data)
        self._registry.write(place.repository, manifest.own.digest, manifest)
        self._bundles[place.repository, place.tag] = manifest

    def tag(self, key: str) -> None:
        """Publish a bundle that was pushed, unless somebody else was faster."""
        place = self._place(key)
        pushed, stored = self._bundles[place.repository, place.tag], None
        with suppress(MissingStoreError):  # many hide what is not there yet
            stored = self._registry.manifest(place.repository, place.tag)
        if stored is None:
            self._registry.write(place.repository, place.tag, pushed)
            stored = self._registry.manifest(place.repository, place.tag)
        check_same(place.shown, stored.layer.digest if stored else Digest("nothing"), pushed.layer.digest)

    def put(self, key: str, data: bytes) -> None:
        """Write what is known of a bundle that was pushed or published; see `Store.put`."""
        place = self._place(key)
        bundle = self._bundle(place)
        before = self._beside(place, bundle)
        if before and (before is bundle or before.annotations.get(TITLE) == place.file):
            check_same(place.shown, before.layer.digest, Digest.of(data))
        else:
            self._registry.refer(place.repository, bundle, REFERRERS[place.end], {TITLE: place.file}, data)

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`. Raises `IntegrityError` for bytes without the right digest."""
        place = self._place(key)
        artifact = self._beside(place, self._bundle(place))
        if artifact is None:
            raise NotFoundError(Problem("not found", file=place.shown))
        return self._registry.blob(place.repository, artifact.layer, limit)

    def list(self, prefix: str, *, age: float = 0) -> Sequence[str]:  # noqa: ARG002  # none has an age
        """Return the keys that begin with ``prefix``: those of all packages that the index has."""
        keys = [bundle_key(name, version) for name in self.names for version in self.versions(name)]
        return sorted(key for key in self.files(keys) if key.startswith(prefix) and not key.endswith(CHECKSUM))

    def files(self, bundles: Collection[str]) -> set[str]:
        """Return which of these bundles are there, and what was published with each; a layer's digest is a checksum."""
        return {key for keys in parallel.run(self._files, list(bundles)) for key in keys}

    def _files(self, key: str) -> Sequence[str]:
        place = self._place(key)
        with suppress(MissingStoreError, NotFoundError):
            types = {kind for kind, _ in self._registry.referrers(place.repository, self._bundle(place).own.digest)}
            return [key, key + CHECKSUM, *(key + end for end in REFERRERS if REFERRERS[end] in types)]
        return []

    refusal = InputError("what is published in a registry is never replaced, nor removed")
    keeps_conditions = swap = remove = ReadOnly.refuse

    # What an index would say.

    @property
    def names(self) -> Sequence[str]:
        """The names of the packages."""
        return sorted(filter(reference.is_name, self._registry.tags(self._address.repository(INDEX))))

    @cached_property
    def marks(self) -> set[str]:
        """What `mark` wrote; who goes through it takes a copy, as other threads add to it."""
        with suppress(MissingStoreError):
            return set(self._registry.tags(self._address.repository(INDEX)))
        return set()

    def mark(self, tag: str) -> None:
        """Write something into the index that says something by being there: a name, or that a release is closed."""
        if tag not in self.marks:
            mark = manifests.artifact(manifests.MARK_TYPE, {TITLE: tag})  # two may not write the same
            self._registry.write(self._address.repository(INDEX), tag, mark)
            self.marks.add(tag)

    def versions(self, name: str) -> Sequence[str]:
        """Return what may be versions of a package: tags that are spelled so."""
        tags = self._registry.tags(self._address.repository(name))
        return [version for version in map(version_of, tags) if reference.is_version(version)]

    def version(self, name: str, version: str) -> IndexEntry | None:
        """Return what is there under a version, None for what packyard did not write under that tag."""
        place = self._place(bundle_key(name, version))
        bundle = self._registry.manifest(place.repository, place.tag)
        if bundle is None or FACTS not in bundle.annotations:
            return None
        facts = bundle.annotations[FACTS].encode()
        entry = record.parse_any(facts, lambda fields: fields.take_all(IndexEntry), file=place.shown)
        if (entry.name, entry.version) != (name, version):  # a tag of somebody's own beside that of the version
            return None
        if bundle.artifact_type == manifests.REMOVED_TYPE:
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
            known = [digest for _, digest in self._registry.referrers(place.repository, bundle.own.digest)]
            self._registry.write(place.repository, place.tag, manifests.artifact(manifests.REMOVED_TYPE, about))
            del self._bundles[place.repository, place.tag]
            for digest in (*known, bundle.own.digest):
                self._registry.delete(place.repository, digest)
        elif not self._of_type(place, bundle, manifests.YANKED_TYPE):
            self._registry.refer(place.repository, bundle, manifests.YANKED_TYPE, {REASON: entry.yanked})

    # Manifests.

    def _bundle(self, place: _Place) -> Manifest:
        """Return the manifest of a bundle, as it was read before, or raise `NotFoundError`."""
        at = (place.repository, place.tag)
        if at not in self._bundles:
            stored = self._registry.manifest(place.repository, place.tag)
            if stored is None or stored.artifact_type == manifests.REMOVED_TYPE:
                raise NotFoundError(Problem("not found", file=place.shown))
            self._bundles[at] = stored
        return self._bundles[at]

    def _beside(self, place: _Place, bundle: Manifest) -> Manifest | None:
        """Return what refers to a bundle and has the type of an end; what we wrote goes before what others did."""
        if not place.end:
            return bundle
        beside = self._of_type(place, bundle, REFERRERS[place.end])
        return next((item for item in beside if item.annotations.get(TITLE) == place.file), next(iter(beside), None))

    def _of_type(self, place: _Place, bundle: Manifest, kind: str) -> Sequence[Manifest]:
        referring = self._registry.referrers(place.repository, bundle.own.digest)
        read = (self._registry.known(place.repository, digest) for type_, digest in referring if type_ == kind)
        return list(filter(None, read))

    def _place(self, key: str) -> _Place:
        match = _BUNDLE.fullmatch(key)
        if match is None or match[2] == INDEX or match[3] not in ("", *REFERRERS):
            problem = Problem(f"a registry has no place for {key!r}", hint="it has bundles, and what is known of them")
            raise InputError(problem)
        repository, tag, end = self._address.repository(match[2]), tag_of(match[1]), match[3]
        shown = self._registry.place(repository, tag) + (f" ({end})" if end else "")
        return _Place(repository, tag, shown, f"{match[2]}.tar.gz{end}", end)
