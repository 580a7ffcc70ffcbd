"""Removing the nodes that no head of a channel reaches: those of publishers that lost a race, or were killed.

A publisher says what it uploads before it writes nodes (`pending`), and then waits for whoever holds the lease. So
either it sees that nodes are being removed, or that is not begun.
"""

from __future__ import annotations

from contextlib import suppress
from shlex import quote

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, IntegrityError, Problem
from packyard.sharing.index import access, head, lease, nodes, pending, tree, trial
from packyard.sharing.index.head import Head
from packyard.sharing.index.nodes import Nodes
from packyard.sharing.stores.probe import PROBES
from packyard.sharing.stores.store import NotFoundError, Store
from packyard.sharing.trust.keys import NOBODY, Trust

#: What to do about what a publisher has not finished.
LEFT = "if no publisher is at work, the next publish completes it"


def prune(store: Store, trusted: Trust = NOBODY, waits: lease.Told = lambda: None) -> list[str]:
    """Remove the nodes that no head reaches, and what an interrupted `probe` left, and return their keys.

    It is a `ConflictError` if somebody publishes now. ``waits`` is told of a wait for another writer.
    """
    access.read(store, trusted)  # there has to be one
    store = trial.tried(store)
    with lease.hold(store, waits) as held:
        if left := store.list(pending.FOLDER):
            problem = f"somebody publishes, or was interrupted: {left[0]}"
            hint = f"{LEFT}; or see what packyard fsck {quote(store.address)} says of it"
            raise ConflictError(Problem(problem, file=store.address, hint=hint))
        extra = [*unreached(store, access.read(store, trusted).head), *store.list(PROBES)]
        for key in extra:
            held.check()  # a publisher who took the lease from us may need it again
            store.remove(key)
    return extra


def unreached(store: Store, latest: Head) -> list[str]:
    """Return the keys of nodes that no head reaches; the latest head must reach all of its own."""
    node_store, reached = Nodes(store), set[Digest]()
    reach(node_store, latest, reached)
    for number in range(latest.number - 1, 0, -1):
        with suppress(NotFoundError, IntegrityError):  # an old head that is damaged
            data = store.get(head.key(number), limit=head.LIMIT)
            reach(node_store, Head.parse(data, NOBODY, file=head.key(number)), reached)
    return [key for key in store.list(nodes.FOLDER) if nodes.digest(key) not in reached]


def reach(node_store: Nodes, of: Head, reached: set[Digest]) -> None:
    """Add the nodes and records below a head to those that are reached."""
    for root in (of.listing, of.words, of.releases):
        for digest in tree.reach(root, node_store.node, reached.__contains__):
            reached.add(digest)
    if not of.packages.level:
        reached.update(Digest(str(value)) for value in of.packages.values)
    for digest in tree.reach(of.packages, node_store.node, reached.__contains__):
        reached.add(digest)
        node = node_store.node(digest)
        reached.update(Digest(str(value)) for value in node.values if not node.level)
