"""Building: from the sources of packages to bundles on disk.

A package is composed (`source`), described (what its `packyard.json` and README say) and packed (`bundle`). The result
is cached for the next build of the same sources.
"""
