"""Addresses in registries: ``oci://host[:port]/path`` is a channel.

A registry is asked over TLS, one on this machine over plain HTTP; ``oci+http://`` and ``oci+https://`` choose.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from packyard.core.errors import InputError, Problem
from packyard.sharing.stores.network import is_loopback

# OCI distribution specification 1.1, "Pulling manifests": names and tags.
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]"
_ADDRESS = re.compile(
    rf"(?i:oci(?:\+(?P<scheme>https?))?)://(?P<host>{_HOST})(?P<port>:[0-9]{{1,5}})?(?:/+(?P<path>{_PART}(?:/{_PART})*)?/*)?"
)
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_LONGEST = 255  # host, slash and name: a limit of many clients
_PORTS = {"https": ":443", "http": ":80"}
#: What Docker Hub is called.
HUB = ("docker.io", "index.docker.io", "registry-1.docker.io")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A place in a registry; ``path`` is the beginning of the names of its repositories, or empty."""

    scheme: str
    host: str
    path: str

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read the address of a channel, or refuse it without showing it: it may hold a password."""
        match = _ADDRESS.fullmatch(text)
        if match is None or len(text) > _LONGEST or int((match["port"] or ":1")[1:]) not in range(1, 65536):
            hint = "write oci://host/path; a path is lower case letters and digits, joined by '.', '_', '-' and '/'; "
            hint += "a user and password are those of docker login"
            raise InputError(Problem("this must be the address of a channel in a registry", hint=hint))
        host = (match["host"] + (match["port"] or "")).lower()
        is_local = is_loopback(urlsplit(f"//{host}").hostname or "")
        scheme = (match["scheme"] or ("http" if is_local else "https")).lower()
        return cls(scheme=scheme, host=host.removesuffix(_PORTS[scheme]), path=match["path"] or "")

    def __str__(self) -> str:
        return f"oci://{self.host}/{self.path}".rstrip("/")

    @property
    def url(self) -> str:
        """Where the registry is asked."""
        return f"{self.scheme}://{HUB[-1] if self.host in HUB else self.host}"

    @property
    def names(self) -> tuple[str, ...]:
        """What files of credentials may call the registry."""
        if self.host in HUB:
            return HUB
        return (self.host,) if re.search(r":[0-9]+$", self.host) else (self.host, self.host + _PORTS[self.scheme])

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
