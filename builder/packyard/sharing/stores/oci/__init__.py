"""A channel in an OCI registry: every key is an artifact that oras, crane, skopeo, Flux and Argo CD can pull.

- `address`: where a registry, a channel in it, and one artifact are.
- `credentials`, `authorization`: who we are to a registry, as docker and podman were told.
- `registry`: the requests of the OCI distribution specification, bounded.
- `spelling`: which repository and tag a key has, and back.
- `artifact`: the manifest of an object.
- `referrers`: what refers to a bundle.
- `repositories`: the verbs of a store with these.
"""
