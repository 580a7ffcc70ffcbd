"""The source tree of a catalogue, and the packages that are composed from it.

A *base* is a kustomization that knows none of those who build on it; an *overlay* is a kustomize Component that adds
one variation to any base; a *package* is one model's matrix of *use cases*, each of which is a base with overlays and
patches, and with the package's values for its setters.
"""
