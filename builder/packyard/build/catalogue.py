"""Many packages at once: each found among the results that are kept, or assembled, wherever an executor runs it.

All or nothing: if one package is refused, none is written, and everything that is wrong with any is said.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from packyard.build import tree
from packyard.build.draft import Draft
from packyard.build.packed import Packed
from packyard.build.staging import staging
from packyard.bundle.archive import Member
from packyard.digest import Digest
from packyard.errors import UnavailableError
from packyard.source import whole, workspace
from packyard.source.idle import Idle
from packyard.work import code, executor
from packyard.work.cache import Cache
from packyard.work.executor import Engine
from packyard.work.kept import Found, Kept
from packyard.work.reads import Fact, Observed, Reads, Shared
from packyard.yaml.sharing import Sharing

_own = threading.local()
_LIBRARIES = ("yaml", "jinja2", "markupsafe")  # what has a say in the bytes beside our own code


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a build of one package came to; ``fault`` says why it was not kept, where that was asked for."""

    name: str
    version: str
    digest: Digest
    tar: Digest
    size: int
    staged: bool
    options: tuple[str, ...] = ()
    idle: Idle = field(default_factory=dict)
    fault: str = ""


class Written(NamedTuple):
    """A bundle in a file, with what `Packed` says of it; and why it was not kept, where that was asked for."""

    file: Path
    options: tuple[str, ...]
    idle: Idle
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How packages are made: from which sources, as which version, and where results are kept (None: nowhere)."""

    root_dir: Path
    version: str
    cache_dir: Path | None = None


def build(
    plan: Plan, names: Sequence[str], out_dir: Path, *, on: Engine | None, done: Callable[[int], None] = lambda _: None
) -> list[Built]:
    """Build packages into a folder, ``OUT/NAME/`` and ``OUT/NAME.tar.gz``; one that is there already is not touched."""
    out_dir = out_dir.absolute()
    with staging(out_dir) as stage_dir:
        built = executor.run(_Staging(Packing(plan), out_dir, stage_dir), names, on=on, done=done)
        _check_whole(plan, names, built)
        tree.settle([item.name for item in built if item.staged], out_dir, stage_dir)
    return built


def pack(
    plan: Plan, names: Sequence[str], *, on: Engine | None, done: Callable[[int], None] = lambda _: None
) -> list[tuple[Packed, str]]:
    """Return the bundles of packages, in the order of their names, each with why it was not kept, if so."""
    return executor.run(Packing(plan), names, on=on, done=done)


def pack_into(
    plan: Plan, names: Sequence[str], folder: Path, *, on: Engine | None, done: Callable[[int], None] = lambda _: None
) -> list[Written]:
    """Write the bundles of packages into a folder, in the order of their names."""
    written = executor.run(_Writing(Packing(plan), folder.absolute()), names, on=on, done=done)
    _check_whole(plan, names, written)
    return written


def _check_whole(plan: Plan, names: Sequence[str], made: Sequence[Built] | Sequence[Written]) -> None:
    """Refuse what no use case has a use for; only all packages together can tell."""
    here = workspace.read(plan.root_dir)
    if names and set(here.package_names()) <= set(names):
        offered = {name for item in made for name in item.options}
        whole.check(here, offered, (item.idle for item in made))


class Packing:
    """Makes bundles or finds them. It is sent to a worker with every few tasks; what the worker made of the parts that
    packages share is good for all tasks of the run.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.run = secrets.token_hex(16)
        self.code = code.digest(_LIBRARIES) if plan.cache_dir else ""
        self.kept = Kept(Cache(plan.cache_dir), Observed(plan.root_dir)) if plan.cache_dir else None

    def __call__(self, name: str) -> tuple[Packed, str]:
        """Return a package's bundle, and why it was not kept, if so."""
        packed, _, fault = self.make(name)
        return packed, fault

    def make(self, name: str) -> tuple[Packed, Sequence[Member] | None, str]:
        """Return what a call does, with the bundle's files where they are at hand."""
        found = self.find(name)
        if found is not None:
            return found, None, ""
        draft, facts = self._draft(name)
        bundle = draft.bundle(self.plan.version)
        packed = Packed.of(bundle, draft.idle)
        fault = self._keep(self._key("bundle", name, self.plan.version), facts, packed.to_bytes)
        return packed, bundle.members, fault

    def find(self, name: str) -> Packed | None:
        """Return a package's bundle if it is kept."""
        found = self.kept.find(self._key("bundle", name, self.plan.version), Packed.parse) if self.kept else None
        asked = (name, self.plan.version)
        return found.result if found and (found.result.name, found.result.version) == asked else None

    def find_draft(self, name: str) -> Draft | None:
        """Return a package as it was composed, for this version too, if it is kept."""
        found = self._kept_draft(name)
        return found.result if found else None

    def _kept_draft(self, name: str) -> Found[Draft] | None:
        found = self.kept.find(self._key("draft", name), Draft.parse) if self.kept else None
        return found if found and (found.result.name, found.result.version) == (name, "") else None

    def _draft(self, name: str) -> tuple[Draft, list[Fact] | None]:
        """Compose a package, or find it, with the facts that it rests on; None where it is not to be kept."""
        found = self._kept_draft(name)
        if found:
            return found.result, found.facts
        from packyard.build import assemble  # nothing of it is needed where everything is kept

        sharing, shared = _of_run(self.run)
        with Reads(self.plan.root_dir, shared) as reads, sharing:
            draft = assemble.draft(workspace.read(reads.root_dir), name, self.plan.version)
        if reads.torn:
            return draft, None
        if not draft.version:
            self._keep(self._key("draft", name), reads.facts, draft.to_bytes)
        return draft, reads.facts

    def _keep(self, key: Digest, facts: list[Fact] | None, to_bytes: Callable[[], bytes]) -> str:
        """Keep a result, and return why not, where that was asked for and cannot be done."""
        if self.kept and facts is not None:
            try:
                self.kept.keep(key, facts, to_bytes())
            except UnavailableError as error:
                return str(error)
        return ""

    def _key(self, *words: str) -> Digest:
        return Digest.of(repr((self.code, *words)).encode())


