"""Bundles in memory: what a channel has, what packyard carries, or what is in a file."""

from __future__ import annotations

from pathlib import Path

from packyard import __version__
from packyard.cli import output, state
from packyard.cli.preferences import Setting
from packyard.core.bundle.archive import LIMITS
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.reference import Reference, near
from packyard.core.errors import InputError, Problem
from packyard.core.files import regular


def carried(asked: Reference) -> Bundle:
    """Build a package of the catalogue that packyard carries."""
    from packyard.writing.build.packing import Packing, Settings
    from packyard.writing.source import workspace

    if not asked.admits(__version__):
        hint = "name a channel that has it: --from CHANNEL"
        problem = f"this packyard carries version {__version__}, not {asked.version or asked.choice}"
        raise InputError(Problem(problem, hint=hint))
    here = workspace.built_in()
    if asked.name not in (names := here.package_names()):
        hint = near(asked.name, names) or "packyard list shows what it has"
        raise InputError(Problem(f"packyard's catalogue has no {asked.name!r}", hint=hint))
    how = Settings(root_dir=here.root_dir, version=__version__, cache_dir=state.cache_dir())
    built = Packing(how)(asked.name)
    if built.fault:
        output.warning(built.fault)
    return Bundle.open(built.data, what=built.name)


def find(asked: Reference, source: Setting) -> Bundle:
    """Return what is asked for, verified: from a channel, or what packyard carries."""
    if source.is_carried:
        return carried(asked)
    from packyard.cli.channels import fetching, open_to_read
    from packyard.sharing.fetching.fetch import opened

    store = open_to_read(source.value)
    with opened(store, asked, fetching(source.value)) as fetched:
        output.detail(f"{fetched.choice.entry} from {store.address} ({source.origin}), {fetched.choice.why}")
        if fetched.choice.entry.yanked:
            output.warning(f"{fetched.choice.entry} is yanked: {fetched.choice.entry.yanked}")
        return fetched.read()


def read(file: Path) -> Bundle:
    """Return the bundle in a file, verified."""
    return Bundle.open(regular.read(file, limit=LIMITS.packed_size), what=str(file))
