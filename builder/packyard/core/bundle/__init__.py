"""A *bundle* is the immutable tarball of one package version, with its digest and provenance.

It holds one directory, named like the bundle, with the composed package and ``packyard.json``, which describes it. The
digest of the *uncompressed* tar is its identity: anyone can rebuild the tar from the sources. The digest of the
``.tar.gz`` names one download.

This room packs, reads and unpacks bundles, and loads nothing that makes them: `writing.build` does, and `sharing`
distributes.
"""
