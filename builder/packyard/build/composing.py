"""The use cases of packages for those who check them, composed or found among the results that are kept."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from packyard.bundle import archive
from packyard.digest import Digest
from packyard.errors import UnavailableError
from packyard.setters.packagefiles import PackageFiles
from packyard.source import idle, option, package, workspace
from packyard.source.compose import compose
from packyard.source.idle import Idle
from packyard.work import code
from packyard.work.cache import Cache
from packyard.work.kept import Kept
from packyard.work.reads import Observed, Reads, Shared
from packyard.yaml.sharing import Sharing

_LIBRARIES = ("yaml", "jinja2", "markupsafe")  # those of `catalogue`: of one set the code is digested once


class UseCases(NamedTuple):
    """Those of one package and the directory of its options; the options' names; patches of its parts that reach
    nothing in it; and why it was not kept, where that was asked for.
    """

    files: list[PackageFiles]
    options: list[str]
    idle: Idle
    fault: str = ""


class Composing:
    """Composes packages of one workspace, or finds what was composed."""

    def __init__(self, root_dir: Path, cache_dir: Path | None) -> None:
        self.root_dir = root_dir
        self.kept = Kept(Cache(cache_dir), Observed(root_dir)) if cache_dir else None
        self._sharing, self._shared = Sharing(), Shared()

    def find(self, name: str) -> UseCases | None:
        """Return the use cases of a package if they are kept."""
        found = self.kept.find(_key(name), _parse) if self.kept else None
        return found.result if found else None

    def __call__(self, name: str) -> UseCases:
        """Return the use cases of a package."""
        found = self.find(name)
        if found is not None:
            return found
        with Reads(self.root_dir, self._shared) as reads, self._sharing:
            here = workspace.read(reads.root_dir)
            composed = compose(here, package.read(here, name))
        where = f"{name}/{here.prefix}"
        files = [item.package_files(f"{where}/{item.use_case.path}/") for item in composed.use_cases]
        if composed.options.all:
            files.append(composed.options.package_files(f"{where}/{option.DIRECTORY}/"))
        options = [item.name for item in composed.options.all]
        nothing = idle.below(composed.idle, self.root_dir)
        fault = ""
        if self.kept and not reads.torn:
            try:
                self.kept.keep(_key(name), reads.facts, _to_bytes(files, options, nothing))
            except UnavailableError as error:
                fault = str(error)
        return UseCases(files, options, nothing, fault)


def _key(name: str) -> Digest:
    return Digest.of(repr((code.digest(_LIBRARIES), "use cases", name)).encode())


def _to_bytes(use_cases: Sequence[PackageFiles], options: Sequence[str], nothing: Idle) -> bytes:
    listed = [(item.where, item.krmfile.decode(), *map(_texts, (item.resources, item.patches))) for item in use_cases]
    return zlib.compress(json.dumps([listed, options, idle.document(nothing)]).encode(), 1)


def _parse(data: bytes) -> UseCases:
    listed, options, nothing = json.loads(archive.inflate(data))
    files = [
        PackageFiles(krmfile.encode(), _data(resources), str(where), patches=_data(patches))
        for where, krmfile, resources, patches in listed
    ]
    return UseCases(files, [str(name) for name in options], idle.parse(nothing))


def _texts(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: data.decode() for path, data in files.items()}


def _data(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}
