"""Who we are to a registry, as docker and podman were told, and the header that says so; nothing is ever written.

1. The files: ``REGISTRY_AUTH_FILE``, and ``config.json`` in ``DOCKER_CONFIG`` or ``~/.docker``. In each, the program of
   ``credHelpers`` for the registry, then that of ``credsStore``, then ``auths``.
2. A registry says with ``401`` and ``WWW-Authenticate`` what it wants: a password (RFC 7617), or the token of a token
   server (distribution.github.io/distribution/spec/auth), which gets passwords over TLS or on this machine alone.
3. Accounts are tried in this order, and then nobody: what is unusable or refused keeps no one from what is public.
"""

import base64
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias
from urllib.parse import urlencode

from packyard.core.bundle import record
from packyard.core.bundle.record import Record
from packyard.core.errors import PackyardError
from packyard.core.files import regular
from packyard.sharing.stores.client import Answer, Client, Request, basic, origin
from packyard.sharing.stores.network import may_have_secrets
from packyard.sharing.stores.oci.address import HUB, Address

_LARGEST_FILE, _LARGEST_ANSWER, _LONGEST_HEADER = 4 * 1024 * 1024, 1024 * 1024, 64 * 1024
_HELPER_SECONDS = 60  # it may ask the user
_UNKNOWN = "credentials not found"  # what helpers say, with more words behind
TOKEN_USER = "<token>"  # what helpers say for one
# RFC 9110, section 11: a parameter, and the schemes that we know, each with its parameters.
_PARAMETER = r'[\s,]*([a-z]+)\s*=\s*(?:"([^"]*)"|([^\s",]+))'
_CHALLENGE = re.compile(rf"\b(basic|bearer)\b((?:{_PARAMETER})*)", re.IGNORECASE)
_TOKEN = re.compile(r"[\x21-\x7e]{1,65536}")
_Tell: TypeAlias = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Account:
    """A user and password; that of `TOKEN_USER` is an identity token, which is exchanged for others."""

    user: str = ""
    password: str = field(default="", repr=False)


NOBODY = Account()


class Login:
    """Asks a registry as who we are; ``tell`` hears which logins are of no use."""

    def __init__(self, address: Address, tell: _Tell) -> None:
        self._address, self._client, self._tell = address, Client(), cache(tell)  # each thing once
        self._headers: dict[str, str] = {}
        self._known, self._lock = list[Account](), Lock()

    def ask(self, repository: str, request: Request) -> Answer:
        """Send a request, and again where the registry wants to know who asks, by one account after another."""
        if origin(request.url) != origin(self._address.url):
            return self._client.ask(request)
        sent = self._headers.get(repository, "")
        answer = self._client.ask(replace(request, authorization=sent))
        wanted = challenges(answer.headers.get("www-authenticate", ""))
        refused = (401, 403) if request.method == "GET" else (401,)
        for account in self._accounts() if answer.status == 401 else ():
            header = self._header(account, wanted, repository)
            if header and header != sent:
                self._headers[repository] = sent = header
                answer = self._client.ask(replace(request, authorization=header))
                if answer.status not in refused:
                    break
        return answer

    def _accounts(self) -> Sequence[Account]:
        """Return the accounts, the best first, and at last nobody."""
        with self._lock:
            if not self._known:
                is_secret = may_have_secrets(self._address.url)
                self._known += [*(accounts(self._address, os.environ, self._tell) if is_secret else ()), NOBODY]
        return self._known

    def _header(self, account: Account, wanted: Mapping[str, Mapping[str, str]], repository: str) -> str:
        """Return what an account sends: a password, or a token of the registry's token server, or nothing."""
        if "bearer" not in wanted:
            is_known = "basic" in wanted and account.user not in ("", TOKEN_USER)
            return basic(account.user, account.password) if is_known else ""
        answer = self._client.ask(_token_request(account, wanted["bearer"], repository))
        if answer.status == 200:
            tokens = record.parse_any(answer.body, Record.rest, file=answer.request.place)
            token = tokens.get("token") or tokens.get("access_token")
            if not isinstance(token, str) or not _TOKEN.fullmatch(token):
                raise answer.request.refusal("the token server sent no token", "try again later")
            return f"Bearer {token}"
        if answer.status not in (400, 401, 403) or account == NOBODY:
            raise answer.refusal(f"log in again: docker login {self._address.host}")
        how = f"renew it: docker login {self._address.host}; or remove it: docker logout {self._address.host}"
        self._tell(f"your login is refused (HTTP {answer.status}), so it is not used ({how})")
        return ""


