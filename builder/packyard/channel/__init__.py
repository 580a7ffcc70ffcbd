"""A *channel* is the place where bundles are published to and read from: plain files that any web server can serve.

- A *release* is the bundles published together under one version, below the key ``<version>/``.
- The *index* is what a channel says it holds. A bundle is published when the index lists it, and not before.
- A *store* keeps bytes by key and knows nothing of bundles: a directory, a web server, later a bucket or a registry.

What never changes: a published version. What a reader may rely on: whatever the index lists is there, whole.
The order of writes that keeps this is `publish`'s; stores only promise their four verbs.
"""

from packyard.channel.entry import IndexEntry
from packyard.channel.fetch import Fetched, fetch
from packyard.channel.index import Index
from packyard.channel.publish import Publication, publish
from packyard.channel.stores import Store, open_store

__all__ = ["Fetched", "Index", "IndexEntry", "Publication", "Store", "fetch", "open_store", "publish"]
