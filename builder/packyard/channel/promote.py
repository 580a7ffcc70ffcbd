"""Promoting: publishing in one channel what another one has, the same bytes with all that is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from packyard.bundle.reference import Reference
from packyard.channel import index, provenance, sbom
from packyard.channel.entry import IndexEntry
from packyard.channel.fetch import get
from packyard.channel.head import Memory
from packyard.channel.keys import NOBODY, SigningKey, Trust
from packyard.channel.publish import Status, publish
from packyard.channel.stores import NotFoundError, Store
from packyard.errors import ConflictError, InputError, IntegrityError, Problem


def promote(
    source: Store,
    target: Store,
    texts: Iterable[str],
    *,
    keys: Sequence[SigningKey] = (),
    source_trust: Trust = NOBODY,
    source_memory: Memory | None = None,
    trusted: Trust = NOBODY,
    memory: Memory | None = None,
) -> list[tuple[IndexEntry, Status]]:
    """Publish ``NAME@VERSION`` of one channel in another, and return what `publish` does.

    The provenance and the SBOM come with it; they stay signed by whom they are. What is yanked is refused.
    """
    listed = index.read(source, source_trust, source_memory)
    entries = {str(entry): entry for entry in (_entry(listed, text) for text in texts)}

    def attest(published: IndexEntry) -> Mapping[str, bytes]:
        """Return what the source knows of the very file that is published."""
        is_same = published.is_same_file(entries[str(published)])
        return known(source, published, source_trust) if is_same else {}

    bundles = (get(source, entry) for entry in entries.values())
    return publish(target, bundles, attest=attest, keys=keys, trusted=trusted, memory=memory)


def _entry(listed: index.Index, text: str) -> IndexEntry:
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
    proof = provenance.key(entry.name, entry.version)
    found: dict[str, bytes] = {}
    for key in (sbom.key(entry.name, entry.version), proof):
        with suppress(NotFoundError):
            found[key] = source.get(key, limit=provenance.LIMIT)
    if proof in found:
        made, _ = provenance.open(found[proof], trusted, file=proof)
        if (made.name, made.version, made.tar, made.file) != (entry.name, entry.version, entry.tar, entry.digest):
            raise IntegrityError(Problem(f"is about another file than {entry}", file=proof))
    elif trusted.is_required:
        raise IntegrityError(Problem("is missing: nothing proves where the bundle is from", file=proof))
    return found
