"""The address of one bundle, as people copy it from a browser or a registry: its channel, and which bundle it is there.

https://host/path/1.2.0/NAME.tar.gz       in a channel of any other kind, too: s3://bucket/path/1.2.0/NAME.tar.gz
oci://host/path/NAME:1.2.0
oci://host/path/NAME@sha256:…             the digest of the manifest, as registries show it
"""

from __future__ import annotations

from urllib.parse import unquote

from packyard.core.bundle.reference import Reference, check_name, check_version
from packyard.core.errors import InputError, Problem

_END = ".tar.gz"


def parse(text: str) -> tuple[str, Reference] | None:
    """Return the channel of a bundle, and its name and version; None for what is no address.

    The address is never shown: it may hold a password.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        return None
    if scheme.lower().startswith("oci"):
        return _in_registry(scheme, rest)
    place, _, file = rest.rpartition("/")
    before, _, version = place.rpartition("/")
    if not before or not file.endswith(_END):
        hint = "write https://host/path/VERSION/NAME.tar.gz, or NAME@VERSION --from CHANNEL"
        raise InputError(Problem("this must be the address of a bundle", hint=hint))
    name, version = file.removesuffix(_END), unquote(version)
    check_name(name)
    check_version(version)
    return f"{scheme}://{before}", Reference(name=name, version=version)


def _in_registry(scheme: str, rest: str) -> tuple[str, Reference]:
    from packyard.sharing.stores.oci.address import Address, version_of

    place, at, digest = rest.partition("@sha256:")
    before, _, last = place.rpartition("/")
    name, colon, tag = last.partition(":")
    if not before or not (colon or at):
        hint = "write oci://host/path/NAME:VERSION, or NAME@VERSION --from CHANNEL"
        raise InputError(Problem("this must be the address of a bundle", hint=hint))
    check_name(name)
    channel = f"{scheme}://{before}"
    Address.parse(channel)
    return channel, Reference.parse(f"{name}@sha256:{digest}" if at else f"{name}@{version_of(tag)}")
