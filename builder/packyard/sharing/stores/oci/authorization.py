"""What a registry gets so that it knows us: a password (RFC 7617), or the token of its token server.

A registry says with ``401`` and ``WWW-Authenticate`` what it wants; distribution.github.io/distribution/spec/auth has
the exchange for tokens. Credentials are looked for when they are wanted for the first time. They go to the registry,
and to the token server that it names, over TLS or on this machine alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from urllib.parse import urlencode, urlsplit

from packyard.core.errors import UnavailableError
from packyard.sharing.stores import http
from packyard.sharing.stores.oci import credentials
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.artifact import parse_json
from packyard.sharing.stores.oci.credentials import Credentials
from packyard.sharing.stores.wire import may_have_secrets

_LIMIT = 1024 * 1024
_LONGEST = 64 * 1024
_CLIENT = "packyard"
# RFC 9110, section 11: a scheme, or a parameter of the scheme before.
_WORD = re.compile(r'[\s,]*([A-Za-z0-9!#$%&\'*+.^_`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+)))?')
_TOKEN = re.compile(r"[\x21-\x7e]{1,65536}")


class Authorization:
    """The header ``Authorization`` for each repository of a registry, as far as the registry wants one."""

    def __init__(self, address: Address, patience: float, connections: http.Connections) -> None:
        self._address = address
        self._patience = patience
        self._connections = connections
        self._headers: dict[str, str] = {}

    def header(self, repository: str) -> str:
        """Return what to send for a repository, empty at first."""
        return self._headers.get(repository, "")

    def accept(self, answer: http.Answer, repository: str) -> bool:
        """Take what an answer 401 asks for, and return whether the request may be sent again with another header."""
        wanted = _challenges(answer.headers.get("www-authenticate", ""))
        before = self.header(repository)
        account = self._credentials
        if "bearer" in wanted:
            token = account.token if account and account.token else self._token(wanted["bearer"], repository)
            self._headers[repository] = f"Bearer {token}"
        elif "basic" in wanted and account and account.user:
            self._headers[repository] = http.basic(account.user, account.password)
        return self.header(repository) != before

    @cached_property
    def _credentials(self) -> Credentials | None:
        if not self._address.secret:
            return None
        if self._address.credentials:
            user, password = self._address.credentials
            return Credentials(user=user, password=password)
        return credentials.find(self._address, self._address.path, os.environ)

    def _token(self, wanted: Mapping[str, str], repository: str) -> str:
        """Get a token for a repository from the server that the registry names."""
        realm = wanted.get("realm", "")
        request = self._request(realm, _parameters(wanted, repository))
        answer = http.send(request)
        if answer.status != 200:
            raise self._denied(request, answer)
        document = parse_json(answer.body, what=request.place)
        token = document.get("token") or document.get("access_token")
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise request.refusal("the token server sent no token", "try again later")
        return token

    def _denied(self, request: http.Request, answer: http.Answer) -> UnavailableError:
        if answer.status in (400, 401, 403):
            problem = f"access to {self._address} is denied (HTTP {answer.status})"
            return request.denied(problem, f"log in again: docker login {self._address.host}")
        return request.unexpected(answer)

    def _request(self, realm: str, parameters: dict[str, str]) -> http.Request:
        """Return the request for a token: with an identity token, with a password, or as nobody."""
        account = self._credentials
        place = realm.partition("?")[0][:200]
        request = http.Request(
            url=realm,
            place=place,
            limit=_LIMIT,
            patience=self._patience,
            netrc=False,
            connections=self._connections,
        )
        if not _is_web_address(realm) or not may_have_secrets(realm):
            raise request.refusal("the registry names a token server without TLS", "ask whoever runs the registry")
        if account and account.identity:
            form = {
                "grant_type": "refresh_token",
                "refresh_token": account.identity,
                "client_id": _CLIENT,
                **parameters,
            }
            return replace(
                request,
                method="POST",
                headers={"Content-Type": "application/x-www-form-urlencoded"},
                body=urlencode(form).encode(),
                repeatable=True,
            )
        url = f"{realm}{'&' if '?' in realm else '?'}{urlencode(parameters)}"
        authorization = http.basic(account.user, account.password) if account else ""
        return replace(request, url=url, authorization=authorization)


def _parameters(wanted: Mapping[str, str], repository: str) -> dict[str, str]:
    named = {"service": wanted.get("service", ""), "scope": wanted.get("scope") or f"repository:{repository}:pull"}
    return {name: value for name, value in named.items() if value}


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            bool(parts.scheme in ("http", "https") and parts.hostname and parts.port != 0) and "@" not in parts.netloc
        )
    except ValueError:
        return False


def _challenges(header: str) -> dict[str, dict[str, str]]:
    """Read ``WWW-Authenticate``: by the scheme in lower case, its parameters; the first of each scheme counts."""
    challenges: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    at, header = 0, header[:_LONGEST]
    while word := _WORD.match(header, at):
        at = word.end()
        name, quoted, plain = word.groups()
        if quoted is None and plain is None:
            current = {}
            challenges.setdefault(name.lower(), current)
        else:
            value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            current.setdefault(name.lower(), value)
    return challenges
