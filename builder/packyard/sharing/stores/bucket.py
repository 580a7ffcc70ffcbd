"""A store in a bucket of S3, Google or Azure, by the library obstore: it signs requests, and repeats them.

What a server promises is its own: AWS, Azure and Google let exactly one of many create, and replace, an object. Other
servers of S3 differ, so `keeps_conditions` finds out; where none are kept, one job at a time publishes. There `put`
looks before it writes, as `swap` does everywhere, so that what is there stays even so.

This is the one place that translates the library's errors. Their texts show whole requests, with signatures, and are
never passed on.
"""

import os
import random
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import PurePosixPath
from typing import Any, TypeVar

import obstore
from obstore import exceptions
from obstore.store import ObjectStore

from packyard.core.digest import Digest
from packyard.core.errors import PackyardError, Problem, UnavailableError
from packyard.core.files.exchange import check_expected
from packyard.core.files.regular import LIMIT
from packyard.core.work import parallel
from packyard.sharing.stores.network import LOOK, reason, within
from packyard.sharing.stores.store import (
    PROBES,
    DeniedError,
    MissingStoreError,
    NotFoundError,
    check_key,
    check_listed,
    check_same,
    too_long,
)

#: How often a request that may help is repeated, and a creation that others disturb; seconds before the first one.
ATTEMPTS, PAUSE = 6, 0.1

