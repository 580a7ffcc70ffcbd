"""Promoting: publishing in one channel what another one has, the same bytes with all that is known of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from packyard.core.bundle.reference import Reference
from packyard.core.errors import ConflictError, InputError, Problem
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching.fetch import Fetching, keep
from packyard.sharing.fetching.verify import Proof, verify_listed
from packyard.sharing.index import access
from packyard.sharing.index.head import Memory
from packyard.sharing.index.index import Index
from packyard.sharing.publishing.publish import Status, publish
from packyard.sharing.stores import Store, get_or_none
from packyard.sharing.trust import provenance, sbom
from packyard.sharing.trust.keys import NOBODY, SigningKey, Trust


def promote(
    source: Store,
    target: Store,
    texts: Iterable[str],
    *,
    keys: Sequence[SigningKey] = (),
    how: Fetching | None = None,
    trusted: Trust = NOBODY,
    memory: Memory | None = None,
    tell: Callable[[Proof], object] = lambda _: None,
) -> list[tuple[IndexEntry, Status]]:
    """Publish ``NAME@VERSION`` of one channel in another, and return what `publish` does.

    ``how`` is how to read the source. The provenance and the SBOM come with it; they stay signed by whom they are. What
    is yanked is refused. ``tell`` gets what the source channel proves about each file that is now in the target.
    """
    how = how or Fetching()
    listed = access.read(source, how.trusted, how.memory)
    source_trust = how.trusted.without(listed.head.revoked)
    entries = {str(entry): entry for entry in (_entry(listed, text) for text in texts)}

    def attest(published: IndexEntry) -> Mapping[str, bytes]:
        """Return what the source knows of the very file that is published."""
        if not published.is_same_file(entries[str(published)]):
            return {}
        found = known(source, published, source_trust)
        attested = found.get(provenance.key(published.name, published.version))
        proof = verify_listed(source, listed.head, published, published, source_trust, attested=attested)
        proofs[str(published)] = proof
        return found

    proofs: dict[str, Proof] = {}
    with TemporaryDirectory(prefix="packyard-") as folder:
        bundles = [keep(source, entry, Path(folder), how)[0] for entry in entries.values()]
        done = publish(target, bundles, attest=attest, keys=keys, trusted=trusted, memory=memory)
    for entry, _ in done:
        if proof := proofs.get(str(entry)):
            tell(proof)
    return done


def _entry(listed: Index, text: str) -> IndexEntry:
    asked = Reference.parse(text)
    if asked.version is None:
        hint = f"write {asked.name}@VERSION: what is promoted is said exactly"
        raise InputError(Problem(f"{text[:80]!r} does not say which version", hint=hint))
    entry = listed.named(asked.name).get(asked.version)
    if entry.yanked:
        raise ConflictError(Problem(f"{entry} is yanked: {entry.yanked}", hint="promote another version"))
    return entry


def known(source: Store, entry: IndexEntry, trusted: Trust) -> Mapping[str, bytes]:
    """Return the SBOM and the provenance, which has to be about this file."""
    described = sbom.key(entry.name, entry.version)
    proof = provenance.check_beside(source, entry, trusted)
    found = {
        described: get_or_none(source, described, limit=provenance.LIMIT),
        provenance.key(entry.name, entry.version): proof,
    }
    return {key: data for key, data in found.items() if data is not None}
