"""What is wrong with a release of a channel: with a bundle, and with each file beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, PackyardError, Problem
from packyard.sharing import checksum
from packyard.sharing.entry import CHECKSUM, PROVENANCE, IndexEntry
from packyard.sharing.publishing import reindex
from packyard.sharing.publishing import yank as yanks
from packyard.sharing.publishing.file_fault import BRING_BACK, NOT_SAID, REINDEX, SIGNED, FileFault, altered
from packyard.sharing.stores.store import NotFoundError, Store, TooLongError
from packyard.sharing.trust import provenance, sigstore
from packyard.sharing.trust.envelope import UnsignedError
from packyard.sharing.trust.keys import Trust

_WRITE_AGAIN = "publish the package again, which writes it"
_SIGN_AGAIN = "remove it, and publish the same sources again: packyard publish {} --version {} --to CHANNEL --key KEY"
_YANK_AGAIN = "remove it, and yank again for the same reason: packyard yank {} --reason TEXT --in CHANNEL"


def check_bundle(
    store: Store, there: frozenset[str], entry: IndexEntry, channel: str, trusted: Trust
) -> Iterable[FileFault]:
    """Compare what lies in a release with its entry; return all that is wrong, each fault once."""
    found: dict[FileFault, None] = {}
    line, said = entry.beside(CHECKSUM), None
    for key in (key for key in (entry.key, line) if key not in there):
        hint = BRING_BACK if key == entry.key else _WRITE_AGAIN
        found[FileFault(kind="missing", key=key, message=f"{entry} is listed", hint=hint)] = None
    if line in there:
        with _noting(found, store, entry):
            said = checksum.parse(store.get(line, limit=checksum.LIMIT), what=line)
    for check in (
        partial(_check_file, store, there, entry, said, trusted),
        partial(_check_yank, store, entry, channel, trusted),
    ):
        with _noting(found, store, entry):
            for fault in check():
                found[fault] = None
    for end in sigstore.ENDS:
        with _noting(found, store, entry):
            sigstore.check_beside(store, entry, trusted, ends=[end])
    with _noting(found, store, entry):
        for key, expected in _products(store, there, entry, trusted).items():
            with _noting(found, store, entry):
                _check_product(store, there, key, expected)
    return found


@contextmanager
def _noting(found: dict[FileFault, None], store: Store, entry: IndexEntry) -> Iterator[None]:
    """Note what is raised about a file of a bundle, and go on."""
    try:
        yield
    except (IntegrityError, TooLongError, NotFoundError) as error:
        found.update(dict.fromkeys(altered(store, error, _hint(error, entry))))


def _check_file(
    store: Store, there: frozenset[str], entry: IndexEntry, said: Digest | None, trusted: Trust
) -> Iterator[FileFault]:
    """Compare a bundle with its entry, with what its checksum file says, if that can be read, and with its provenance.

    Where the bundle and its checksum agree, it is the index that is wrong.
    """
    data = store.get(entry.key, limit=LIMITS.packed_size) if entry.key in there else None
    actual = entry.digest if data is None else Digest.of(data)
    if said and said != actual and entry.digest != said:
        problem = f"expected {entry.digest}, found {said}"
        hint = f"remove it, and {_WRITE_AGAIN}"
        yield FileFault(kind="altered", key=entry.beside(CHECKSUM), message=problem, hint=hint)
    if data is None:
        return
    if actual not in (said, entry.digest):
        problem = f"expected {entry.digest}, found {actual}"
        yield FileFault(kind="altered", key=entry.key, message=problem, hint=BRING_BACK)
        return
    bundle = Bundle.open(data, what=entry.key)
    reindex.check_name(bundle, entry.name, entry.version)
    has, lists = IndexEntry.of(bundle).document(), entry.document()
    described = ("description",) if entry.description else ()  # packyard 0.1.0 listed none
    for field in ("tar", "digest", "size", "useCases", "model", *described):
        if has[field] != lists[field]:
            message = f"the bundle has {_json(field, has)}; the index lists {_json(field, lists)}"
            hint = BRING_BACK if field == "tar" else REINDEX
            yield FileFault(kind="altered", key=entry.key, message=message, hint=hint)
    provenance.check_beside(store, bundle, trusted)


def _check_yank(store: Store, entry: IndexEntry, channel: str, trusted: Trust) -> Iterator[FileFault]:
    """Compare the record of what is yanked with the entry."""
    record = yanks.read(store, entry, channel, trusted)
    reason = record.reason if record else ""
    if reason != entry.yanked:
        kind, hint = ("altered", REINDEX) if reason else ("missing", "yank it again, for the same reason")
        place = yanks.key(entry.name, entry.version)
        yield FileFault(kind=kind, key=place, message=f"the index says that it is yanked: {entry.yanked}", hint=hint)


def _hint(error: PackyardError, entry: IndexEntry) -> str:
    """Say how to mend what lies beside a bundle: records, and what nobody signed, are made again."""
    is_unsigned = isinstance(error, UnsignedError)
    if any(yanks.key(entry.name, entry.version) in each.file for each in error.problems):
        again = _YANK_AGAIN.format(entry) + (SIGNED if is_unsigned else "")
        return again if entry.yanked else NOT_SAID
    return _SIGN_AGAIN.format(entry.name, entry.version) if is_unsigned else BRING_BACK


def _json(field: str, document: Mapping[str, object]) -> str:
    return f"{field} {json.dumps(document[field], ensure_ascii=False)}"


def _products(store: Store, there: frozenset[str], entry: IndexEntry, trusted: Trust) -> Mapping[str, Digest | None]:
    """Return what a provenance names beside it: SBOMs with their digests, and what cosign reads."""
    provenance_key = entry.beside(PROVENANCE)
    if provenance_key not in there:
        return {}
    statement, opened = provenance.open(store.get(provenance_key, limit=provenance.LIMIT), trusted, file=provenance_key)
    is_signed = statement.manifest and (opened.signers or opened.others)
    for_cosign = map(entry.beside, sigstore.ENDS if is_signed else ())
    return {**dict.fromkeys(for_cosign), **statement.products(entry)}


def _check_product(store: Store, there: frozenset[str], key: str, expected: Digest | None) -> None:
    """Raise `IntegrityError` unless what a provenance names is there, with its digest."""
    if key not in there:
        raise IntegrityError(Problem("is missing beside the provenance", file=key))
    if expected and (actual := Digest.of(store.get(key, limit=provenance.LIMIT))) != expected:
        raise IntegrityError(Problem(f"expected {expected}, found {actual}", file=key))
