"""The address of one bundle, as people copy it from a browser or a registry.

https://host/path/1.2.0/NAME.tar.gz       in a channel of any other kind, too: s3://bucket/path/1.2.0/NAME.tar.gz
oci://host/path/NAME:1.2.0
oci://host/path/NAME@sha256:…             the digest of the manifest, as registries show it
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from packyard.core.bundle.manifest import Manifest
from packyard.core.bundle.reference import check_name, check_version
from packyard.core.errors import InputError, IntegrityError, Problem

if TYPE_CHECKING:
    from packyard.sharing.stores.oci.address import ArtifactAddress

_END = ".tar.gz"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleAddress:
    """A bundle by its channel, whose address may hold a password, and ``NAME@VERSION``, or as an artifact."""

    channel: str = field(repr=False)
    reference: str
    artifact: ArtifactAddress | None = None

    @classmethod
    def parse(cls, text: str) -> BundleAddress | None:
        """Read the address of a bundle; None for what is no address. It is never shown: it may hold a password."""
        scheme, separator, rest = text.partition("://")
        if not separator:
            return None
        if scheme.lower().startswith("oci"):
            return _in_registry(text)
        place, _, file = rest.rpartition("/")
        before, _, version = place.rpartition("/")
        if not before or not file.endswith(_END):
            hint = "write https://host/path/VERSION/NAME.tar.gz, or NAME@VERSION --from CHANNEL"
            raise InputError(Problem("this must be the address of a bundle", hint=hint))
        name, version = file.removesuffix(_END), unquote(version)
        check_name(name)
        check_version(version)
        return cls(channel=f"{scheme}://{before}", reference=f"{name}@{version}")

    def check(self, manifest: Manifest) -> None:
        """Refuse a bundle that has another name or version than the address of an artifact says."""
        from packyard.sharing.stores.oci.address import tag_of

        artifact, tags = self.artifact, ("", tag_of(manifest.version))
        if artifact and (manifest.name != artifact.name or artifact.tag not in tags):
            problem = f"expected this bundle, found {manifest.name}@{manifest.version}"
            raise IntegrityError(Problem(problem, file=str(self)))

    def __str__(self) -> str:
        return str(self.artifact) if self.artifact else self.reference


def _in_registry(text: str) -> BundleAddress:
    from packyard.sharing.stores.oci.address import ArtifactAddress

    artifact = ArtifactAddress.parse(text)
    if artifact is None:
        hint = "write oci://host/path/NAME:VERSION, or NAME@VERSION --from CHANNEL"
        raise InputError(Problem("this must be the address of a bundle", hint=hint))
    check_name(artifact.name)
    scheme, _, rest = text.partition("://")
    channel = f"{scheme}://{rest.partition('@sha256:')[0].rpartition('/')[0]}"
    return BundleAddress(channel=channel, reference=artifact.name, artifact=artifact)
