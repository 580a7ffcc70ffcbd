"""Provenance: what a bundle was made from, by what; an in-toto statement in the words of SLSA.

    NAME.tar.gz.sigstore.json    the signed statement, as a Sigstore bundle
    NAME.tar.gz.intoto.json      the statement alone, of a bundle that nobody signed

    subject                 the .tar.gz by its SHA-256, and the tar in it, which identifies the bundle; behind it the
                            manifest that the bundle has in any registry, which cosign, Flux and others look for
    resolvedDependencies    the git commit of the sources, every file that was read, the versions of libraries
    byproducts              the SBOM

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md, https://slsa.dev/spec/v1.0/provenance. It says
nothing of when and where: the same sources, packyard and libraries give the same bytes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache, partial
from zlib import ZLIB_RUNTIME_VERSION

from packyard import __version__
from packyard.core.bundle import record, reference
from packyard.core.bundle.record import FaultError, Record, checked, list_of, text
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem
from packyard.core.files.git import Revision
from packyard.sharing.entry import PROVENANCE, SBOM, SIGSTORE, IndexEntry
from packyard.sharing.stores.oci import manifest as manifests
from packyard.sharing.stores.store import DeniedError, Store, get_or_none
from packyard.sharing.trust import envelope
from packyard.sharing.trust.envelope import Opened
from packyard.sharing.trust.keyless import Signing
from packyard.sharing.trust.keys import Trust

#: The size of the largest statement, signed or not, in bytes.
LIMIT = 8 * 1024 * 1024
#: How the keys of both files end; where there are both, the first one counts.
ENDS = (SIGSTORE, PROVENANCE)
#: How the key of the file with a statement ends, and the file; None where there is none.
Attested = tuple[str, bytes] | None

STATEMENT, _PREDICATE = "https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"
_BUILD, _BUILDER = "urn:packyard:build:v1", "urn:packyard"
_SOURCE = "source"
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_LIBRARIES = ("PyYAML", "Jinja2", "MarkupSafe")  # they have a say in the bytes of bundles


@dataclass(frozen=True, slots=True)
class Statement:
    """What is to be said of a bundle that was made here, by this packyard.

    ``inputs`` are the files that were read, below the root of the sources, which have a git ``revision`` and are dirty
    where one of these files differed from it.
    """

    bundle: IndexEntry
    inputs: Mapping[str, Digest]
    revision: Revision | None
    _: KW_ONLY
    sbom: bytes | None = None

    def payload(self) -> bytes:
        """Return what signatures sign."""
        name, version = self.bundle.name, self.bundle.version
        file = {"name": f"{name}.tar.gz", "digest": _sha256(self.bundle.digest)}
        manifest = {"name": name, "digest": _sha256(manifests.bundle(self.bundle).own.digest)}
        subjects = [
            {**file, "annotations": {"tar": self.bundle.tar}},
            {**manifest, "mediaType": manifests.MANIFEST_TYPE},
        ]
        definition = {
            "buildType": _BUILD,
            "externalParameters": {"name": name, "version": version},
            "resolvedDependencies": [*self._dependencies()],
        }
        details: dict[str, object] = {"builder": {"id": _BUILDER, "version": {"packyard": __version__}}}
        if self.sbom is not None:
            details["byproducts"] = [{"name": f"{name}.tar.gz{SBOM}", "digest": _sha256(Digest.of(self.sbom))}]
        predicate = {"buildDefinition": definition, "runDetails": details}
        about = {"_type": STATEMENT, "subject": subjects, "predicateType": _PREDICATE}
        return record.to_bytes({**about, "predicate": predicate})

    def _dependencies(self) -> Iterator[dict[str, object]]:
        if at := self.revision:
            uri = {"uri": f"{at.url}@{at.commit}"} if at.url else {}
            notes = {"dirty": at.is_dirty(self.inputs), "folder": at.folder}
            yield {"name": _SOURCE, **uri, "digest": {"gitCommit": at.commit}, "annotations": notes}
        for path, digest in sorted(self.inputs.items()):
            yield {"name": path, "digest": _sha256(digest)}
        for name, version in sorted(_installed().items()):
            kind = "pypi" if name in _LIBRARIES else "generic"
            yield {"name": name, "uri": f"pkg:{kind}/{name.lower()}@{version}"}

    def to_bytes(self, by: Signing | None = None) -> bytes:
        """Return the statement, as a Sigstore bundle where somebody signs it."""
        return envelope.sign(self.payload(), by) if by else self.payload()


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What a statement says that packyard shows of a bundle: its source, builder and SBOM.

    ``commit`` is the git commit of the sources, if they were at one; ``dirty`` says that a file differed from it.
    """

    packyard: str
    commit: str = ""
    dirty: bool = False
    sbom: Digest | None = None


def end(data: bytes) -> str:
    """Return how the key of a statement, signed or not, ends."""
    return SIGSTORE if envelope.is_bundle(data) else PROVENANCE


