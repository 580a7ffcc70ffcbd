"""Addresses in registries: ``oci://host[:port]/path`` is a channel.

A registry is asked over TLS, one on this machine over plain HTTP; ``oci+http://`` and ``oci+https://`` choose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from packyard.core.errors import InputError, Problem
from packyard.sharing.stores.network import is_loopback, may_have_secrets

SCHEMES = ("oci", "oci+http", "oci+https")

# OCI distribution specification 1.1, "Pulling manifests": names and tags.
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_NAME = re.compile(f"{_PART}(?:/{_PART})*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_LONGEST = 255  # host, slash and name: a limit of many clients
_PORTS = {"https": ":443", "http": ":80"}
_HUB = ("docker.io", "index.docker.io", "registry-1.docker.io")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A place in a registry; ``path`` is the beginning of the names of its repositories, or empty.

    ``credentials`` are the user and password of the address, if it has any.
    """

    scheme: str
    host: str
    path: str
    credentials: tuple[str, str] | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read the address of a channel, or refuse it without showing it: it may hold a password."""
        parts = _split(text)
        host = parts.netloc.rpartition("@")[2].lower()
        path = parts.path.strip("/")
        if (path and not _NAME.fullmatch(path)) or len(host) + len(path) >= _LONGEST:
            raise _refusal("a path in a registry is lower case letters and digits, joined by '.', '_', '-' and '/'")
        scheme = parts.scheme.partition("+")[2] or ("http" if is_loopback(parts.hostname or "") else "https")
        host = host.removesuffix(_PORTS[scheme])
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        credentials = (user, password) if user or password else None
        address = cls(scheme=scheme, host=host, path=path, credentials=credentials)
        if credentials and not address.secret:
            raise _refusal("a user and password need TLS, or a registry on this machine")
        return address

    def __str__(self) -> str:
        return f"oci://{self.host}/{self.path}".rstrip("/")

    @property
    def url(self) -> str:
        """Where the registry is asked."""
        return f"{self.scheme}://{_HUB[-1] if self.host in _HUB else self.host}"

    @property
    def names(self) -> tuple[str, ...]:
        """What files of credentials may call the registry."""
        if self.host in _HUB:
            return (*_HUB, "index.docker.io/v1")
        return (self.host,) if re.search(r":[0-9]+$", self.host) else (self.host, self.host + _PORTS[self.scheme])

    @property
    def helped(self) -> tuple[str, ...]:
        """What credential helpers may call the registry."""
        return ("https://index.docker.io/v1/",) if self.host in _HUB else self.names

    @property
    def secret(self) -> bool:
        """Whether nobody reads along on the way."""
        return may_have_secrets(self.url)

    def repository(self, name: str) -> str:
        """Return the name of a repository below the path."""
        return f"{self.path}/{name}" if self.path else name


def tag_of(version: str) -> str:
    """Return the tag of a version; tags have no ``+``, which is ``_-`` there."""
    tag = version.replace("+", "_-")
    if version_of(tag) != version or not _TAG.fullmatch(tag):
        hint = "publish it with another version, or into a directory or a bucket"
        raise InputError(Problem(f"a registry cannot have the version {version!r}", hint=hint))
    return tag


def version_of(tag: str) -> str:
    """Return the version of a tag."""
    return tag.replace("_-", "+")


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
        usable = (
            text.isprintable()
            and parts.scheme in SCHEMES
            and host
            and not (parts.query or parts.fragment)
            and parts.port != 0
        )
        usable = usable and bool(_HOST.fullmatch(f"[{host}]" if ":" in (host or "") else host or ""))
    except ValueError:
        usable = False
    if not usable:
        raise _refusal("write oci://host/path")
    return parts


def _refusal(hint: str) -> InputError:
    return InputError(Problem("this must be the address of a channel in a registry", hint=hint))
