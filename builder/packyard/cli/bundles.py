"""Bundles in memory: what a channel has, what packyard carries, or what is in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packyard import __version__
from packyard.cli import output
from packyard.cli.preferences import Setting
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.receipt import CARRIED
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, IntegrityError, Problem, on_one_line, suggest
from packyard.core.files import regular

if TYPE_CHECKING:
    from packyard.core.bundle.lock import Pin
    from packyard.sharing.entry import IndexEntry
    from packyard.sharing.fetching.verify import Proof
    from packyard.sharing.stores.store import Store


def carried_names() -> Sequence[str]:
    """Return the names of the packages that packyard carries."""
    from packyard.writing.source import workspace

    return workspace.built_in().package_names()


def carried(asked: Reference, pin: Pin | None = None) -> Bundle:
    """Build a package that packyard carries; refuse another one than a lock pins."""
    from packyard.writing.build.draft import compose_draft
    from packyard.writing.source import workspace

    here = workspace.built_in()
    if asked.name not in (names := here.package_names()):
        hint = suggest(asked.name, names) or "packyard list shows what it has"
        raise InputError(Problem(f"packyard carries no package {asked.name!r}", hint=hint))
    if not asked.admits(__version__):
        hint = "name a channel that has it: --from CHANNEL"
        if pin:
            hint = f"install packyard {pin.version}, or pin this one: packyard get {asked.name} --lock FILE"
        problem = f"this packyard carries version {__version__}, not {asked.version or asked.choice}"
        raise InputError(Problem(problem, hint=hint))
    bundle = compose_draft(here, __version__, asked.name).bundle()
    if pin and not pin.admits(bundle.tar, bundle.digest):
        problem = f"{bundle.name}@{bundle.version} is not what is pinned: tar {bundle.tar}, not {pin.tar}"
        raise IntegrityError(Problem(problem, hint="another packyard of this version made the pin: install that one"))
    return bundle


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A bundle, verified, what its source says of it and why it is that one, and what is proved of it.

    ``versions`` are those of its name, and ``index`` is the number of the index that lists them. Where packyard carries
    it, nothing is proved, and there is no index.
    """

    bundle: Bundle
    entry: IndexEntry
    source: Setting
    address: str = ""
    why: str = ""
    proof: Proof | None = None
    versions: Sequence[IndexEntry] = ()
    index: int | None = None


def find(
    asked: Reference,
    source: Setting,
    store: Store | None = None,
    *,
    pin: Pin | None = None,
    tell: Callable[[str], None] = output.detail,
) -> Offer:
    """Return what is asked for, verified, from a channel or as packyard carries it; to the byte what a ``pin`` says.

    ``store`` is the channel, if it is open already; ``tell`` hears where it is from, and why it is that one. The user
    is warned of one that is yanked.
    """
    from packyard.sharing.entry import IndexEntry

    if source.is_carried:
        bundle = carried(asked, pin)
        return Offer(bundle=bundle, entry=IndexEntry.of(bundle), source=source)
    from packyard.cli.channels import fetching, open_channel
    from packyard.sharing.fetching.fetch import fetch

    store = store or open_channel(source.value)
    try:
        fetched = fetch(store, asked, fetching(source.value, store), pin=pin)
    except InputError as error:
        if asked.name in [problem.missing for problem in error.problems] and asked.name in carried_names():
            hint = f"packyard carries it: add --from {CARRIED}"
            raise error.mapped(lambda problem: problem._replace(hint=hint)) from error
        raise
    entry, why = fetched.choice.entry, fetched.choice.why
    tell(f"{entry} from {store.address} ({source.origin}), {why}")
    if entry.yanked:
        output.warning(f"{entry} is yanked: {on_one_line(entry.yanked)}")
    return Offer(
        bundle=fetched.bundle,
        entry=entry,
        source=source,
        address=store.address,
        why=why,
        proof=fetched.proof,
        versions=fetched.package.entries,
        index=fetched.number,
    )


def read(file: Path) -> Bundle:
    """Return the bundle in a file, verified."""
    return Bundle.open(regular.read(file, limit=LIMITS.packed_size), what=str(file))
