"""packyard assembles, sets, packs and distributes Kustomize packages for machine learning on Kubernetes."""

__version__ = "0.2.0"
