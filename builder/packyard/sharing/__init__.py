"""A *channel* is the place that bundles are published to and read from: plain files that any web server can serve.

- A *release* is the bundles published together under one version, below the key ``<version>/``.
- The *index* is what a channel says it holds: index.json, which is replaced, over *shards* and *records*, which never
  change. A bundle is published when the index lists it, and not before.
- A *store* keeps bytes by key and knows nothing of bundles: a directory, a web server, a bucket, a registry.

A published version never changes, and whatever the index lists exists, whole: `publish` writes bundles before it swaps
index.json, which it does only if that is still what it read.
"""
