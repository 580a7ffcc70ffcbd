"""What is proved about a bundle, by its digests, its provenance, and who signed that or listed it.

That its files have their digests was verified when it was opened. What is wrong is an `IntegrityError`. What could not
be proved is not an error: the `Proof` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem
from packyard.sharing.entry import SBOM, IndexEntry
from packyard.sharing.index.index import Index
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY, Trust
from packyard.sharing.trust.provenance import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A bundle whose files all have the digests of its packyard.json, and what else is proved about it.

    ``signers`` are the trusted keys that signed its provenance, ``listed_by`` those that signed the index of a channel
    that lists it, which has the number ``index``; ``others`` are the ids of keys that are said to have. ``listed`` says
    whether a channel lists it, and ``trusted`` whom the user trusts there.
    """

    bundle: IndexEntry
    provenance: Provenance | None = None
    signers: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
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
        return self.trusted.signed(self.vouching, self.others)

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


def verify_bundle(
    bundle: IndexEntry,
    attested: bytes | None,
    trusted: Trust = NOBODY,
    *,
    what: str,
    index: Index | None = None,
) -> Proof:
    """Verify the provenance of a bundle, as far as there is one; messages call the bundle ``what``.

    ``index``, which was read with the same trust, is the one in which the caller found this very file. Where the user
    trusts a key, one must have signed the index or the provenance.
    """
    listed_by, others = (index.signers, index.others) if index else ((), ())
    statement, opened = provenance.check(attested, bundle, trusted.optional() if listed_by else trusted, what=what)
    return Proof(
        bundle=bundle,
        provenance=statement,
        signers=opened.signers,
        others=opened.others or others,
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
