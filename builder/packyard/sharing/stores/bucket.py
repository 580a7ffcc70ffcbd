"""A store in a bucket of S3 or Azure, by the library obstore: it finds credentials, signs, and repeats requests.

What a server promises is its own: Azure lets exactly one of many create, and replace, an object. Servers of S3 differ,
so `probe` has to find out, and until then `put` and `swap` look first, and read back what they wrote.

This is the one place that translates the library's errors. Their texts show whole requests, with signatures, and are
never passed on.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import obstore
from obstore import exceptions

from packyard.core.digest import Digest
from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.sharing.stores.content import cache_control, content_type
from packyard.sharing.stores.store import (
    PATIENCE,
    DeniedError,
    MissingStoreError,
    NotFoundError,
    Promises,
    check_expected,
    check_key,
    check_listed,
    check_removable,
    check_same,
    check_swapped,
    too_long,
)
from packyard.sharing.stores.wire import LOOK, OverdueError, authorities, late, within

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_PIECE, _PAGE = 1 << 20, 1000
_LONGEST_PAUSE = 5.0  # seconds

_STATUS = re.compile(r"status code: (\d{3})\b")
_CODE = re.compile(r"<Code>([A-Za-z]{1,64})</Code>")
_CREDENTIALS = "set them as for the cloud's own tools, then run again"
_NO_LONGER = ("ExpiredToken", "InvalidToken", "TokenRefreshRequired")  # HTTP 400
_NO_OBJECT = ("", "NoSuchKey", "BlobNotFound")
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "InvalidBucketName")
#: Where clouds give credentials to their machines: what is asked last.
_METADATA = re.compile(r"169\.254\.169\.254|/latest/api/token|/metadata/identity/")
#: What the library says of a failure, and what we say.
_REASONS = (
    (r"InvalidCertificate|CertificateError|UnknownIssuer|HandshakeFailure", "the server's certificate is not trusted"),
    (r"kind: Timeout|TimedOut", "the server did not answer in time"),
    (r"ProxyConnect|ProxyAuth|Tunnel", "the proxy cannot be reached, or refuses"),
    (r"kind: Connect|dns error", "the server cannot be reached"),
    (r"IncompleteMessage|IncompleteBody|UnexpectedEof|ConnectionReset|Body", "the server closed the connection early"),
    (r"EmptySegment|BadSegment", "there are other objects, with names that packyard cannot have written"),
    (r"Parse|Header|NoContentRange|invalid", "the server sent an invalid response"),
)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tries:
    """How often a request that may help is repeated, and a creation that others disturb.

    ``pause``: the seconds before the first repetition; each is twice as long as the one before.
    """

    attempts: int = 6
    pause: float = 0.1


USUAL = Tries()


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What says who we are, in words, such as a profile's name, and how to see what that may do; never a secret."""

    used: str = "the credentials of the environment"
    look: str = "check the credentials and what they may do"


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketStore:
    """The store below a prefix of a bucket; ``bucket`` is obstore's. ``patience``: the seconds that a call may take."""

    address: str
    promises: Promises
    bucket: ObjectStore = field(repr=False)
    identity: Identity = Identity()
    patience: float = PATIENCE
    tries: Tries = USUAL

    def trusting(self) -> BucketStore:
        """Return the store that relies on its server to create exclusively, as `probe` found."""
        return replace(self, promises=replace(self.promises, create=True))

    def put(self, key: str, data: bytes) -> None:
        """Create an object; see `Store.put`."""
        check_key(key)
        if not self.promises.create and self._is_there(key, data):
            return
        end = time.monotonic() + self.patience
        for attempt in range(self.tries.attempts):
            created = self._write(key, data, "create", end)
            # What the server refused may be a creation that was never answered, or one under way that may fail yet.
            if created and self.promises.create:
                return
            if self._is_there(key, data):
                return
            time.sleep(self.tries.pause * 2**attempt * random.uniform(0.5, 1))
        raise UnavailableError(Problem("the server neither creates it nor has it", file=self._place(key), hint=LOOK))

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        check_key(key)
        return self._get(key, limit)[0]

    def read(self, key: str, *, offset: int = 0) -> Iterator[bytes]:
        """Yield an object's bytes; see `Store.read`."""
        check_key(key)
        end, skip = time.monotonic() + self.patience, 0
        try:
            try:
                pieces = self._open(key, offset, end)
            except _NoRangesError:
                pieces, skip = self._open(key, 0, end), offset
        except _BeyondError:
            return
        while True:
            with self._translated(self._place(key)):
                piece = self._within(self._place(key), end, partial(next, pieces, None))
            if piece is None:
                return
            if skip < len(piece):
                yield bytes(piece)[skip:]
            skip = max(0, skip - len(piece))

    def _open(self, key: str, offset: int, end: float) -> Iterator[bytes]:
        options: Any = {"range": {"offset": offset}} if offset else None
        with self._translated(self._place(key)):
            answer = self._within(self._place(key), end, partial(obstore.get, self.bucket, key, options=options))
            return iter(answer.stream(min_chunk_size=_PIECE))

    def list(self, prefix: str) -> Sequence[str]:
        """Return the keys that begin with ``prefix``; see `Store.list`."""
        folder = prefix.rpartition("/")[0]
        if folder:
            check_key(folder)
        end, keys = time.monotonic() + self.patience, []
        with self._translated(self.address):
            pages = iter(obstore.list(self.bucket, folder or None, chunk_size=_PAGE))
            while page := self._within(self.address, end, partial(next, pages, None)):
                keys += [entry["path"] for entry in page]
                check_listed(len(keys), self.address)
        # An empty name is that of the folder itself, which consoles make as an object.
        return sorted(key for key in keys if key and key.startswith(prefix) and "/." not in f"/{key}")

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        """Replace an object; see `Store.swap`."""
        check_key(key)
        current, version = self._found(key)
        check_expected(self._place(key), current, expected)
        written = self._write(key, data, version or "create", time.monotonic() + self.patience)
        if not (written and self.promises.swap):
            # Not written: maybe it was, and the answer was lost. Written, and not promised: maybe by two at once.
            current, _ = self._found(key)
            check_swapped(self._place(key), current, Digest.of(data), Digest.of(data) if written else expected)

    def remove(self, key: str, *, is_published: bool = False) -> bool:
        """Remove an object; see `Store.remove`."""
        check_removable(key, is_published=is_published)
        place = self._place(key)
        with suppress(NotFoundError), self._translated(place):
            self._within(place, time.monotonic() + self.patience, partial(obstore.delete, self.bucket, key))
        return True

    def _get(self, key: str, limit: int) -> tuple[bytes, Any]:
        """Return an object's bytes, and what says which version of it they are."""
        place = self._place(key)

        def get() -> tuple[bytes, Any]:
            answer = obstore.get(self.bucket, key)
            if answer.meta["size"] > limit:
                raise too_long(place, limit)
            version = {name: answer.meta[name] for name in ("e_tag", "version") if answer.meta[name]}
            return bytes(answer.bytes()), version

        with self._translated(place):
            return self._within(place, time.monotonic() + self.patience, get)

    def _found(self, key: str) -> tuple[Digest | None, Any]:
        """Return the digest and the version of what is there, or twice None."""
        try:
            data, version = self._get(key, LIMIT)
        except NotFoundError:
            return None, None
        return Digest.of(data), version

    def _is_there(self, key: str, data: bytes) -> bool:
        """Return whether these bytes are there; other bytes are a `ConflictError`."""
        current, _ = self._found(key)
        if current is not None:
            check_same(self._place(key), current, Digest.of(data))
        return current is not None

    def _write(self, key: str, data: bytes, mode: Any, end: float) -> bool:
        """Write an object, and return False if the server refuses that because of what is there."""
        attributes: Any = {"Content-Type": content_type(key), "Cache-Control": cache_control(key)}
        put = partial(obstore.put, self.bucket, key, data, use_multipart=False, attributes=attributes)
        try:
            with self._translated(self._place(key)):
                self._within(self._place(key), end, partial(put, mode=mode))
        except _RefusedError:
            return False
        except _NoConditionsError:
            if self.promises.create or self.promises.swap:
                raise
            with self._translated(self._place(key)):
                self._within(self._place(key), end, put)
        return True

    def _within(self, place: str, end: float, call: Callable[[], _T]) -> _T:
        try:
            return within(max(0.0, end - time.monotonic()), call)
        except OverdueError:
            raise late(place, self.patience) from None

    def _place(self, key: str) -> str:
        return f"{self.address}/{key}"

    def _translated(self, place: str) -> AbstractContextManager[None]:
        return _translated(place, self.identity)