#: What obstore repeats of reads alone: a server, or what stands before it, ended a connection that was kept open.
_BROKEN = re.compile(r"kind: (Interrupted|Timeout),")
_STATUS = re.compile(r"status code: (\d{3})\b")
_CODE = re.compile(r"<Code>([A-Za-z]{1,64})</Code>")
_CREDENTIALS = "set them as for the cloud's own tools, then run again"
_KEYS = "check the key that is set, and this computer's clock"
_UNKNOWN = ("AuthenticationFailed", "InvalidAccessKeyId", "RequestTimeTooSkewed", "SignatureDoesNotMatch")
_NO_LONGER = ("ExpiredToken", "InvalidToken", "TokenRefreshRequired")  # HTTP 400
#: Of a bucket that another region has, and of a server that has each bucket at a host of its own.
_ELSEWHERE = ("AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect")
_REGION = re.compile(r"<Region>([a-z0-9-]{1,40})</Region>")
_HOST_ALONE = ("SecondLevelDomainForbidden", "PathStyleRequestNotAllowed")
_NOBODY = (exceptions.UnauthenticatedError, exceptions.PermissionDeniedError)
_NO_OBJECT = ("", "NoSuchKey", "BlobNotFound")
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "InvalidBucketName")
#: Where clouds give credentials to their machines: what is asked last.
_METADATA = re.compile(r"169\.254\.169\.254|/latest/api/token|/metadata/identity/")
#: Of keys that are not ours.
_FOREIGN = ("EmptySegment", "BadSegment")
#: What a host is told of an object: a bundle is of a type that no browser unpacks on the way, which has another digest.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".sha256": "text/plain; charset=utf-8",
}
_BYTES = "application/octet-stream"
#: What never changes: shards and records, by their digests, and what lies in the folder of a version.
_IMMUTABLE = re.compile(r"index/(p/[^/]+/)?[0-9a-f]{64}\.json|v?\d[^/]*/[^/]+\.tar\.gz.*")

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketStore:
    """The store below a prefix of a bucket.

    ``open`` returns obstore's bucket, ready to be asked; it may have to ask for credentials first. ``look`` says how to
    see what these may do. ``region`` is the one that is asked, and ``home`` finds out which one the bucket is in, where
    a server has regions.
    """

    address: str
    is_conditional: bool
    open: Callable[[], ObjectStore] = field(repr=False)
    look: str
    region: str = ""
    home: Callable[[], str] = lambda: ""

    def keeps_conditions(self) -> bool:
        """Ask a server whose kind does not say: by one writer after another, and by eight at once.

        A server that passes may still fail under more load.
        """
        if self.is_conditional:
            return True
        key = f"{PROBES}{os.urandom(8).hex()}"

        def write(mode: Any) -> bool:
            data = os.urandom(8)
            return self._write(key, data, mode) or self._found(key)[0] == Digest.of(data)

        def wins(mode: Any) -> int:
            return sum(parallel.run(write, [mode] * parallel.AT_ONCE))

        try:
            if wins("create") != 1 or write("create"):
                return False
            before = self._found(key)[1]
            return write(before) and not write(before) and wins(self._found(key)[1]) == 1
        finally:
            self.remove(key)

    def put(self, key: str, data: bytes) -> None:
        """Create an object; see `Store.put`."""
        for attempt in range(ATTEMPTS):
            # What the server refused may be a creation that was never answered, or one under way that may fail yet.
            look = attempt or not self.is_conditional
            current = self._found(key, max(LIMIT, len(data)))[0] if look else None
            if current:
                check_same(self._place(key), current, Digest.of(data))
            if current or self._write(key, data, "create"):
                return
            _pause(attempt)
        raise UnavailableError(Problem("the server neither creates it nor has it", file=self._place(key), hint=LOOK))

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        return self._got(key, limit)[0]

    def _got(self, key: str, limit: int) -> tuple[bytes, Any]:
        """Return an object's bytes, and what says which version of it they are."""
        place = self._place(key)

        def get(bucket: ObjectStore) -> tuple[bytes, Any]:
            answer = obstore.get(bucket, key)
            if answer.meta["size"] > limit:
                raise too_long(place, limit)
            version = {name: answer.meta[name] for name in ("e_tag", "version") if answer.meta[name]}
            return bytes(answer.bytes()), version

        return self._ask(place, get)

    def list(self, prefix: str, *, age: float = 0) -> Sequence[str]:
        """Return the keys that begin with ``prefix``; see `Store.list`."""
        folder, end = prefix.rpartition("/")[0], datetime.now(UTC) - timedelta(seconds=age)
        if folder:
            check_key(folder)

        def listed(bucket: ObjectStore) -> Sequence[Any]:
            entries = list[Any]()
            for page in obstore.list(bucket, folder or None):
                entries += page
                check_listed(len(entries), self.address)
            return entries

        entries = self._ask(self.address, listed)
        keys = [entry["path"] for entry in entries if not age or entry["last_modified"] < end]
        # An empty name is that of the folder itself, which consoles make as an object.
        return sorted(key for key in keys if key and key.startswith(prefix) and "/." not in f"/{key}")

    def swap(self, key: str, data: bytes, expected: Digest | None) -> None:
        """Replace an object; see `Store.swap`."""
        current, version = self._found(key)
        check_expected(self._place(key), current, expected)
        if not self._write(key, data, version or "create"):
            check_expected(self._place(key), self._found(key)[0], Digest.of(data))  # or the answer was lost

    def remove(self, key: str) -> None:
        """Remove an object; see `Store.remove`."""
        with suppress(NotFoundError):
            self._ask(self._place(key), lambda bucket: obstore.delete(bucket, key))

    def _found(self, key: str, limit: int = LIMIT) -> tuple[Digest | None, Any]:
        """Return the digest of what is there, and what says which version it is, or twice None."""
        try:
            data, version = self._got(key, limit)
        except NotFoundError:
            return None, None
        return Digest.of(data), version

    def _write(self, key: str, data: bytes, mode: Any) -> bool:
        """Write an object, and return False if the server refuses that because of what is there.

        That may be these very bytes, where the answer to the first request was lost.
        """
        attributes: Any = {"Content-Type": content_type(key), "Cache-Control": cache_control(key)}

        def put(bucket: ObjectStore) -> object:
            write = partial(obstore.put, bucket, key, data, use_multipart=False, attributes=attributes, mode=mode)
            for attempt in range(ATTEMPTS - 1):
                try:
                    return write()
                except exceptions.GenericError as error:
                    if not _BROKEN.search(str(error)):
                        raise
                _pause(attempt)
            return write()

        try:
            self._ask(self._place(key), put)
        except _RefusedError:
            return False
        except _UnconditionalError:
            if mode == "overwrite" or self.is_conditional:
                raise
            return self._write(key, data, "overwrite")
        return True

    def _ask(self, place: str, call: Callable[[ObjectStore], _T]) -> _T:
        """Let obstore ask the server, as long as a call may take; what it raises is told in our words."""
        try:
            return within(place, lambda: call(self.open()))
        except PackyardError:
            raise
        except (exceptions.AlreadyExistsError, exceptions.PreconditionError):
            raise _RefusedError(Problem("the server refuses", file=place)) from None
        except Exception as error:  # obstore raises classes of its own, of Python, and of providers of credentials
            raise self._refusal(place, error) from None

    def _refusal(self, place: str, error: Exception) -> Exception:
        """Return the error to raise for one of the library's."""
        text = str(error)
        detail = text.rpartition("inner:")[2]  # before it stands the address, which may have any words
        status = match[1] if (match := _STATUS.search(text)) else "301" if "BareRedirect" in detail else ""
        code = match[1] if (match := _CODE.search(text)) else ""
        answer = f"HTTP {status}: {code}" if code else f"HTTP {status}"

        def refused(problem: str, hint: str, kind: type[UnavailableError] = UnavailableError) -> UnavailableError:
            return kind(Problem(problem, file=place, hint=hint))

        if self.region and (code in _ELSEWHERE or status in ("301", "307")):
            home = match[1] if (match := _REGION.search(text)) else self.home()
            if home not in ("", self.region):
                problem = f"the region is {self.region}, and the bucket is in {home} ({answer})"
                return refused(problem, f"set AWS_REGION={home}, then run again")
        if code in _HOST_ALONE:
            hint = "set AWS_VIRTUAL_HOSTED_STYLE_REQUEST=true, then run again"
            return refused(f"the server wants the bucket in the name of the host ({answer})", hint)
        if code in _NO_BUCKET:
            return refused(f"there is no such bucket ({code})", "check the address", MissingStoreError)
        if isinstance(error, FileNotFoundError) and code in _NO_OBJECT:
            return NotFoundError(Problem("not found", file=place))
        if _METADATA.search(text):
            return refused("no credentials were found that can be used", _CREDENTIALS, DeniedError)
        if status in ("401", "403") or code in _NO_LONGER:
            return refused(f"access denied ({answer})", _KEYS if code in _UNKNOWN else self.look, DeniedError)
        if isinstance(error, _NOBODY):
            return refused("no credentials were found that can be used", self.look, DeniedError)
        if status == "501":
            return refused(f"the server cannot do that ({answer})", "use another one", _UnconditionalError)
        if status:
            is_ours = status[0] in "34" and status != "429"
            hint = "check the address, the region and the endpoint of the bucket" if is_ours else "try again later"
            return refused(f"the server answers {answer}", hint)
        if any(word in detail for word in _FOREIGN):
            return refused("there are other objects, with names that packyard cannot have written", LOOK)
        return refused(*reason(detail))

    def _place(self, key: str) -> str:
        check_key(key)
        return f"{self.address}/{key}"


def _pause(attempt: int) -> None:
    time.sleep(PAUSE * 2**attempt * random.uniform(0.5, 1))


class _RefusedError(UnavailableError):
    """The server refuses to write because of what is there."""


class _UnconditionalError(UnavailableError):
    """The server does not write on a condition."""


def content_type(key: str) -> str:
    """Return the media type of an object."""
    return _TYPES.get(PurePosixPath(key).suffix, _BYTES)


def cache_control(key: str) -> str:
    """Return how long caches may keep an object: for ever, or never without asking."""
    return "public, max-age=31536000, immutable" if _IMMUTABLE.fullmatch(key) else "no-cache"
