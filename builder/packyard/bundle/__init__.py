"""A *bundle* is the immutable tarball of one package version, with its digest and provenance.

It holds one directory, named like the bundle, with the composed package and ``packyard.json``, which says what
is in it. Two things name its bytes: the digest of the *uncompressed* tar is its identity, which anyone can
rebuild from the source; the digest of the ``.tar.gz`` is that of one download.

This room reads, packs and unpacks them. How a package is made is the business of `build`, where bundles go that of
`channel`.
"""

from packyard.bundle.bundle import Bundle, build
from packyard.bundle.manifest import Manifest

__all__ = ["Bundle", "Manifest", "build"]
