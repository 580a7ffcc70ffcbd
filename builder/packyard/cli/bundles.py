"""Bundles in memory: what a channel has, what packyard carries, or what is in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packyard import __version__
from packyard.cli import output
from packyard.cli.preferences import Setting
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, IntegrityError, Problem, on_one_line, suggest
from packyard.core.files import regular

if TYPE_CHECKING:
    from packyard.core.bundle.lock import Pin
    from packyard.sharing.entry import IndexEntry
    from packyard.sharing.fetching.verify import Proof
    from packyard.sharing.index.choose import Choice
    from packyard.sharing.stores.store import Store
    from packyard.writing.source.workspace import Workspace


def carried(asked: Reference, pin: Pin | None = None) -> Bundle:
    """Build a package of the catalogue that packyard carries; refuse another one than a lock pins."""
    from packyard.writing.source import workspace

    if not asked.admits(__version__):
        hint = "name a channel that has it: --from CHANNEL"
        if pin:
            hint = (
                f"install packyard {pin.version}, or pin what this one carries: packyard get {asked.name} --lock FILE"
            )
        problem = f"this packyard carries version {__version__}, not {asked.version or asked.choice}"
        raise InputError(Problem(problem, hint=hint))
    here = workspace.built_in()
    if asked.name not in (names := here.package_names()):
        hint = suggest(asked.name, names) or "packyard list shows what it has"
        raise InputError(Problem(f"packyard's catalogue has no {asked.name!r}", hint=hint))
    bundle = packed(here, asked.name)
    if pin and not pin.admits(bundle.tar, bundle.digest):
        problem = f"{bundle.name}@{bundle.version} is not what is pinned: tar {bundle.tar}, not {pin.tar}"
        raise IntegrityError(Problem(problem, hint="another packyard of this version made the pin: install that one"))
    return bundle


def packed(here: Workspace, name: str) -> Bundle:
    """Build a package of a workspace, with the version of this packyard."""
    from packyard.writing.build.packing import compose_draft

    return compose_draft(here, __version__, name).bundle()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A bundle, verified, what is proved of it, the versions of its name, and the number of the index that lists it.

    Where packyard carries it, nothing is proved, there is no index, and whether the channel was reached is None.
    """

    bundle: Bundle
    proof: Proof | None = None
    versions: Sequence[IndexEntry] = ()
    index: int | None = None
    is_reached: bool | None = None


def find(asked: Reference, source: Setting, pin: Pin | None = None) -> Bundle:
    """Return what is asked for, verified: from a channel, or what packyard carries; to the byte what a ``pin`` says."""
    return offer(asked, source, pin=pin).bundle


def offer(asked: Reference, source: Setting, store: Store | None = None, *, pin: Pin | None = None) -> Offer:
    """Return what is asked for, and what a channel says of it, in as few requests as `find` takes.

    ``store`` is the channel, if it is open already.
    """
    if source.is_carried:
        return Offer(bundle=carried(asked, pin))
    from packyard.cli.channels import open_to_read

    store = store or open_to_read(source.value)
    found, choice = chosen(asked, source.value, store, pin)
    output.detail(f"{choice.entry} from {store.address} ({source.origin}), {choice.why}")
    if choice.entry.yanked:
        output.warning(f"{choice.entry} is yanked: {on_one_line(choice.entry.yanked)}")
    return found


def chosen(asked: Reference, address: str, store: Store, pin: Pin | None = None) -> tuple[Offer, Choice]:
    """Return what a channel has of what is asked for, verified, and why it is that; nothing is told."""
    from packyard.cli.channels import fetching, is_reached
    from packyard.sharing.fetching.fetch import fetch

    fetched = fetch(store, asked, fetching(address, store), pin=pin)
    read, versions = fetched.read(), fetched.versions
    reached = is_reached(store)
    found = Offer(bundle=read, proof=fetched.proof, versions=versions, index=fetched.number, is_reached=reached)
    return found, fetched.choice


def read(file: Path) -> Bundle:
    """Return the bundle in a file, verified."""
    return Bundle.open(regular.read(file, limit=LIMITS.packed_size), what=str(file))
