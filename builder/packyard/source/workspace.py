"""The workspace: the folder with ``packyard.yaml``, ``packages/``, ``bases/`` and ``overlays/``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import basename, dirname

from packyard.errors import InputError, Problem, suggest
from packyard.kubernetes import kustomization
from packyard.source.fields import Fields
from packyard.source.sources import Sources
from packyard.work.memo import Memo
from packyard.yaml.node import Scalar

FILE = "packyard.yaml"
#: The kinds of overlays, each a folder below ``overlays``.
STORAGE, PROGRAMS, OPTIONS = "storage", "programs", "options"
_PREFIX_PART = re.compile(r"[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A catalogue's sources; `path prefix` is where use cases stand inside a package, ``quickstart/mlops``.

    ``moved`` says of setters that packages used to have where each went.
    """

    sources: Sources
    name: str
    prefix: str
    license_file: str
    kubernetes: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)

    @property
    def root_dir(self) -> Path:
        """The folder, as the user named it."""
        return self.sources.root_dir

    def package_names(self) -> list[str]:
        """Return the names of all packages, sorted."""
        return sorted(basename(dirname(file)) for file in self.sources.list("packages", "*/package.yaml"))

    def base_dir(self, name: str) -> str:
        """Return the folder of a base."""
        return f"bases/{name}"

    def overlay_dir(self, kind: str, name: str) -> str:
        """Return the folder of an overlay of a kind."""
        return f"overlays/{kind}/{name}"

    def option_names(self) -> list[str]:
        """Return the names of all options, sorted."""
        found = self.sources.list(f"overlays/{OPTIONS}", f"*/{kustomization.FILE}")
        return sorted(basename(dirname(file)) for file in found)

    def check_target(self, folder: Path) -> None:
        """Refuse a folder for results that lies in the sources: the next build would read it."""
        real = Path(os.path.realpath(folder))
        for name in ("packages", "bases", "overlays"):
            if real.is_relative_to(os.path.realpath(self.root_dir / name)):
                message = f"lies in the sources, in {self.root_dir / name}"
                raise InputError(Problem(message, file=str(folder), hint="choose a folder elsewhere"))

    def package_dir(self, name: str) -> str:
        """Return a package's folder; an unknown name is refused with the nearest one."""
        folder = f"packages/{name}"
        if "/" in name or not self.sources.is_file(f"{folder}/package.yaml"):
            known = self.package_names()
            hint = suggest(name, known) or f"{len(known)} packages are known: packyard list"
            raise InputError(Problem(f"no package {name!r} in {self.root_dir / 'packages'}", hint=hint))
        return folder


def read(root_dir: Path, memo: Memo | None = None) -> Workspace:
    """Read ``packyard.yaml``; nothing that it names may lie outside. ``memo`` is that of a run with many tasks."""
    sources = Sources(root_dir, memo)
    if not sources.is_file(FILE):
        raise InputError(Problem("no such file, so this is not a workspace", file=sources.shown(FILE)))
    fields = Fields.of_file(sources, FILE)
    fields.expect_header("packyard/v1", "Workspace")
    workspace = Workspace(
        sources=sources,
        name=fields.text("name"),
        prefix=fields.text("prefix").strip("/"),
        license_file=fields.text("license"),
        kubernetes=tuple(fields.texts("kubernetes")),
        moved=fields.sentences("moved"),
    )
    for key in ("prefix", "license"):
        named = fields.node.get(key) if fields.node else None
        if not isinstance(named, Scalar):
            continue
        is_reached = key != "license" or fields.reach(named, key, named.value, named.value, sources)
        if key == "license" and is_reached and not sources.is_file(named.value):
            fields.fault(named, key, f"no file {named.value!r}")
        if key == "prefix" and not all(map(_PREFIX_PART.fullmatch, workspace.prefix.split("/"))):
            fields.fault(named, key, f"{named.value!r} must be words joined by slashes")
    fields.done()
    return workspace


def find(start_dir: Path) -> Workspace | None:
    """Return the workspace that holds ``start_dir``, or None; its paths are shown from there: ``../../bases/x``."""
    for above in range(len(start_dir.resolve().parts)):
        folder = start_dir.joinpath(*[".."] * above)
        if (folder / FILE).is_file():
            return read(folder)
    return None


def authored(sources: Sources, folder: str) -> list[str]:
    """Return the files that stand in a folder of the sources, sorted; without what is hidden, and editors' copies."""
    return [
        path
        for path in sources.list(folder)
        if sources.is_file(path) and basename(path)[0] != "." and basename(path)[-1] != "~"
    ]


def built_in() -> Workspace:
    """Return the catalogue that this installation carries, or in a checkout the checkout's own."""
    here = Path(__file__).resolve().parent.parent
    carried = here / "catalogue"
    return read(carried if (carried / FILE).is_file() else here.parent.parent)
