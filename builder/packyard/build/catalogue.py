"""Many packages at once: each is found in the cache, or assembled, by whatever executor runs it.

All or nothing: if one package is refused, none is written, and everything that is wrong with any is said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from packyard.build import tree
from packyard.build.built import Built
from packyard.build.draft import MARK, Draft
from packyard.build.staging import staging
from packyard.bundle.archive import Member
from packyard.bundle.bundle import Bundle
from packyard.digest import Digest
from packyard.errors import UnavailableError
from packyard.source import library, library_search, whole, workspace
from packyard.source.library import Library
from packyard.source.sources import Observed
from packyard.source.workspace import Workspace
from packyard.work import code, executor
from packyard.work.cache import Cache
from packyard.work.executor import Engine
from packyard.work.kept import Fact, Found, Kept
from packyard.work.memo import Memo

_LIBRARIES = ("yaml", "jinja2", "markupsafe")  # what has a say in the bytes beside our own code


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How packages are built: from which sources, as which version, and where results are cached (None: nowhere).

    ``libraries`` are those of the workspace, if they were found already.
    """

    root_dir: Path
    version: str
    cache_dir: Path | None = None
    libraries: tuple[Library, ...] | None = None

    def workspace(self, memo: Memo | None = None) -> Workspace:
        """Read the workspace."""
        return workspace.read(self.root_dir, memo, self.libraries)


def build(
    settings: Settings,
    names: Sequence[str],
    out_dir: Path,
    *,
    on: Engine | None,
    done: Callable[[int], None] = lambda _: None,
) -> list[Built]:
    """Build packages into a folder, ``OUT/NAME/`` and ``OUT/NAME.tar.gz``; one that is there already is not touched."""
    out_dir = out_dir.absolute()
    with staging(out_dir) as stage_dir:
        built = executor.run(partial(_stage, Packing(settings), out_dir, stage_dir), names, on=on, done=done)
        whole.check(settings.workspace(), names, built)
        tree.settle([item.name for item in built if item.staged], out_dir, stage_dir)
    return built


def _nothing(_: Bundle) -> Mapping[str, bytes]:
    return {}


def pack_into(
    settings: Settings,
    names: Sequence[str],
    folder: Path,
    *,
    on: Engine | None,
    done: Callable[[int], None] = lambda _: None,
    describe: Callable[[Bundle], Mapping[str, bytes]] = _nothing,
) -> list[Built]:
    """Write the bundles of packages into a folder, in the order of their names; `read_inputs` has what each is from.

    What ``describe``, called where a bundle is packed, says of it is written beside it: NAME and an ending of its own.
    """
    written = executor.run(partial(_write, Packing(settings), folder.absolute(), describe), names, on=on, done=done)
    whole.check(settings.workspace(), names, written)
    return written


def read_inputs(folder: Path, name: str) -> dict[str, Digest]:
    """Return the files that a bundle was made from, which `pack_into` wrote beside it."""
    return {path: Digest(found) for path, found in json.loads(_inputs_file(folder, name).read_bytes()).items()}


class Packing:
    """Builds bundles, or finds them in the cache; what it has made of the parts that packages share, it remembers."""

    def __init__(self, settings: Settings) -> None:
        if settings.libraries is None:
            settings = replace(settings, libraries=library_search.find(settings.root_dir))
        self.settings = settings
        self.memo = Memo()
        self.kept = kept(settings.root_dir, settings.cache_dir, settings.libraries or ())

    def __call__(self, name: str) -> Built:
        """Return a package's bundle."""
        return self.make(name)[0]

    def make(self, name: str) -> tuple[Built, Sequence[Member] | None]:
        """Return what a call does, with the bundle's files where they are at hand."""
        found = self.find(name)
        if found is not None:
            return found, None
        draft, facts = self._draft(name)
        bundle = draft.bundle(self.settings.version)
        built = Built.of(bundle, draft.idle)
        words = ("bundle", name, self.settings.version)
        fault = "" if facts is None else self.kept.keep(words, facts, built.to_bytes)
        return replace(built, fault=fault, inputs=_inputs(facts or ())), bundle.members

    def find(self, name: str) -> Built | None:
        """Return a package's bundle if it is in the cache."""
        asked = (name, self.settings.version)
        found = self.kept.find(("bundle", *asked), Built.parse)
        if not found or (found.result.name, found.result.version) != asked:
            return None
        return replace(found.result, inputs=_inputs(found.facts))

    def find_draft(self, name: str) -> Found[Draft] | None:
        """Return a package as it was composed, for this version too, if it is in the cache."""
        found = self.kept.find(("draft", name), Draft.parse)
        described = found.result.manifest if found else None
        return found if described and (described.name, described.version) == (name, MARK) else None

    def readme(self, name: str) -> bytes:
        """Return a package's README."""
        return self._draft(name)[0].readme(self.settings.version)

    def asked(self, name: str) -> list[Fact]:
        """Return what composing a package asks of the sources, without composing it."""
        from packyard.build import assemble

        return assemble.asked(self.settings.workspace(self.memo), name)

    def _draft(self, name: str) -> tuple[Draft, list[Fact] | None]:
        """Compose a package, or find it, with the facts that it rests on; None where it is not to be cached."""
        found = self.find_draft(name)
        if found:
            return found.result, found.facts
        from packyard.build import assemble  # which is slow to import

        here = self.settings.workspace(self.memo)
        draft = assemble.draft(here, name, self.settings.version)
        if here.sources.torn:
            return draft, None
        if draft.manifest.version == MARK:
            self.kept.keep(("draft", name), here.sources.facts, draft.to_bytes)
        return draft, here.sources.facts


def kept(root_dir: Path, cache_dir: Path | None, libraries: Sequence[Library]) -> Kept:
    """Return the results that were made from sources by this code, with these libraries."""
    cache, observed = Cache(cache_dir) if cache_dir else None, Observed(root_dir, library.places(libraries))
    return Kept(cache=cache, code=code.digest(_LIBRARIES) if cache else None, agrees=observed.agrees)


def _inputs(facts: Iterable[Fact]) -> dict[str, Digest]:
    """Return the files that were read, among what was asked."""
    return {path: Digest(answer) for question, path, answer in facts if question == "bytes" and answer[:7] == "sha256:"}


def _inputs_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.inputs.json"


def _write(packing: Packing, folder: Path, describe: Callable[[Bundle], Mapping[str, bytes]], name: str) -> Built:
    """Write a bundle into a folder; its bytes stay there, so that no process holds many."""
    built = packing(name)
    file = folder / f"{name}.tar.gz"
    said = {} if describe is _nothing else describe(Bundle.open(built.data, what=file.name))
    try:
        file.write_bytes(built.data)
        for ending, data in said.items():
            (folder / f"{name}{ending}").write_bytes(data)
        _inputs_file(folder, name).write_text(json.dumps(built.inputs))
    except OSError as error:
        raise UnavailableError(f"{file}: {error.strerror or error}") from error
    return replace(built, data=b"", inputs={})


def _stage(packing: Packing, out_dir: Path, stage_dir: Path, name: str) -> Built:
    """Stage a bundle that is not in place."""
    built, members = packing.make(name)
    return replace(built, data=b"", inputs={}, staged=tree.stage(built, out_dir, stage_dir, members))
