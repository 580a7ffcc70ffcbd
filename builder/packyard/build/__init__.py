"""Building: from the sources of packages to bundles on disk.

A package is composed (`source`), described (what its `packyard.json` and README say) and packed (`bundle`). The result
is kept, so that the next build of the same sources finds it.
"""
