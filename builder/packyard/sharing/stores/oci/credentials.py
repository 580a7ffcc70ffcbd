"""Credentials for registries, from where docker and podman keep them; nothing is ever written.

The files, in their order: ``REGISTRY_AUTH_FILE``; ``config.json`` in ``DOCKER_CONFIG`` if that is set, otherwise
podman's two ``containers/auth.json`` and ``~/.docker/config.json`` (containers-auth.json(5)). In each, the program of
``credHelpers`` for the registry, then that of ``credsStore``, then ``auths``; the first that knows the registry counts.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.files import regular
from packyard.sharing.stores.oci.address import Address

_LARGEST = 4 * 1024 * 1024
_PATIENCE = 60  # seconds; a helper may ask the user
_HELPER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NOT_FOUND = "credentials not found"  # what helpers say, with more words behind
_TOKEN_USER = "<token>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A user and password; or an identity token, which is exchanged for others; or a token that is sent as it is."""

    user: str = ""
    password: str = field(default="", repr=False)
    identity: str = field(default="", repr=False)
    token: str = field(default="", repr=False)


def find(address: Address, repository: str, environment: Mapping[str, str]) -> Credentials | None:
    """Return the credentials for a repository of a registry, or None.

    Raises `InputError` for a file that cannot be understood, and `UnavailableError` for a helper that fails.
    """
    for file in _files(environment):
        if file.is_file() and (credentials := _in_file(file, address, repository)):
            return credentials
    return None


def _files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files that may have credentials, the most important one first."""
    home = Path(environment.get("HOME") or "~").expanduser()
    if override := environment.get("REGISTRY_AUTH_FILE"):
        yield Path(override)
    if docker := environment.get("DOCKER_CONFIG"):
        yield Path(docker) / "config.json"
        return
    if run := environment.get("XDG_RUNTIME_DIR"):
        yield Path(run) / "containers" / "auth.json"
    yield Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "containers" / "auth.json"
    yield home / ".docker" / "config.json"


def _in_file(file: Path, address: Address, repository: str) -> Credentials | None:
    document = _parse(file)
    helpers = _mapping(document.get("credHelpers"))
    by_name = {_bare(name): helper for name, helper in helpers.items()}
    for helper in [*(by_name[name] for name in address.names if name in by_name), document.get("credsStore")]:
        for server in address.helped if helper else ():
            if credentials := _by_helper(str(helper), server, file):
                return credentials
    entries = {_bare(name): entry for name, entry in _mapping(document.get("auths")).items()}
    for name in _names(address, repository):
        if credentials := _of_entry(_mapping(entries.get(name)), name, file):
            return credentials
    return None


def _parse(file: Path) -> dict[str, Any]:
    try:
        return _mapping(json.loads(regular.read(file, limit=_LARGEST)))
    except (ValueError, RecursionError) as error:
        raise InputError(Problem("is not JSON", file=str(file), hint="log in again")) from error


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _bare(name: str) -> str:
    """Return a name of a registry as Docker once wrote it, ``https://host/v1/``, without what is not needed."""
    name = re.sub(r"^https?://", "", name).rstrip("/").lower()
    return name if name.startswith("index.docker.io") else re.sub(r"/v[12]$", "", name)


def _names(address: Address, repository: str) -> Iterator[str]:
    """Yield what may name a repository, or the folders that it is in, the longest first, then the registry."""
    parts = repository.split("/")
    for count in range(len(parts), -1, -1):
        yield from ("/".join([name, *parts[:count]]) for name in address.names)


def _of_entry(entry: dict[str, Any], name: str, file: Path) -> Credentials | None:
    text = {key: value for key, value in entry.items() if isinstance(value, str) and value}
    user, password = text.get("username", ""), text.get("password", "")
    if "auth" in text:
        try:
            user, _, password = base64.b64decode(text["auth"], validate=True).decode().partition(":")
        except (binascii.Error, ValueError) as error:
            problem = Problem(f"'auth' of {name} must be base64 of user:password", file=str(file), hint="log in again")
            raise InputError(problem) from error
    credentials = Credentials(
        user=user,
        password=password.rstrip("\0"),
        identity=text.get("identitytoken", ""),
        token=text.get("registrytoken", ""),
    )
    return credentials if credentials != Credentials() else None


def _by_helper(helper: str, server: str, file: Path) -> Credentials | None:
    """Ask a helper, by the protocol of docker-credential-helpers: the registry on stdin, JSON on stdout."""
    program = f"docker-credential-{helper}"
    if not _HELPER.fullmatch(helper):
        raise InputError(Problem(f"{helper[:80]!r} is not the name of a credential helper", file=str(file)))
    try:
        process = subprocess.run([program, "get"], input=server.encode(), capture_output=True, timeout=_PATIENCE)
        if process.returncode:
            if process.stdout.decode(errors="replace").strip().startswith(_NOT_FOUND):
                return None
            raise ValueError("it failed")
        answer = _mapping(json.loads(process.stdout[:_LARGEST]))
        user, secret = str(answer.get("Username", "")), str(answer.get("Secret", ""))
    except (OSError, ValueError, RecursionError, subprocess.TimeoutExpired) as error:
        hint = f"{file} names it for {server}: log in again, or try it with 'echo {server} | {program} get'"
        raise UnavailableError(Problem("the credential helper does not work", file=program, hint=hint)) from error
    return Credentials(identity=secret) if user == _TOKEN_USER else Credentials(user=user, password=secret)