def _of_run(run: str) -> tuple[Sharing, Shared]:
    """Return what this worker shares between packages: of any run what goes by texts, so that it is never out of date;
    of this run what was made of its sources.
    """
    if not hasattr(_own, "sharing"):
        _own.sharing, _own.run = Sharing(), ""
    if _own.run != run:
        _own.shared, _own.run = Shared(), run
    return _own.sharing, _own.shared


class _Writing:
    """Makes bundles or finds them, and writes each into a folder, so that no process holds many."""

    def __init__(self, packing: Packing, folder: Path) -> None:
        self.packing = packing
        self.folder = folder

    def __call__(self, name: str) -> Written:
        packed, fault = self.packing(name)
        file = self.folder / f"{name}.tar.gz"
        try:
            file.write_bytes(packed.data)
        except OSError as error:
            raise UnavailableError(f"{file}: {error.strerror or error}") from error
        return Written(file, packed.options, packed.idle, fault)


class _Staging:
    """Makes bundles or finds them, and stages those that are not in place."""

    def __init__(self, packing: Packing, out_dir: Path, stage_dir: Path) -> None:
        self.packing = packing
        self.out_dir = out_dir
        self.stage_dir = stage_dir

    def __call__(self, name: str) -> Built:
        packed, members, fault = self.packing.make(name)
        staged = tree.stage(packed, self.out_dir, self.stage_dir, members)
        return Built(
            name=name,
            version=packed.version,
            digest=Digest.of(packed.data),
            tar=packed.tar,
            size=len(packed.data),
            staged=staged,
            options=packed.options,
            idle=packed.idle,
            fault=fault,
        )
