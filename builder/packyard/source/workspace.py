"""The workspace: the folder with ``packyard.yaml``, ``packages/``, ``bases/`` and ``overlays/``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from packyard.errors import InputError, Problem, suggest
from packyard.source.fields import Fields
from packyard.work.reads import Reads, SourcePath
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

    root_dir: Path
    name: str
    prefix: str
    license_file: str
    kubernetes: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)

    def package_names(self) -> list[str]:
        """Return the names of all packages, sorted."""
        return sorted(file.parent.name for file in (self.root_dir / "packages").glob("*/package.yaml"))

    def base_dir(self, name: str) -> Path:
        """Return the folder of a base."""
        return self.root_dir / "bases" / name

    def overlay_dir(self, kind: str, name: str) -> Path:
        """Return the folder of an overlay of a kind."""
        return self.root_dir / "overlays" / kind / name

    def option_names(self) -> list[str]:
        """Return the names of all options, sorted."""
        found = (self.root_dir / "overlays" / OPTIONS).glob("*/kustomization.yaml")
        return sorted(file.parent.name for file in found)

    def check_target(self, folder: Path) -> None:
        """Refuse a folder for results that lies in the sources: the next build would read it."""
        real = Path(os.path.realpath(folder))
        for name in ("packages", "bases", "overlays"):
            if real.is_relative_to(os.path.realpath(self.root_dir / name)):
                message = f"lies in the sources, in {self.root_dir / name}"
                raise InputError(Problem(message, file=str(folder), hint="choose a folder elsewhere"))

    def package_dir(self, name: str) -> Path:
        """Return a package's folder; an unknown name is refused with the nearest one."""
        folder = self.root_dir / "packages" / name
        if "/" in name or not (folder / "package.yaml").is_file():
            known = self.package_names()
            hint = suggest(name, known) or f"{len(known)} packages are known: packyard list"
            raise InputError(Problem(f"no package {name!r} in {self.root_dir / 'packages'}", hint=hint))
        return folder


def read(root_dir: Path) -> Workspace:
    """Read ``packyard.yaml``; nothing that it names may lie outside."""
    if isinstance(root_dir, SourcePath):
        return _read(root_dir)
    with Reads(root_dir) as reads:
        return replace(_read(reads.root_dir), root_dir=root_dir)


def _read(root_dir: Path) -> Workspace:
    file = root_dir / FILE
    if not file.is_file():
        raise InputError(Problem("no such file, so this is no workspace", file=str(file)))
    fields = Fields.of_file(file)
    fields.expect_header("packyard/v1", "Workspace")
    workspace = Workspace(
        root_dir=root_dir,
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
        path = root_dir / named.value
        if key == "license" and fields.reach(named, key, named.value, path) and not path.is_file():
            fields.fault(named, key, f"no file {named.value!r}")
        if key == "prefix" and not all(map(_PREFIX_PART.fullmatch, workspace.prefix.split("/"))):
            fields.fault(named, key, f"{named.value!r} has to be words joined by slashes")
    fields.done()
    return workspace


def find(start_dir: Path) -> Workspace | None:
    """Return the workspace that holds ``start_dir``, or None."""
    for folder in (start_dir, *start_dir.parents):
        if (folder / FILE).is_file():
            return read(folder)
    return None


def authored(folder: Path) -> list[Path]:
    """Return the files that stand in a folder of the sources, sorted; without what is hidden, and editors' copies."""
    return sorted(file for file in folder.glob("*") if file.is_file() and file.name[0] != "." and file.name[-1] != "~")


def built_in() -> Workspace:
    """Return the catalogue that this installation carries, or in a checkout the checkout's own."""
    here = Path(__file__).resolve().parent.parent
    carried = here / "catalogue"
    return read(carried if (carried / FILE).is_file() else here.parent.parent)
