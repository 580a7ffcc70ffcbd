"""The use cases of packages for those who check them, composed or found in the cache."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from packyard.build.catalogue import kept
from packyard.bundle import archive
from packyard.options.folder import NAME as OPTIONS
from packyard.setters.packages import PackageFiles
from packyard.source import idle, library_search, package, workspace
from packyard.source.compose import compose
from packyard.source.idle import Idle
from packyard.source.library import Library
from packyard.work.memo import Memo


class UseCases(NamedTuple):
    """Those of one package and the directory of its options; the options' names; patches of its parts that reach
    nothing in it; and why it was not cached, if so.
    """

    files: list[PackageFiles]
    options: list[str]
    idle: Idle
    fault: str = ""


class Composing:
    """Composes packages of one workspace, or finds them in the cache."""

    def __init__(self, root_dir: Path, cache_dir: Path | None, libraries: tuple[Library, ...] | None = None) -> None:
        self.root_dir = root_dir
        self.libraries = library_search.find(root_dir) if libraries is None else libraries
        self.memo = Memo()
        self.kept = kept(root_dir, cache_dir, self.libraries)

    def find(self, name: str) -> UseCases | None:
        """Return the use cases of a package if they are in the cache."""
        found = self.kept.find(("use cases", name), _parse)
        return found.result if found else None

    def __call__(self, name: str) -> UseCases:
        """Return the use cases of a package."""
        found = self.find(name)
        if found is not None:
            return found
        here = workspace.read(self.root_dir, self.memo, self.libraries)
        composed = compose(here, package.read(here, name))
        where = f"{name}/{here.prefix}"
        files = [item.package_files(f"{where}/{item.use_case.path}/") for item in composed.use_cases]
        if composed.options.all:
            files.append(composed.options.package_files(f"{where}/{OPTIONS}/"))
        made = UseCases(files, [item.name for item in composed.options.all], composed.idle)
        if here.sources.torn:
            return made
        fault = self.kept.keep(("use cases", name), here.sources.facts, lambda: _to_bytes(made))
        return made._replace(fault=fault)


def _to_bytes(made: UseCases) -> bytes:
    listed = [(item.where, item.krmfile.decode(), *map(_texts, (item.resources, item.patches))) for item in made.files]
    return zlib.compress(json.dumps([listed, made.options, idle.document(made.idle)]).encode(), 1)


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
