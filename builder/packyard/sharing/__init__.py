"""A *channel* is the place that bundles are published to and read from: plain files that any web server can serve.

- A *release* is the bundles published together under one version, below the key ``<version>/``.
- The *index* is what a channel says it holds. A bundle is published when the index lists it, and not before.
- A *head* is the index after one change: numbered, signed, and created once. It names the immutable *nodes* below it.
- A *store* keeps bytes by key and knows nothing of bundles: a directory, a web server, a bucket, a registry.

A published version never changes, and whatever the index lists exists, whole. `publish` keeps that by the order of its
writes, and by a `lease` on stores that cannot promise that one of many writers creates a head.
"""