def get(store: Store, bundle: IndexEntry) -> Attested:
    """Return the statement beside a bundle in a channel, signed or not, or None if there is none.

    S3 denies what is missing to readers who may not list: another end may be there.
    """
    denied = None
    for end in ENDS:
        try:
            if (data := get_or_none(store, bundle.beside(end), limit=LIMIT)) is not None:
                return end, data
        except DeniedError as error:
            denied = error
    if denied:
        raise denied
    return None


def check_beside(store: Store, bundle: IndexEntry, trusted: Trust) -> Provenance | None:
    """Read the statement beside a bundle in a channel; see `check`."""
    return check(get(store, bundle), bundle, trusted, what=bundle.key)[0]


def check(attested: Attested, bundle: IndexEntry, trusted: Trust, *, what: str) -> tuple[Provenance | None, Opened]:
    """Read the statement of a bundle, if there is one, and who signed it.

    It must be about this bundle, and be there where a signature is required. Messages call the bundle ``what``.
    """
    if attested is None:
        if trusted.is_required:
            hint = f"ask its publisher; to require no signature there any more: {trusted.let_go}"
            problem = "is missing: nothing proves where the bundle is from"
            raise IntegrityError(Problem(problem, file=f"{what}{SIGSTORE}", hint=hint))
        return None, Opened(payload=b"")
    file, data = what + attested[0], attested[1]
    if len(data) > LIMIT:
        raise IntegrityError(Problem(f"is larger than {LIMIT} bytes", file=file))
    opened = envelope.open(data, trusted, file=file)
    return record.parse_any(opened.payload, partial(_read, bundle, file), file=file), opened


@cache
def _installed() -> Mapping[str, str]:
    """Return the versions of what has a say in the bytes of bundles, beside packyard; asking takes time."""
    from importlib.metadata import version as installed  # slow to import, and only needed by who builds
    from platform import python_version

    versions = {name: installed(name) for name in _LIBRARIES}
    return {**versions, "Python": python_version(), "zlib": ZLIB_RUNTIME_VERSION}


def _read(bundle: IndexEntry, file: str, fields: Record) -> Provenance:
    """Read a statement in the words of `Statement`, which must be about this bundle."""
    _expect(fields, "_type", STATEMENT)
    _expect(fields, "predicateType", _PREDICATE)
    predicate = fields.take("predicate", Record)
    definition, details = predicate.take("buildDefinition", Record), predicate.take("runDetails", Record)
    _expect(definition, "buildType", _BUILD)
    parameters, builder = definition.take("externalParameters", Record), details.take("builder", Record)
    _expect(builder, "id", _BUILDER)
    name = parameters.take("name", checked(reference.check_name))
    subjects = _named(fields, "subject", f"{name}.tar.gz")
    if not subjects:
        raise FaultError("must be one, found 0", f"subject {name}.tar.gz")
    version = parameters.take("version", checked(reference.check_version))
    tar = subjects[0].take("annotations", Record).take("tar", record.digest)
    about = f"{name}@{version}, file {_digest_of(subjects[0])}, tar {tar}"
    expected = f"{bundle.name}@{bundle.version}, file {bundle.digest}, tar {bundle.tar}"
    if about != expected:
        hint = "get the file that was published"
        raise IntegrityError(Problem(f"is about {about}, and this is {expected}", file=file, hint=hint))
    sources = _named(definition, "resolvedDependencies", _SOURCE)
    commit, dirty = _commit(sources[0]) if sources else ("", False)
    sboms = _named(details, "byproducts", f"{name}.tar.gz{SBOM}")
    return Provenance(
        packyard=builder.take("version", Record).take("packyard", text),
        commit=commit,
        dirty=dirty,
        sbom=_digest_of(sboms[0]) if sboms else None,
    )


def _named(fields: Record, key: str, name: str) -> Sequence[Record]:
    """Take what has a name in a list, which may be there once."""
    listed = fields.take(key, list_of(Record), tuple[Record, ...]())
    named = [item for item in listed if item.take("name", text, "") == name]
    if len(named) > 1:
        raise FaultError(f"must be one, found {len(named)}", f"{key} {name}")
    return named


def _commit(fields: Record) -> tuple[str, bool]:
    """Return the commit of the sources, and whether a file differed from it."""
    commit = fields.take("digest", Record).take("gitCommit", text)
    if not _COMMIT.fullmatch(commit):
        raise FaultError(f"{commit[:80]!r} is not a commit", "resolvedDependencies")
    return commit, fields.take("annotations", Record).take("dirty", record.flag)


def _expect(fields: Record, key: str, wanted: str) -> None:
    value = fields.take(key, text)
    if value != wanted:
        raise FaultError(f"must be {wanted}, found {value[:80]!r}", key)


def _digest_of(fields: Record) -> Digest:
    return fields.take("digest", Record).take("sha256", lambda value: Digest.parse(f"sha256:{text(value)}"))


def _sha256(digest: Digest) -> dict[str, str]:
    return {"sha256": digest.hex}
