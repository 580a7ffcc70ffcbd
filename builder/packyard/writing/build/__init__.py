"""Building: from the sources of packages to bundles on disk.

A package is composed (`writing.source`), described (what its `packyard.json` and README say) and packed
(`core.bundle`).
"""