class _NoConditionsError(UnavailableError):
    """The server writes without conditions alone."""


class _RefusedError(Exception):
    """The server refuses to write because of what is there."""


class _BeyondError(Exception):
    """There is nothing from that offset on."""


class _NoRangesError(Exception):
    """The server sends all, whatever is asked for."""


def client(patience: float, tries: Tries, endpoint: str, *variables: str) -> dict[str, Any]:
    """Return obstore's settings of how it talks to a server; proxies it takes from the environment itself.

    ``endpoint`` is empty for the cloud's own one. ``variables`` name, before the usual ones, files of certificate
    authorities.
    """
    options: dict[str, Any] = {
        "allow_http": endpoint.startswith("http://"),
        "connect_timeout": timedelta(seconds=min(10.0, patience)),
        "read_timeout": timedelta(seconds=min(30.0, patience)),
        "timeout": timedelta(seconds=patience),
    }
    if file := authorities(*variables):
        try:
            options["root_certificate"] = Path(file).read_bytes()
        except OSError as error:
            raise InputError(Problem(f"cannot be read: {error.strerror}", file=file)) from error
    # The last failure has to be told before the deadline of the call.
    pause, longest = timedelta(seconds=tries.pause), timedelta(seconds=min(_LONGEST_PAUSE, patience / 8))
    return {
        **({"endpoint": endpoint} if endpoint else {}),
        "client_options": options,
        "retry_config": {
            "max_retries": tries.attempts,
            "retry_timeout": timedelta(seconds=patience / 2),
            "backoff": {"init_backoff": min(pause, longest), "max_backoff": longest, "base": 2},
        },
    }


