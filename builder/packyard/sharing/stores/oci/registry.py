"""The requests of the OCI distribution specification 1.1 to one registry, each bounded, and what their answers mean."""

import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import count
from typing import Any
from urllib.parse import quote, urlencode

from packyard.core.bundle import record
from packyard.core.bundle.record import FaultError, Record, list_of, text
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem, UnavailableError, on_one_line, shown
from packyard.sharing.stores.client import Answer, Request, origin, target
from packyard.sharing.stores.oci import manifest as manifests
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.login import Login
from packyard.sharing.stores.oci.manifest import NOTHING, Descriptor, Manifest
from packyard.sharing.stores.store import DeniedError, MissingStoreError, UnmadeStoreError, check_listed

_PAGE = 1000  # tags that a page counts for at least
_LISTINGS = 20  # attempts
_MOST = 50  # referrers of one manifest
_AGAIN, _PAUSES = (400, 404, 409), (0.05, 0.2)  # seconds
_NOT_DELETED = (400, 401, 403, 404, 405, 501)  # where manifests cannot be deleted, or are not there
_NO_API = (400, 404, 405, 501)
_DENIED = (401, 403)
_NEXT = re.compile(r'<([^<>]*)>\s*;[^<>]*?\brel="?next"?')


class HiddenError(UnmadeStoreError, DeniedError):
    """A registry refuses to show a repository: many do so where there is none yet, and take what is pushed to it."""


