"""The channel that a web server serves, read-only and by key; any server of files will do."""

import re
from functools import cached_property
from urllib.parse import quote, unquote, urlsplit

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.sharing.stores.client import Answer, Client, Request, basic
from packyard.sharing.stores.network import may_have_secrets
from packyard.sharing.stores.store import FOLDER, NotFoundError, ReadOnly, check_key

#: What buckets say, with HTTP 403, of a missing object to who may read their objects, and not list them.
_NOT_LISTED = b"<Code>AccessDenied</Code>"
_FIRST = f"{FOLDER}index.json"
#: No file of a channel that is read whole begins so; login pages, and servers that have a page for all paths, do.
_PAGE = re.compile(rb"\s*<(!doctype html\b|html\b|!--)", re.IGNORECASE)
#: What each JSON file of a channel, or of a tool that signs, says of itself.
_SELF = re.compile(rb'"(apiVersion|payloadType|mediaType|spdxVersion|_type)"')
_LOGIN = "check the address in a browser, which may show a page to log in"


class HTTPStore(ReadOnly):
    """The store whose keys are the paths below an address.

    A user and password in the address are used, over TLS or on this machine alone, and never shown.
    """

    def __init__(self, address: str) -> None:
        try:
            parts = urlsplit(address)
            usable = bool(parts.hostname) and not (parts.query or parts.fragment) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:  # and not shown: it may hold a password
            raise InputError(Problem("this must be the address of a channel", hint="write https://host/path"))
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        self.address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}/"
        self._who = f"is the address right? A user and password go into it: https://USER:PASSWORD@{parts.netloc}/"
        self._authorization = basic(user, password) if user or password else ""
        if self._authorization and not may_have_secrets(self.address):
            hint = "write https://, or put them into no address"
            raise InputError(Problem("a user and password need TLS, or a server on this machine", hint=hint))
        self._client = Client()
        hint = "name the directory or bucket that the server serves instead"
        self.refusal = UnavailableError(Problem("an HTTP channel is read-only", file=self.address, hint=hint))

    def get(self, key: str, *, limit: int = LIMIT) -> bytes:
        """Return an object's bytes; see `Store.get`."""
        request = self._request(key, limit)
        answer = self._client.ask(request)
        if answer.status != 200:
            raise self._refusal(key, answer)
        is_page, is_packed = _PAGE.match(answer.body), answer.body.startswith(b"\x1f\x8b")
        if is_page or (key.endswith(".json") and not _SELF.search(answer.body)):
            sent = "a web page" if is_page else "compressed bytes" if is_packed else "something else"
            problem = f"the server sent {sent} in place of a file of a channel"
            if key != _FIRST and self._is_given:  # its answer for all that is missing
                raise NotFoundError(Problem(f"not found: {problem}", file=request.place))
            raise request.refusal(problem, _LOGIN)
        self._is_given = True
        return answer.body

    def _request(self, key: str, limit: int = LIMIT) -> Request:
        check_key(key)
        return Request(
            url=self.address + quote(key),
            authorization=self._authorization,
            place=self.address + key,
            headers={"Cache-Control": "no-cache"} if key == _FIRST else {},
            limit=limit,
        )

    def _refusal(self, key: str, answer: Answer) -> UnavailableError:
        refusal = answer.refusal("check user and password" if self._authorization else self._who)
        is_missing = _NOT_LISTED in answer.body or key.endswith(".json")
        if answer.status == 403 and is_missing and key != _FIRST and self._is_given:
            problem = f"not found, or access denied (HTTP {answer.status})"
            return NotFoundError(refusal.problems[0]._replace(message=problem))
        return refusal

    @cached_property
    def _is_given(self) -> bool:
        """Whether the server gives us files at all."""
        answer = self._client.ask(self._request(_FIRST))
        return answer.status == 200 and bool(_SELF.search(answer.body))

    #: HTTP has no listing; the index says what exists.
    keeps_conditions = put = list = swap = remove = ReadOnly.refuse
