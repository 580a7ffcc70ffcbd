"""For which architectures an image is, as its registry says: by its index, or by the configuration of the one image.

The registry is asked as one that holds bundles, with the same credentials. It may not answer, or not let us in: then
nothing is known. One image takes at most two requests, and those for a token.
"""

from __future__ import annotations

import json

from packyard.core.digest import Digest
from packyard.core.errors import PackyardError
from packyard.core.kubernetes.lenient import mapping, mappings, text
from packyard.sharing.stores.oci import transport

_LARGEST = 1024 * 1024  # bytes of the configuration of an image
_UNKNOWN = ("", "unknown")  # what attestations beside an image say


def ask(reference: str, *, patience: float) -> frozenset[str] | None:
    """Return the architectures of an image, as nodes call them: ``amd64``; none where that is not known.

    None is returned for an image that its registry says it does not have. ``patience`` are the seconds that a registry
    may be silent.
    """
    try:
        source, place = transport.find(reference, patience)
        data = source.registry.manifest(source.name, place)
        if data is None:
            return None
        manifest = mapping(json.loads(data))
        if listed := mappings(manifest.get("manifests")):
            named = (text(mapping(each.get("platform")).get("architecture")) for each in listed)
            return frozenset(named) - frozenset(_UNKNOWN)
        digest = text(mapping(manifest.get("config")).get("digest"))
        config = source.registry.blob(source.name, Digest.parse(digest), limit=_LARGEST) if digest else b"{}"
        return frozenset({text(mapping(json.loads(config)).get("architecture"))}) - frozenset(_UNKNOWN)
    except (PackyardError, ValueError, RecursionError):  # it only explains: what does not answer says nothing
        return frozenset()
