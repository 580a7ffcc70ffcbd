"""What refers to a bundle in a registry: artifacts whose manifest names the bundle's as its ``subject``.

A registry lists them by itself, or a tag that is made of the digest of the subject does: the distribution specification
has both ("Listing Referrers", "Referrers Tag Schema").
"""

from __future__ import annotations

from packyard.core.digest import Digest
from packyard.core.errors import Problem, UnavailableError
from packyard.sharing.stores.oci import artifact
from packyard.sharing.stores.oci.artifact import Artifact, Descriptor
from packyard.sharing.stores.oci.registry import Registry

_ATTEMPTS = 20
_MOST = 50


def find(registry: Registry, repository: str, subject: Digest, kind: str) -> Artifact | None:
    """Return the first artifact of a type that refers to a manifest, or None."""
    data = registry.referrers(repository, subject)
    if data is None:
        data = registry.manifest(repository, _tag(subject))
    what = registry.place(repository, subject)
    for descriptor in artifact.parse_list(data, what=what)[:_MOST] if data else ():
        manifest = registry.manifest(repository, descriptor.digest)  # lists are wrong about types
        if manifest and (referrer := artifact.parse(manifest, what=what)).type == kind:
            return referrer
    return None


def add(registry: Registry, repository: str, subject: Digest, referrer: Descriptor) -> None:
    """List a referrer under the tag of its subject, for a registry that keeps no list of its own.

    The list is for others: packyard has a tag for each artifact, so where tags are immutable and the list cannot grow,
    nothing is lost.
    """
    tag = _tag(subject)
    place = registry.place(repository, tag)
    for _ in range(_ATTEMPTS):
        data = registry.manifest(repository, tag)
        there = artifact.parse_list(data, what=place) if data else []
        if any(each.digest == referrer.digest for each in there):
            return
        longer = artifact.compose_list([*there, referrer])
        if registry.put_manifest(repository, tag, longer, artifact.INDEX_TYPE).status != 201:
            return
    hint = "others write there all the time; try again later"
    raise UnavailableError(Problem(f"does not list {referrer.digest}", file=place, hint=hint))


def _tag(subject: Digest) -> str:
    return subject.replace(":", "-")
