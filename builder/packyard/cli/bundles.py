"""Bundles in memory: what a channel has that a command line names, what packyard carries, or what is in a file."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from packyard import __version__
from packyard.cli import output, preferences, progress
from packyard.cli.directory import meant
from packyard.cli.preferences import Setting
from packyard.cli.rows import Rows
from packyard.core.bundle import lock as locks
from packyard.core.bundle import receipt
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.lock import Pin
from packyard.core.bundle.receipt import CARRIED
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, IntegrityError, Problem, absent, on_one_line
from packyard.core.files import home, regular
from packyard.core.work.cache import Cache
from packyard.sharing import stores
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching.fetch import Fetched, Fetching, fetch, verify
from packyard.sharing.index import access
from packyard.sharing.index.index import Index
from packyard.sharing.stores.store import Store
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import Trust

Tell = Callable[..., None]
#: What is said of a bundle, and of what was done for it.
DONE = "name, version, tar, digest, size, model, useCases, needs, description, yanked, key, status"
BUNDLES = Rows("package", DONE, columns="BUNDLE=key, STATUS")
_BUNDLES_LIMIT = 2 * 1024**3  # bytes of bundles that are kept


def carried_names() -> Sequence[str]:
    """Return the names of the packages that packyard carries."""
    from packyard.writing.source import workspace

    return workspace.built_in().package_names()


def carried(package: Reference, pin: Pin | None = None) -> Bundle:
    """Build a package that packyard carries; refuse another one than a lock pins."""
    from packyard.writing.build.draft import compose_draft
    from packyard.writing.source import workspace

    here = workspace.built_in()
    if package.name not in (names := here.package_names()):
        message = f"packyard carries no package {package.name!r}"
        raise InputError(absent(message, package.name, names, "packyard list shows what it has"))
    if not package.admits(__version__):
        hint = "name a channel that has it: --from CHANNEL"
        if pin:
            hint = f"install packyard {pin.version}, or pin this one: packyard get {package.name} --lock FILE"
        problem = f"this packyard carries version {__version__}, not {package.version or package.choice}"
        raise InputError(Problem(problem, hint=hint))
    bundle = compose_draft(here, __version__, package.name).bundle()
    if pin and not pin.admits(bundle.tar, bundle.digest):
        problem = f"{bundle.name}@{bundle.version} is not what is pinned: tar {bundle.tar}, not {pin.tar}"
        raise IntegrityError(Problem(problem, hint="another packyard of this version made the pin: install that one"))
    return bundle


def pinned(file: Path, flag: str | None, package: Reference | None = None) -> Iterator[tuple[Reference, Setting, Pin]]:
    """Yield what a lock file notes, or one ``package`` of it, each with its channel unless ``--from`` names one."""
    lock, channel = locks.read(file), preferences.channel(flag)
    from_ = preferences.flag_for(flag) if flag else ""
    pins = {package.name: lock.pinned(package, file=str(file), flag=from_)} if package else lock.packages
    for name, pin in sorted(pins.items()):
        yield Reference(name=name, version=pin.version), channel or Setting(pin.channel, str(file)), pin


def offer(
    item: Reference, source: Setting, store: Store | None = None, *, pin: Pin | None = None, tell: Tell = output.detail
) -> Fetched:
    """Return what is asked for, verified, and what a channel says of it; to the byte what a ``pin`` says.

    ``tell`` is told where it is from, why it is that one, and who signed it; of one that is yanked there is a warning.
    ``store`` is the channel, if it is open: then its own bytes are read, and nothing is kept.
    """
    try:
        with progress.busy(f"{'building' if source.is_carried else 'fetching'} {item}"):
            if source.is_carried:
                bundle = carried(item, pin)
                fetched = Fetched(bundle=bundle, entry=IndexEntry.of(bundle))
                tell(f"{fetched.entry} from {source}")
                return fetched
            how = fetching(source.value)
            how, store = (replace(how, cache=None), store) if store else (how, open_channel(source.value))
            fetched = fetch(store, item, how, pin=pin)
    except InputError as error:
        if item.name not in [problem.missing for problem in error.problems]:
            raise
        hint = f"packyard carries it: add --from {CARRIED}" if item.name in carried_names() else ""
        if not hint and (received := receipt.read(Path(item.name))):
            hint = f"{item.name}/{receipt.FILE} names another channel:{preferences.flag_for(received.channel)}"
        hint = hint or meant(item.name)
        raise error.mapped(lambda problem: problem._replace(hint=hint or problem.hint)) from error
    kept = ", kept since it was fetched" * fetched.is_kept
    tell(f"{fetched.entry} from {store.address} ({source.origin}), {fetched.why}{kept}")
    if fetched.entry.yanked:
        output.warning(f"{fetched.entry} is yanked: {on_one_line(fetched.entry.yanked)}")
    tell(*signers(fetched))
    return fetched


def read(file: Path) -> Bundle:
    """Return the bundle in a file, verified."""
    return Bundle.open(regular.read(file, limit=LIMITS.packed_size), what=str(file))


def proved(file: Path, trusted: Trust) -> Fetched:
    """Return the bundle in a file, and what is proved about it by what is beside the file."""
    bundle = read(file)
    attested = next(((end, data) for end in provenance.ENDS if (data := beside(file, end)) is not None), None)
    entry = IndexEntry.of(bundle)
    return Fetched(bundle=bundle, entry=entry, proof=verify(entry, attested, trusted, what=str(file)))


def beside(file: Path, end: str) -> bytes | None:
    """Return the file beside one, with this end, if it is there."""
    named = file.with_name(file.name + end)
    return regular.read(named) if named.exists() else None


def signers(fetched: Fetched | None) -> Sequence[str]:
    """Return lines that say who signed what was fetched, as far as the user can tell."""
    return fetched.proof.signed if fetched and fetched.proof else ()


def open_channel(address: str) -> Store:
    """Open a channel."""
    return stores.open_store(address, tell=output.warning)


def listed(address: str, store: Store | None = None) -> Index:
    """Return what a channel lists, as far as the user trusts it; ``store`` is the channel, if it is open."""
    store = store or open_channel(address)
    return access.read(store, preferences.trust(address), preferences.memory(address))


def signed(address: str, index: Index) -> Sequence[str]:
    """Return lines that say who signed an index, as far as the user can tell."""
    if not index.channel:
        return ["a registry has no index: each version is signed by itself, or not"]
    return preferences.trust(address).signed(index.signers, index.claimants)


def fetching(address: str) -> Fetching:
    """Return how to fetch from a channel: the user's trust, memory and cache."""
    trusted, memory = preferences.trust(address), preferences.memory(address)
    return Fetching(trusted=trusted, memory=memory, cache=bundle_cache(), warn=output.warning)


def bundle_cache() -> Cache:
    """Return the bundles that were fetched, by their digests; they are verified again, whoever wrote there."""
    return Cache(home.cache_dir() / "bundles", limit=_BUNDLES_LIMIT)


def row(entry: IndexEntry, status: str) -> dict[str, object]:
    """Return the row of a bundle and what was done for it."""
    return {**entry.document(), "needs": list(entry.needs), "key": entry.key, "status": status}


def show(store: Store, rows: Sequence[tuple[IndexEntry, str]], form: str) -> None:
    """Print a row for each bundle that is in a channel then, and count them."""
    BUNDLES.show([row(entry, status) for entry, status in rows], form)
    counts = Counter(status for _, status in rows)
    summary = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "nothing to do"
    output.note(f"{summary}: {store.address}")