def opened(make: Callable[[], ObjectStore], address: str) -> ObjectStore:
    """Return a bucket of obstore, or refuse its settings."""
    try:
        return make()
    except PackyardError:
        raise
    except Exception:  # with a text that shows the settings
        hint = "check the environment variables and files that hold them"
        raise InputError(
            Problem("its settings or credentials are incomplete or wrong", file=address, hint=hint)
        ) from None


@contextmanager
def _translated(place: str, identity: Identity) -> Iterator[None]:
    try:
        yield
    except PackyardError:
        raise
    except (exceptions.AlreadyExistsError, exceptions.PreconditionError):
        raise _RefusedError from None
    except Exception as error:
        raise _refusal(place, error, identity) from None


def _refusal(place: str, error: Exception, identity: Identity) -> Exception:
    """Return the error to raise for one of the library's."""
    text = str(error)
    status = match[1] if (match := _STATUS.search(text)) else ""
    code = match[1] if (match := _CODE.search(text)) else ""
    answer = f"HTTP {status}: {code}" if code else f"HTTP {status}"

    def unavailable(problem: str, hint: str = LOOK) -> UnavailableError:
        return UnavailableError(Problem(problem, file=place, hint=hint))

    def denied(problem: str, hint: str) -> DeniedError:
        return DeniedError(Problem(problem, file=place, hint=hint))

    if status == "416" or "StartTooLarge" in text:
        return _BeyondError()
    if "NotPartial" in text:
        return _NoRangesError()
    if code in _NO_BUCKET:
        return MissingStoreError(Problem(f"there is no such bucket ({code})", file=place, hint="check the address"))
    if _METADATA.search(text):
        return denied("no credentials were found", _CREDENTIALS)
    if isinstance(error, FileNotFoundError) and code in _NO_OBJECT:
        return NotFoundError(Problem("not found", file=place))
    if code == "RequestTimeTooSkewed":
        return denied(f"access denied ({answer})", "is the clock of this machine right? See: date")
    if status in ("401", "403"):
        return denied(f"access denied ({answer}) to {identity.used}", identity.look)
    if code in _NO_LONGER:
        return denied(f"access denied ({answer}) to {identity.used}", "log in again, then run again")
    if isinstance(error, exceptions.UnauthenticatedError | exceptions.PermissionDeniedError):
        return denied("no credentials were found that can be used", _CREDENTIALS)
    if status in ("429", "503"):
        return unavailable(f"the server is busy ({answer})", "try again later")
    if status.startswith("3"):
        return unavailable(f"the server redirects ({answer})", "check the region and the endpoint of the bucket")
    if status == "501":
        return _NoConditionsError(Problem(f"the server cannot do that ({answer})", file=place, hint="use another one"))
    if status:
        return unavailable(f"the server answers {answer}", "try again later")
    detail = text.rpartition("inner:")[2]  # before it stands the address, which may have any words
    for pattern, reason in _REASONS:
        if re.search(pattern, detail):
            return unavailable(reason)
    return unavailable(f"the transfer failed ({type(error).__name__})")