def _token_request(account: Account, wanted: Mapping[str, str], repository: str) -> Request:
    """Return the request for a token: with an identity token, with a password, or as nobody."""
    realm = wanted.get("realm", "")
    request = Request(url=realm, place=realm.partition("?")[0][:200], limit=_LARGEST_ANSWER)
    if not may_have_secrets(realm):
        raise request.refusal("the registry names a token server without TLS", "ask whoever runs the registry")
    named = {"service": wanted.get("service", ""), "scope": wanted.get("scope") or f"repository:{repository}:pull"}
    parameters = {name: value for name, value in named.items() if value}
    if account.user != TOKEN_USER:
        url = f"{realm}{'&' if '?' in realm else '?'}{urlencode(parameters)}"
        authorization = basic(account.user, account.password) if account.user else ""
        return replace(request, url=url, authorization=authorization)
    form = {"grant_type": "refresh_token", "refresh_token": account.password, "client_id": "packyard", **parameters}
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return replace(request, method="POST", headers=headers, body=urlencode(form).encode())


def accounts(address: Address, environment: Mapping[str, str], tell: _Tell) -> Iterator[Account]:
    """Yield the accounts for the repositories below an address, the best first; ``tell`` hears what is of no use."""

    parts = address.path.split("/")
    folders = ["/".join(["", *parts[:count]]) for count in range(len(parts), -1, -1)]  # the nearest one first
    docker = Path(environment.get("DOCKER_CONFIG") or Path(environment.get("HOME") or "~").expanduser() / ".docker")
    for file in filter(os.path.isfile, (Path(environment.get("REGISTRY_AUTH_FILE", "")), docker / "config.json")):
        try:
            document = record.parse_any(regular.read(file, limit=_LARGEST_FILE), Record.rest, file=str(file))
        except PackyardError as error:
            tell(f"{error}: it is not used")
            continue
        helpers, entries = _mapping(document.get("credHelpers")), _mapping(document.get("auths"))
        for helper in filter(None, [*map(helpers.get, address.names), document.get("credsStore")]):
            server = "https://index.docker.io/v1/" if address.host in HUB else address.host
            yield from _by_helper(f"docker-credential-{helper}", server, file, tell)
        for name in (name + folder for folder in folders for name in address.names):
            yield from _of_entry(_mapping(entries.get(name)), name, file, tell)


def _mapping(value: object) -> dict[str, Any]:
    """Return an object by its names in lower case; Docker once wrote those of registries as ``https://host/v1/``."""
    items = value.items() if isinstance(value, dict) else ()
    return {re.sub(r"^https?://|(/v[12])?/*$", "", name.lower()): item for name, item in items}


def _of_entry(entry: Mapping[str, Any], name: str, file: Path, tell: _Tell) -> Iterator[Account]:
    text = {key: value for key, value in entry.items() if isinstance(value, str)}
    if token := text.get("identitytoken"):
        yield Account(TOKEN_USER, token)
    user, password = text.get("username", ""), text.get("password", "")
    if coded := "".join(text.get("auth", "").split()):
        try:
            user, _, password = base64.b64decode(coded, validate=True).decode().partition(":")
        except ValueError:
            tell(f"{file}: 'auth' of {name} must be base64 of user:password, so it is not used (log in again)")
    if password:
        yield Account(user, password.rstrip("\0"))


def _by_helper(program: str, server: str, file: Path, tell: _Tell) -> Iterator[Account]:
    """Ask a helper, by the protocol of docker-credential-helpers: a registry on stdin, JSON on stdout."""
    try:
        process = subprocess.run([program, "get"], input=server.encode(), capture_output=True, timeout=_HELPER_SECONDS)
        if process.returncode and process.stdout.decode(errors="replace").strip().startswith(_UNKNOWN):
            return
        process.check_returncode()
        answer = _mapping(json.loads(process.stdout[:_LARGEST_FILE]))
        yield Account(str(answer.get("username", "")), str(answer.get("secret", "")))
    except (OSError, ValueError, RecursionError, subprocess.SubprocessError):
        hint = f"take it out of {file}, or try it: echo {server} | {program} get"
        tell(f"{program}: the credential helper does not work, so it is not used ({hint})")


def challenges(header: str) -> dict[str, dict[str, str]]:
    """Read ``WWW-Authenticate``: by the scheme in lower case, its parameters."""
    schemes = {}
    for scheme, parameters, *_ in _CHALLENGE.findall(header[:_LONGEST_HEADER]):
        named = re.findall(_PARAMETER, parameters, re.IGNORECASE)
        schemes[scheme.lower()] = {name.lower(): quoted or plain for name, quoted, plain in named}
    return schemes
