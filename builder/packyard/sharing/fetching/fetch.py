"""Fetching: from the name that a user asks for to a bundle that has the digest which the channel lists.

Digests do not prove that the channel itself is honest: signatures do. All of that is verified before anything is
unpacked. The file is what is listed, or an error. What could not be proved about it is no error: its `Proof` says so.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.lock import Pin
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem, UnavailableError
from packyard.core.work.cache import Cache
from packyard.sharing.entry import SBOM, IndexEntry
from packyard.sharing.index import access
from packyard.sharing.index.access import Memory, OlderError
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import NO_VERSIONS, Package, choose
from packyard.sharing.stores.store import NotFoundError, Store, TooLongError, pointing_to_fsck
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY, Trust
from packyard.sharing.trust.provenance import Attested, Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A bundle whose files all have the digests of its packyard.json, and what else is proved about it.

    ``signers`` are the trusted keys that signed its provenance, ``listed_by`` those that signed the index of a channel
    that lists it, which has the number ``index``; ``claimants`` are the ids of keys that are said to have. ``listed``
    says whether a channel lists it, and ``trusted`` whom the user trusts there.
    """

    bundle: IndexEntry
    provenance: Provenance | None = None
    signers: tuple[str, ...] = ()
    claimants: tuple[str, ...] = ()
    listed_by: tuple[str, ...] = ()
    listed: bool = False
    has_sbom: bool = False
    trusted: Trust = NOBODY
    index: int | None = None

    @property
    def vouching(self) -> Sequence[str]:
        """The ids of those whom the user trusts and who vouch for these bytes."""
        return tuple(dict.fromkeys([*self.signers, *self.listed_by]))

    @property
    def signed(self) -> Sequence[str]:
        """Lines that say who signed it, as far as the user can tell."""
        return self.trusted.signed(self.vouching, self.claimants)

    def describe(self) -> Iterator[str]:
        """Yield lines that say what was proved, and what could not be."""
        listed = ", and the channel lists it" if self.listed else ""
        yield f"{self.bundle.name} {self.bundle.version}: its files are intact{listed}"
        yield from self.signed
        if self.provenance is None:
            yield "nothing says how it was built: it has no provenance"
        else:
            yield _origin(self.provenance) + ("" if self.signers else " (no signature proves that)")
        if self.has_sbom:
            yield "the SBOM beside it is the one that its provenance names"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A bundle, its entry and why it was chosen, what is proved about it, its package, and whether it was kept here.

    In a registry the versions of the package are read when somebody asks for them. Of a bundle that is in no channel
    there are only bundle and entry.
    """

    bundle: Bundle
    entry: IndexEntry
    why: str = ""
    proof: Proof | None = None
    package: Package = NO_VERSIONS
    is_kept: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """How to fetch: whom the user trusts, the index that is remembered, the cache.

    ``warn`` hears what the user has to know.
    """

    trusted: Trust = NOBODY
    memory: Memory | None = None
    cache: Cache | None = None
    warn: Callable[[str], object] = lambda _: None


def fetch(store: Store, reference: Reference, how: Fetching | None = None, *, pin: Pin | None = None) -> Fetched:
    """Return the bundle that is asked for, verified; see `Fetched`.

    With a pin, any other bundle than that one is refused, and that one is taken though it is yanked.

    Raises `InputError` for what the channel does not have, and `IntegrityError`, naming expected and found, for bytes
    that are not what it lists.
    """
    how = how or Fetching()
    with pointing_to_fsck(store):
        index = _index(store, reference, how, is_pinned=pin is not None or reference.version is not None)
        package = index.named(reference.name)
        entry, why = choose(package, reference)
        if pin and not pin.admits(entry.tar, entry.digest):
            listed = f"the channel has tar {entry.tar}, file {entry.digest}"
            problem = f"another one is pinned: tar {pin.tar}, file {pin.digest}; {listed}"
            hint = "ask whoever publishes there: a published version never changes"
            raise IntegrityError(Problem(problem, file=str(entry), hint=hint))
        try:
            data, is_kept = _file(store, entry, how)
            proof = verify(entry, provenance.get(store, entry), how.trusted, what=str(entry), index=index)
        except (NotFoundError, IntegrityError):
            latest = access.read(store, how.trusted, how.memory)
            latest.named(reference.name).get(entry.version)  # removed meanwhile
            raise
    why = "the version that is pinned" if pin else why
    return Fetched(bundle=opened(entry, data), entry=entry, why=why, proof=proof, package=package, is_kept=is_kept)


def whole(store: Store, entry: IndexEntry, how: Fetching) -> bytes:
    """Return the file of a listed bundle; all of it is verified, but for who made it."""
    with pointing_to_fsck(store):
        return opened(entry, _file(store, entry, how)[0]).data


def _index(store: Store, reference: Reference, how: Fetching, *, is_pinned: bool) -> Index:
    """Return the index; for what is pinned, the one that is remembered where the channel shows an older one.

    Where the record that it names is missing as well, the older one says of a version what it always says.
    """
    try:
        return access.read(store, how.trusted, how.memory)
    except OlderError as error:
        remembered = how.memory.read(store, how.trusted) if how.memory and is_pinned else None
        if remembered is None:
            raise
        how.warn(f"{error}\nwhat it listed before is used")
        with suppress(IntegrityError):
            remembered.package(reference.name)
            return remembered
        older = access.read(store, how.trusted)
        return older if older.channel == remembered.channel else remembered


def _file(store: Store, entry: IndexEntry, how: Fetching) -> tuple[bytes, bool]:
    """Return the file of a listed bundle, which has the listed digest, and whether it was kept.

    Of what is transferred it reads no more than the index says.
    """
    data = how.cache.get(entry.digest) if how.cache else None
    if data is not None:
        return data, True
    if entry.size > LIMITS.packed_size:
        problem = f"it is listed with {entry.size} bytes; a bundle has at most {LIMITS.packed_size}"
        raise IntegrityError(f"{entry}: {problem}")
    try:
        data = store.get(entry.key, limit=entry.size)
    except TooLongError as error:
        raise IntegrityError(Problem(f"expected {entry.size} bytes, found more", file=str(entry))) from error
    entry.digest.verify(data, what=str(entry))
    if how.cache:
        with suppress(UnavailableError):  # a cache that cannot be written is no reason to fail
            how.cache.put(entry.digest, data)
            how.cache.prune()
    return data, False


def opened(entry: IndexEntry, data: bytes) -> Bundle:
    """Read the file of a bundle, and refuse another one than the one that is listed."""
    bundle = Bundle.open(data, what=str(entry))
    actual = f"{bundle.name}@{bundle.version} with the tar {bundle.tar}"
    if actual != (expected := f"{entry} with the tar {entry.tar}"):
        raise IntegrityError(Problem(f"expected {expected}, found {actual}", file=str(entry)))
    return bundle


def verify(bundle: IndexEntry, attested: Attested, trusted: Trust, *, what: str, index: Index | None = None) -> Proof:
    """Verify ``attested``, the provenance of a bundle, as far as there is one; messages call the bundle ``what``.

    ``index``, which was read with the same trust, is the one in which the caller found this very file. Where the user
    trusts a key, one must have signed the index or the provenance.
    """
    listed_by, claimants = (index.signers, index.claimants) if index else ((), ())
    statement, signed = provenance.check(attested, bundle, trusted.optional() if listed_by else trusted, what=what)
    return Proof(
        bundle=bundle,
        provenance=statement,
        signers=signed.signers,
        claimants=signed.claimants or claimants,
        listed_by=listed_by,
        listed=index is not None,
        trusted=trusted,
        index=index.number if index else None,
    )


def with_sbom(proof: Proof, described: bytes, *, what: str) -> Proof:
    """Verify that this is the SBOM that the provenance names."""
    expected = proof.provenance.sbom if proof.provenance else None
    if expected != Digest.of(described):
        problem = f"is not the SBOM that the provenance names: expected {expected or 'none'}"
        raise IntegrityError(Problem(f"{problem}, found {Digest.of(described)}", file=f"{what}{SBOM}"))
    return replace(proof, has_sbom=True)


def _origin(statement: Provenance) -> str:
    by = f"built by packyard {statement.packyard}"
    if not statement.commit:
        return f"{by} from sources in no git repository"
    changed = " with changes that are not committed" if statement.dirty else ""
    return f"{by} from commit {statement.commit[:12]}{changed}"
