"""The store whose keys are artifacts in the repositories below a path of a registry.

A registry lets a tag be overwritten, and knows no condition: every write looks before, and reads back after. So of two
that write at the very same moment both may think that they were first. A shard or record of the index is asked for by
its digest, without its manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem, UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.sharing.stores.http import WAITS
from packyard.sharing.stores.oci import artifact, referrers, spelling
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.artifact import Artifact, Descriptor
from packyard.sharing.stores.oci.registry import Registry
from packyard.sharing.stores.oci.spelling import Place
from packyard.sharing.stores.store import (
    PATIENCE,
    MissingStoreError,
    NotFoundError,
    check_expected,
    check_key,
    check_listed,
    check_removable,
    check_same,
    check_swapped,
    digest_in,
    too_long,
)

_AT_ONCE = 8


class OCIStore:
    """The store at ``oci://host/path``; see `Address`. ``patience``: the seconds that a request may take."""

    #: Nothing: registries have no conditional writes.
    is_conditional = False

    def __init__(self, address: str | Address, *, patience: float = PATIENCE, waits: Sequence[float] = WAITS) -> None:
        self._address = Address.parse(address) if isinstance(address, str) else address
        self.address = str(self._address)
        self._registry = Registry(self._address, patience, waits)
        self._known: set[str] = set()  # what was found, or made, to be there
        self._last: tuple[str, Descriptor | None] = ("", None)  # the bundle that something was last published with

    def __repr__(self) -> str:
        return f"OCIStore({self.address!r})"

    def put(self, key: str, data: bytes) -> None:
        """Create an object; see `Store.put`."""
        place = _place(key)
        if (named := digest_in(key)) and named != Digest.of(data):
            raise IntegrityError(Problem(f"is to have {named}, and has {Digest.of(data)}", file=key))
        there = self._artifact(place) or self._write(key, place, data, None)
        check_same(self._shown(place), there.layer.digest, Digest.of(data))

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`. Raises `IntegrityError` for bytes without the right digest."""
        place = _place(key)
        if named := digest_in(key):
            return self._blob(place, named, limit)
        return self._content(place, self._object(key, place).layer, limit)

    def read(self, key: str, *, offset: int = 0) -> Iterator[bytes]:
        """Yield an object's bytes; see `Store.read`."""
        place = _place(key)
        yield from self._pieces(place, self._object(key, place).layer, offset)

    def _pieces(self, place: Place, layer: Descriptor, offset: int) -> Iterator[bytes]:
        if offset >= layer.size:
            return
        for piece in self._registry.pieces(self._repository(place), layer.digest, offset, layer.size):
            offset += len(piece)
            if offset > layer.size:
                break
            yield piece
        if offset != layer.size:
            arrived = "more" if offset > layer.size else offset
            raise IntegrityError(Problem(f"expected {layer.size} bytes, found {arrived}", file=self._shown(place)))

    def list(self, prefix: str) -> Sequence[str]:
        """Return the keys that begin with ``prefix``; see `Store.list`."""
        if directory := prefix.rpartition("/")[0]:
            check_key(directory)
        tags = self._registry.tags(self._address.repository(spelling.INDEX))
        places = [Place(repository=spelling.INDEX, tag=tag) for tag in tags]
        if not prefix.startswith("index/"):
            names = [name for tag in tags if (name := spelling.named(tag)) and _may_begin(name, prefix)]
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                for of_name in pool.map(self._places, names):
                    places += of_name
                    check_listed(len(places), self.address)
        may_be_gone = spelling.REMOVED in tags
        keys = ((key, place) for place in places if (key := self._key(place)) and key.startswith(prefix))
        return sorted(key for key, place in keys if not may_be_gone or self._artifact(place))

    def older(self, prefix: str, seconds: float) -> Sequence[str]:  # noqa: ARG002  # as `Store` has it
        """Return no keys: a registry does not say when an object was written."""
        return ()

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        """Replace an object; see `Store.swap`."""
        place = _place(key)
        there = self._artifact(place)
        check_expected(self._shown(place), there.layer.digest if there else None, expected)
        written = self._write(key, place, data, there).layer.digest
        check_swapped(self._shown(place), written, Digest.of(data), expected)

    def remove(self, key: str, *, is_published: bool = False) -> bool:
        """Remove an object; see `Store.remove`. Where nothing can be deleted, it is said to be removed."""
        check_removable(key, is_published=is_published)
        place = _place(key)
        there = self._artifact(place)
        if there is None:
            return True
        repository = self._repository(place)
        is_gone = is_published and self._registry.delete(repository, there.manifest.digest)
        if (not is_published or self._artifact(place)) and not self._registry.delete(repository, place.tag):
            self._mark(spelling.REMOVED)
            self._registry.write_manifest(repository, place.tag, artifact.removed())
            is_gone = False
        if is_published and place.kind == "":
            self._registry.delete(repository, there.manifest.digest.replace(":", "-"))
        return is_gone or not is_published

    def at(self, name: str, reference: str) -> tuple[Descriptor, Callable[[int], Iterator[bytes]]]:
        """Return the layer of an artifact by its tag or the digest of its manifest, and what reads it from an offset.

        The manifest is verified, the bytes are not. Errors as of `read`, and `IntegrityError` for what is no bundle.
        """
        place = Place(repository=name, tag=reference)
        layer = self._found(place).layer
        return layer, partial(self._pieces, place, layer)

    def published_with(self, name: str, reference: str, end: str, *, limit: int = LIMIT) -> bytes | None:
        """Return what was published with a bundle, by the tag or the digest of its manifest; None if there is nothing.

        ``end`` is that of its key, for example ``.intoto.json``. Other errors as of `get`.
        """
        place = Place(repository=name, tag=reference, kind=end)
        with suppress(NotFoundError):
            if key := spelling.key(name, reference):
                return self.get(key + end, limit=limit)
            if referrer := self._referrer(place, self._found(place).manifest.digest):
                return self._content(place, referrer.layer, limit)
        return None

    def _object(self, key: str, place: Place) -> Artifact:
        """Return the object of a key, also where only its bundle says that it is there."""
        there = self._artifact(place)
        if there is None and (subject := self._subject(key, place)):
            there = self._referrer(place, subject.digest)
        if there is None:
            raise self._missing(place)
        return there

    def _referrer(self, place: Place, subject: Digest) -> Artifact | None:
        """Return what refers to a manifest, and is of the place's kind.

        Tools that copy artifacts with all that refers to them, as ``oras copy --recursive`` does, copy no tags.
        """
        return referrers.find(self._registry, self._repository(place), subject, artifact.type_of(place.kind))

    def _artifact(self, place: Place) -> Artifact | None:
        """Return what is there, or None."""
        data = self._registry.manifest(self._repository(place), place.tag)
        there = None if data is None else artifact.parse(data, what=self._shown(place))
        return None if there is None or there.is_removed else there

    def _found(self, place: Place) -> Artifact:
        there = self._artifact(place)
        if there is None:
            raise self._missing(place)
        return there

    def _missing(self, place: Place) -> NotFoundError | MissingStoreError:
        if self.address in self._known or self._registry.is_there():
            self._known.add(self.address)
            return NotFoundError(Problem("not found", file=self._shown(place)))
        return MissingStoreError(Problem("is no registry", file=self.address, hint="check the address"))

    def _blob(self, place: Place, digest: Digest, limit: int) -> bytes:
        try:
            return self._registry.blob(self._repository(place), digest, limit=limit)
        except NotFoundError as error:
            raise self._missing(place) from error

    def _content(self, place: Place, layer: Descriptor, limit: int) -> bytes:
        if layer.size > limit:
            raise too_long(self._shown(place), limit)
        data = self._blob(place, layer.digest, layer.size)
        if len(data) != layer.size:
            raise IntegrityError(Problem(f"expected {layer.size} bytes, found {len(data)}", file=self._shown(place)))
        return data

    def _write(self, key: str, place: Place, data: bytes, before: Artifact | None) -> Artifact:
        """Write an object where something, or nothing, was before, and return what is there afterwards.

        Its tag is written last, so that what was interrupted is done again as a whole.
        """
        repository = self._repository(place)
        subject = self._subject(key, place)
        manifest = artifact.compose(key, place, Digest.of(data), len(data), subject)
        if place.repository != spelling.INDEX and place.kind == "":
            self._mark(spelling.name_tag(place.repository))
        self._prepare(repository)
        self._registry.upload(repository, data)
        if subject:
            answer = self._registry.write_manifest(repository, Digest.of(manifest), manifest)
            if "oci-subject" not in answer.headers:
                referrers.add(self._registry, repository, subject.digest, artifact.listed(manifest))
        answer = self._registry.put_manifest(repository, place.tag, manifest, artifact.MANIFEST_TYPE)
        there = self._artifact(place)
        if answer.status != 201 and (there is None or there == before):
            raise self._registry.refusal(repository, place.tag, answer)
        if there is None:
            raise UnavailableError(Problem("was written, and is not there", file=self._shown(place), hint="run again"))
        return there

    def _subject(self, key: str, place: Place) -> Descriptor | None:
        """Return the manifest of the bundle that something is published with, if it is there."""
        if not place.kind:
            return None
        bundle = spelling.bundle_of(key)
        last, subject = self._last
        if last != bundle or subject is None:
            there = self._artifact(_place(bundle))
            subject = there.manifest if there else None
            self._last = bundle, subject
        return subject

    def _prepare(self, repository: str) -> None:
        """Upload the configuration that all artifacts of a repository share."""
        if repository not in self._known:
            self._registry.upload(repository, artifact.EMPTY)
            self._known.add(repository)

    def _mark(self, tag: str) -> None:
        """Make sure that the repository of the index has a tag that says something by being there."""
        repository = self._address.repository(spelling.INDEX)
        mark = self._registry.place(repository, tag)
        if mark not in self._known:
            if self._registry.manifest(repository, tag) is None:
                self._prepare(repository)
                self._registry.write_manifest(repository, tag, artifact.marker(tag))
            self._known.add(mark)

    def _places(self, name: str) -> Sequence[Place]:
        return [Place(repository=name, tag=tag) for tag in self._registry.tags(self._address.repository(name))]

    def _key(self, place: Place) -> str | None:
        """Return the key of a tag, or None for one that is not ours."""
        if spelling.is_long(place.tag):
            there = self._artifact(place)
            key = there.key if there and _is_key(there.key) and spelling.place(there.key) == place else None
        else:
            key = spelling.key(place.repository, place.tag)
        return key if key and _is_key(key) else None

    def _repository(self, place: Place) -> str:
        return self._address.repository(place.repository)

    def _shown(self, place: Place) -> str:
        return self._registry.place(self._repository(place), place.tag)


def _place(key: str) -> Place:
    check_key(key)
    return spelling.place(key)


def _is_key(text: str) -> bool:
    try:
        check_key(text)
    except InputError:
        return False
    return True


def _may_begin(name: str, prefix: str) -> bool:
    """Return whether keys of a bundle may begin so."""
    _, slash, rest = prefix.partition("/")
    return not slash or f"{name}.tar.gz".startswith(rest) or rest.startswith(f"{name}.tar.gz")
