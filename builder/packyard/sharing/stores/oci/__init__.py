"""A channel in an OCI registry, whose bundles oras, crane, skopeo, Flux and Argo CD can pull.

- `address`: where a registry, a channel in it, and one artifact are.
- `login`: who we are to a registry, as docker and podman were told.
- `manifest`: what a bundle is there, and what refers to it.
- `registry`: the requests of the OCI distribution specification, bounded.
- `channel`: packages as repositories, versions as tags, and what is known of them.
"""
