"""A channel in a registry: a package is a repository, a version a tag, and what is known of it refers to it.

    PATH/bert:1.2.0_-cpu     the version 1.2.0+cpu of bert; its annotations have what an index would list of it
    its referrers            provenance, SBOM, signatures; why it was yanked
    PATH/bert:1.1            what `gc` removed: an artifact in its place that says so, and why
    PATH/bert:_yanked        one of its versions is yanked: without this, `list` asks for no referrers
    PATH/index:bert          there is a package of that name: nobody can ask which repositories there are below a path
    PATH/index:_closed…      a release that is closed, or a shard of one that is published

A bundle is pushed by its digest, then what refers to it, and its tag last: what has no tag is not published.

A registry lets a tag be overwritten, and knows no condition: every write looks before, and reads back after. So of two
that write one tag at the very same moment both may think that they were first. Different packages never meet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from packyard.core.bundle import record, reference
from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.core.work import parallel
from packyard.sharing.entry import CHECKSUM, IndexEntry, bundle_key
from packyard.sharing.stores.oci import manifest as manifests
from packyard.sharing.stores.oci.address import Address, tag_of, version_of
from packyard.sharing.stores.oci.manifest import FACTS, FORMER, REASON, REFERRERS, TITLE, Descriptor, Manifest
from packyard.sharing.stores.oci.registry import Registry
from packyard.sharing.stores.store import (
    PATIENCE,
    MissingStoreError,
    NotFoundError,
    check_key,
    check_listed,
    check_same,
    too_long,
)

INDEX = "index"
_YANKED = "_yanked"
_BUNDLE = re.compile(r"([^/]+)/([a-z0-9][-a-z0-9]*)\.tar\.gz(|\.[a-z0-9.]+)")
_AT_ONCE = 8
_MOST = 50  # referrers of one bundle


@dataclass(frozen=True, slots=True)
class _Place:
    """The repository, tag and file of a bundle; ``end`` is that of what was published with it."""

    repository: str
    tag: str
    file: str
    end: str = ""


class OCIStore:
    """The channel at ``oci://host/path``, whose keys are those of bundles, and of what was published with them.

    ``patience``: the seconds that a request may take; ``tell`` hears which logins are of no use.
    """

    #: Registries have no conditional writes.
    is_conditional = False

    def __init__(
        self, address: str | Address, *, patience: float = PATIENCE, tell: Callable[[str], object] = lambda _: None
    ) -> None:
        self._address = Address.parse(address) if isinstance(address, str) else address
        self.address = str(self._address)
        self._registry = Registry(self._address, patience, tell)
        self._manifests: dict[_Place, Manifest] = {}  # those that were read, or pushed: bundles do not change
        self._untagged: dict[_Place, bytes] = {}
        self._referrers: dict[Digest, list[tuple[str, Descriptor]]] = {}

    def __repr__(self) -> str:
        return f"OCIStore({self.address!r})"

    # Bundles, and what was published with them.

    def put(self, key: str, data: bytes) -> None:
        """Create a bundle, or what is known of it; see `Store.put`."""
        self.push(key, data)
        self.tag(key)

    def push(self, key: str, data: bytes, facts: str = "") -> None:
        """Write what `put` does, but for the tag of a bundle, of which an index would list ``facts``."""
        place = self._place(key)
        bundle = _Place(place.repository, place.tag, place.file)
        there = None
        with suppress(MissingStoreError):  # many hide what is not there yet
            there = self._manifests.get(bundle) or self._read(bundle)
        if place.end == "":
            if there is None:
                self._registry.upload(place.repository, data)
                manifest = manifests.bundle(key, (Digest.of(data), len(data)), facts)
                self._registry.write_manifest(place.repository, Digest.of(manifest), manifest)
                self._untagged[bundle], there = manifest, Manifest.parse(manifest, what=key)
            self._manifests[bundle] = there
            check_same(self._shown(place), there.layer.digest, Digest.of(data))
        elif there is None:
            raise NotFoundError(Problem("the bundle that it belongs to is not there", file=key, hint="publish again"))
        elif place.end == CHECKSUM:
            check_same(self._shown(place), Digest.of(_line(there, place)), Digest.of(data))
        elif (before := self._beside(place, there)) and before.annotations.get(TITLE) == place.file + place.end:
            check_same(self._shown(place), before.layer.digest, Digest.of(data))
        else:
            self._registry.upload(place.repository, data)
            self._refer(place, there, manifests.referrer(place.end, place.file + place.end, data, there.own))

    def tag(self, key: str) -> None:
        """Publish a bundle that was pushed, unless somebody else was faster."""
        place = self._place(key)
        manifest = self._untagged.pop(place, None)
        if manifest is None:
            return
        with suppress(MissingStoreError):
            if there := self._read(place):
                check_same(self._shown(place), there.own.digest, Digest.of(manifest))
        self._registry.write_manifest(place.repository, place.tag, manifest)
        there = self._read(place)
        if there is None:
            raise UnavailableError(Problem("was written, and is not there", file=self._shown(place), hint="run again"))
        check_same(self._shown(place), there.layer.digest, self._manifests[place].layer.digest)

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`. Raises `IntegrityError` for bytes without the right digest."""
        place, found = self._find(key)
        if place.end == CHECKSUM:
            return _line(found, place)
        if found.layer.size > limit:
            raise too_long(self._shown(place), limit)
        return self._registry.blob(place.repository, found.layer)

    def read(self, key: str, *, offset: int = 0) -> Iterator[bytes]:
        """Yield an object's bytes; see `Store.read`."""
        place, found = self._find(key)
        yield from self._registry.pieces(place.repository, found.layer, offset)

    def list(self, prefix: str) -> Sequence[str]:
        """Return the keys that begin with ``prefix``: those of all packages that the index has."""
        names = [name for name in self.names if not prefix or f"/{name}.tar.gz".startswith(prefix[prefix.find("/") :])]
        keys = [f"{version}/{name}.tar.gz" for name in names for version in self.versions(name)]
        check_listed(len(keys), self.address)
        return sorted(self.files([key for key in keys if key.startswith(prefix)]))

    def files(self, bundles: Collection[str]) -> set[str]:
        """Return which of these bundles are there, and what was published with each."""
        return {key for keys in parallel.each(self._files, list(bundles), _AT_ONCE) for key in keys}

    def _files(self, bundle: str) -> Sequence[str]:
        place = self._place(bundle)
        with suppress(MissingStoreError):
            if (there := self._read(place)) and there.type != manifests.REMOVED_TYPE:
                types = {kind for kind, _ in self._refer_to(place, there)}
                return [bundle, bundle + CHECKSUM, *(bundle + end for end in REFERRERS if REFERRERS[end][0] in types)]
        return []

    def remove(self, key: str, *, is_published: bool = False) -> bool:
        """Remove the bytes of a bundle that `bury` marked as removed; return whether the registry did.

        What refers to it goes with it, where the registry deletes.
        """
        if not is_published:
            raise InputError(f"{key!r} is published, and never removed")
        place = self._place(key)
        there = self._manifest(place)
        former = there.annotations.get(FORMER) if there and there.type == manifests.REMOVED_TYPE else None
        if place.end or former is None:
            return True
        digest = Digest.parse(former)
        known = [each.digest for each in self._registry.referrers(place.repository, digest)]
        done = [self._registry.delete(place.repository, each) for each in (*known, digest)]
        return all(done)

    def older(self, prefix: str, seconds: float) -> Sequence[str]:  # noqa: ARG002  # as `Store` has it
        """Return no keys: nothing is left behind, and a registry does not say when it was written."""
        return ()

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:  # noqa: ARG002  # as `Store` has it
        """Refuse: nothing in a registry is replaced."""
        self._place(key)
        raise InputError(f"{key!r} is published, and never replaced")

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
            manifest = manifests.note(manifests.MARK_TYPE, {})
            self._registry.write_manifest(self._address.repository(INDEX), tag, manifest)
            with suppress(MissingStoreError):
                self._marks.add(tag)

    def versions(self, name: str) -> dict[str, bool]:
        """Return what may be versions of a package, tags that are spelled so; and whether any of them may be yanked."""
        tags = self._registry.tags(self._address.repository(name))
        if not tags:
            self._check_there()
        return {each: _YANKED in tags for each in map(version_of, tags) if reference.is_version(each)}

    def version(self, name: str, version: str, *, may_be_yanked: bool = True) -> IndexEntry | None:
        """Return what is there under a version, None for what packyard did not write under that tag."""
        place = self._place(bundle_key(name, version))
        there = self._manifest(place)
        facts = there.annotations.get(FACTS) if there else None
        if there is None or facts is None:
            return None
        what = self._shown(place)
        entry = record.parse_any(facts.encode(), lambda fields: IndexEntry.parse(fields.rest()), file=what)
        if (entry.name, entry.version) != (name, version):  # a tag of somebody's own beside that of the version
            return None
        if there.type == manifests.REMOVED_TYPE:
            return replace(entry, removed=there.annotations.get(REASON, "no reason is given"))
        reasons = self._of_type(place, there, manifests.YANKED_TYPE) if may_be_yanked else []
        return replace(entry, yanked=next((each.annotations.get(REASON, "") for each in reasons), ""))

    def yank(self, bundle: str, reason: str) -> None:
        """Say of a bundle that nobody should use it any more, and why."""
        place, there = self._find(bundle)
        note = manifests.note(manifests.YANKED_TYPE, {REASON: reason}, there.own)
        if self._registry.manifest(place.repository, _YANKED) is None:  # first, as who crashes writes the rest later
            self._registry.write_manifest(place.repository, _YANKED, note)
        if not self._of_type(place, there, manifests.YANKED_TYPE):
            self._refer(place, there, note)

    def bury(self, bundle: str, reason: str) -> None:
        """Put an artifact in place of a bundle that says that it was removed, and why; `remove` then removes its bytes.

        A registry that changes no tags lets it be deleted first, or refuses.
        """
        place, there = self._find(bundle)
        about = {REASON: reason, FORMER: there.own.digest, FACTS: there.annotations.get(FACTS, "")}
        self._registry.write_manifest(place.repository, place.tag, manifests.note(manifests.REMOVED_TYPE, about))
        self._manifests.pop(place, None)

    # Manifests.

    def _find(self, key: str) -> tuple[_Place, Manifest]:
        """Return what has the bytes of a key; for a checksum that is the bundle."""
        place = self._place(key)
        there = self._bundle(place)
        found = there if place.end in ("", CHECKSUM) else self._beside(place, there)
        if found is None:
            raise NotFoundError(Problem("not found", file=self._shown(place)))
        return place, found

    def _bundle(self, place: _Place) -> Manifest:
        there = self._manifest(place)
        if there is None or there.type == manifests.REMOVED_TYPE:
            self._check_there()
            raise NotFoundError(Problem("not found", file=self._shown(place)))
        return there

    def _check_there(self) -> None:
        if not self._registry.is_there:
            raise MissingStoreError(Problem("is no registry", file=self.address, hint="check the address"))

    def _manifest(self, place: _Place) -> Manifest | None:
        """Return the manifest of a bundle, as it was read before."""
        bundle = _Place(place.repository, place.tag, place.file)
        if bundle not in self._manifests and (read := self._read(bundle)):
            self._manifests[bundle] = read
        return self._manifests.get(bundle)

    def _read(self, place: _Place) -> Manifest | None:
        data = self._registry.manifest(place.repository, place.tag)
        return None if data is None else Manifest.parse(data, what=self._shown(place))

    def _beside(self, place: _Place, there: Manifest) -> Manifest | None:
        """Return what refers to a bundle and has the type of an end; what we wrote goes before what others did."""
        found = self._of_type(place, there, REFERRERS[place.end][0]) if place.end in REFERRERS else []
        own = (each for each in found if each.annotations.get(TITLE) == place.file + place.end)
        return next(own, next(iter(found), None))

    def _of_type(self, place: _Place, there: Manifest, kind: str) -> Sequence[Manifest]:
        own = [each for each_kind, each in self._refer_to(place, there) if each_kind == kind]
        read = (self._registry.manifest(place.repository, each.digest) for each in own)
        return [Manifest.parse(data, what=self._shown(place)) for data in read if data]

    def _refer_to(self, place: _Place, there: Manifest) -> Sequence[tuple[str, Descriptor]]:
        """Return what refers to a bundle, each with its type; some registries list other types, or none."""
        subject = there.own.digest
        if subject not in self._referrers:
            listed = self._registry.referrers(place.repository, subject)[:_MOST]
            self._referrers[subject] = [(self._type(place, each), each) for each in listed]
        return self._referrers[subject]

    def _type(self, place: _Place, listed: Descriptor) -> str:
        kind = listed.extra.get("artifactType")
        if isinstance(kind, str) and kind != manifests.EMPTY_TYPE:
            return kind
        data = self._registry.manifest(place.repository, listed.digest)
        return str(manifests.parse_json(data, what=self._shown(place)).get("artifactType")) if data else ""

    def _refer(self, place: _Place, subject: Manifest, data: bytes) -> None:
        self._registry.refer(place.repository, subject.own.digest, data)
        self._referrers.pop(subject.own.digest, None)

    def _place(self, key: str) -> _Place:
        check_key(key)
        match = _BUNDLE.fullmatch(key)
        if match is None or match[2] == INDEX or match[3] not in ("", CHECKSUM, *REFERRERS):
            problem = Problem(f"a registry has no place for {key!r}", hint="it has bundles, and what is known of them")
            raise InputError(problem)
        return _Place(self._address.repository(match[2]), tag_of(match[1]), f"{match[2]}.tar.gz", match[3])

    def _shown(self, place: _Place) -> str:
        return self._registry.place(place.repository, place.tag) + (f" ({place.end})" if place.end else "")


def _line(bundle: Manifest, place: _Place) -> bytes:
    """Return the checksum file of a bundle, which the digest of its layer says."""
    return f"{bundle.layer.digest.hex}  {place.file}\n".encode()