class Registry:
    """A registry, asked for the repositories below a path; ``tell`` hears which logins are of no use."""

    def __init__(self, address: Address, tell: Callable[[str], object] = lambda _: None) -> None:
        self._address, self._ask = address, Login(address, tell).ask
        self._has_api = True  # until it says that it keeps no lists of referrers
        #: A manifest by its digest, and what refers to one, each read once.
        self.known, self.referrers = cache(self.manifest), cache(self._referrers)
        self._prepare = cache(partial(self.upload, data=manifests.EMPTY))  # the configuration of all artifacts

    def place(self, repository: str, reference: str = "") -> str:
        """Return what messages call a repository, or the manifest of a tag or digest in it."""
        mark = "" if not reference else "@" if ":" in reference else ":"
        return f"oci://{self._address.host}/{repository}{mark}{reference}"

    # Manifests.

    def manifest(self, repository: str, reference: str) -> Manifest | None:
        """Return the manifest of a tag or a digest, None if there is none; `HiddenError` if it is not shown."""
        headers = {"Accept": f"{manifests.MANIFEST_TYPE}, {manifests.INDEX_TYPE}"}
        answer = self._send("GET", repository, f"manifests/{reference}", reference, headers=headers)
        if answer.status == 404:
            return None
        self._check(answer, 200)
        if ":" in reference:
            Digest.parse(reference).verify(answer.body, what=answer.request.place)
        return Manifest.parse(answer.body, place=answer.request.place)

    def write(self, repository: str, reference: str, manifest: Manifest) -> Answer:
        """Write a manifest, or raise where it is not taken."""
        self._prepare(repository)
        path, headers = f"manifests/{reference}", {"Content-Type": manifest.media_type}
        send = partial(self._send, "PUT", repository, path, reference, headers=headers, body=manifest.data)
        answer = self._written(send)
        self.referrers.cache_clear()
        return answer

    def _written(self, write: Callable[[], Answer]) -> Answer:
        """Write something; registries refuse some of those that write at the same moment, and these try again."""
        for pause in (*_PAUSES, 0.0):
            answer = write()
            if answer.status not in _AGAIN:
                break
            time.sleep(random.uniform(pause / 2, pause))
        return self._check(answer, 201)

    def delete(self, repository: str, digest: Digest) -> None:
        """Delete a manifest, where the registry lets that be done."""
        self._check(self._send("DELETE", repository, f"manifests/{digest}", digest), 200, 202, 204, *_NOT_DELETED)

    # Referrers: the registry lists them, or, where it does not, a tag made of the subject's digest ("Tag Schema").

    def _referrers(self, repository: str, subject: Digest) -> Sequence[tuple[str, Digest]]:
        """Return the type and the digest of what refers to a manifest."""
        listing = None
        if self._has_api:
            answer = self._send("GET", repository, f"referrers/{subject}", subject)
            self._has_api = answer.status not in _NO_API
            listing = Manifest.parse(answer.body, place=answer.request.place) if answer.status == 200 else None
        listing = listing or self.manifest(repository, subject.replace(":", "-"))
        return [(self._type(repository, item), item.digest) for item in (listing.manifests if listing else ())[:_MOST]]

    def _type(self, repository: str, listed: Descriptor) -> str:
        """Return the type of an artifact; some registries list others, or none."""
        if listed.artifact_type not in ("", manifests.EMPTY_TYPE):
            return listed.artifact_type
        manifest = self.known(repository, listed.digest)
        return manifest.artifact_type if manifest else ""

    def refer(self, repository: str, subject: Manifest, kind: str, about: Mapping[str, str], data: bytes = b"") -> None:
        """Write an artifact that refers to another one, and list it where the registry keeps no list of its own."""
        layer = Descriptor.of(data, media_type=kind, annotations=about) if data else NOTHING
        if data:
            self.upload(repository, data)
        artifact = manifests.artifact(kind, about, layer, subject=record.document(subject.own))
        new, tag = replace(artifact.own, artifact_type=kind, annotations=about), subject.own.digest.replace(":", "-")
        if "oci-subject" in self.write(repository, new.digest, artifact).headers:
            return
        for _ in range(_LISTINGS):
            before = self.manifest(repository, tag)
            listed = before.manifests if before else ()
            if any(descriptor.digest == new.digest for descriptor in listed):
                return
            self.write(repository, tag, Manifest.of(media_type=manifests.INDEX_TYPE, manifests=[*listed, new]))
        hint = "others write there all the time; try again later"
        if before and before.own.digest == subject.own.digest:
            hint = "it reads this tag as a digest; publish to a registry that lists referrers, or to a bucket"
        raise UnavailableError(Problem(f"does not list {new.digest}", file=self.place(repository, tag), hint=hint))

    # Blobs.

    def blob(self, repository: str, layer: Descriptor, limit: int) -> bytes:
        """Return a blob's bytes, or raise `NotFoundError`, or `TooLongError` or `IntegrityError` for other bytes."""
        answer = self._send("GET", repository, f"blobs/{layer.digest}", layer.digest, limit=min(layer.size, limit))
        layer.digest.verify(self._check(answer, 200).body, what=answer.request.place)
        return answer.body

    def upload(self, repository: str, data: bytes) -> None:
        """Make sure that there is a blob with these bytes."""
        self._written(lambda: self._upload(repository, Digest.of(data), data))

    def _upload(self, repository: str, digest: Digest, data: bytes) -> Answer:
        answer = self._send("POST", repository, f"blobs/uploads/?mount={digest}", digest)
        if answer.status != 202:  # 201 where it has the blob in another repository
            return answer
        location = target(answer.request, answer.url, answer.headers.get("location", ""))
        url = f"{location}{'&' if '?' in location else '?'}{urlencode({'digest': digest})}"
        headers = {"Content-Type": "application/octet-stream"}
        return self._send("PUT", repository, "", digest, url=url, headers=headers, body=data)

    # Tags.

    def tags(self, repository: str) -> Sequence[str]:
        """Return all tags of a repository; none if there is no such repository, `HiddenError` if it is not shown."""
        tags, at = dict[str, None](), dict[str, str]()
        for page in count(1):
            answer = self._send("GET", repository, "tags/list", limit=record.LIMIT, **at)
            request, before = answer.request, len(tags)
            if answer.status == 404:
                root = replace(request, url=f"{self._address.url}/v2/")
                if self._ask(repository, root).status not in (200, *_DENIED):
                    raise MissingStoreError(Problem("is no registry", file=request.place, hint="check the address"))
                break
            tags.update(dict.fromkeys(_tags(self._check(answer, 200).body, request.place)))
            check_listed(max(len(tags), page * _PAGE), request.place)
            link = _NEXT.search(answer.headers.get("link", ""))
            if link is None or len(tags) == before:
                break
            at = {"url": target(request, answer.url, link[1])}
            if origin(at["url"]) != origin(request.url):
                raise request.refusal("the registry has the next page of tags on another server")
        return list(tags)

    # Requests.

    def _send(self, method: str, repository: str, path: str, reference: str = "", **more: Any) -> Answer:
        how = {"url": f"{self._address.url}/v2/{quote(repository)}/{path}", "limit": manifests.LARGEST, **more}
        return self._ask(repository, Request(method=method, place=self.place(repository, reference), **how))

    def _check(self, answer: Answer, *statuses: int) -> Answer:
        if answer.status not in statuses:
            login = f"log in with an account that may: docker login {self._address.host}"
            kind = HiddenError if answer.request.method == "GET" else DeniedError
            raise answer.refusal(login, _said(answer.body), kind)
        return answer


def _said(body: bytes) -> str:
    """Return the first message of an error (distribution specification, "Error Codes"), on one line, or nothing."""
    try:
        error = record.parse_any(body, lambda fields: fields.take("errors", list_of(Record))[0], file="")
        return f": {shown(on_one_line(error.take('message', text, '') or error.take('code', text)))}"
    except (IntegrityError, IndexError, FaultError):
        return ""


def _tags(body: bytes, place: str) -> Sequence[str]:
    """Read a page of tags, which some registries have as null where there are none."""
    return record.parse_any(
        body, lambda fields: fields.take("tags", lambda tags: list_of(text)(tags or []), ()), file=place
    )
