"""Kubernetes: what kinds are: the types of their fields, and where their pods, images, claims and names stand.

Facts about Kubernetes and the operators of machine learning (MPIJob, JobSet, TrainJob, Argo Workflow), each known once,
here. Nothing here knows what a setter is or reads a package. `packyard get` loads none of it, `packyard set` only
`fieldtypes`, by which it writes a value, and `kustomization`, by whose names it finds options.
"""
