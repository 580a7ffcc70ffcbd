"""All that `packyard test` asks of a source package.

build       it composes and packs
lint        nothing is wrong with what it is shipped as
kustomize   each use case is what kustomize builds of its sources
render      each use case renders once what is required has the value of its example
server      an API server would take that (only if it is asked)
README      each block of commands does what it is there for
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packyard.core.bundle.bundle import Bundle
from packyard.core.errors import PackyardError
from packyard.core.yaml.sources import LIBRARIES
from packyard.using.render import programs
from packyard.using.render.programs import Program
from packyard.using.render.render import render, unset
from packyard.using.setters.change import change_setters
from packyard.writing.build import workspace_lint
from packyard.writing.build.draft import README
from packyard.writing.build.packing import Packing, Settings
from packyard.writing.judging import by_kustomize, runnable, server, typed
from packyard.writing.source import package as packages
from packyard.writing.source.package import Package, UseCase
from packyard.writing.source.workspace import Workspace

State = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One check of a package, ``where`` in it, what it came to, and why it failed or was skipped."""

    package: str
    check: str
    where: str
    state: State
    details: tuple[str, ...] = ()

    @classmethod
    def of(cls, package: str, check: str, where: str = "", *, details: Iterable[str] = ()) -> Verdict:
        """Return the verdict of a check that found these details: without any it has passed."""
        found = tuple(details)
        return cls(package, check, where, "failed" if found else "passed", found)

    @classmethod
    def skipped(cls, package: str, check: str, where: str, reason: str) -> Verdict:
        """Return the verdict of a check that could not be made."""
        return cls(package, check, where, "skipped", (reason,))


_VERSION = "0.0.0"
_KUSTOMIZE = "kustomize"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """Who is asked: programs on the PATH of an environment, and the API server of kubectl's current context."""

    environment: Mapping[str, str]
    is_server_asked: bool = False

    @property
    def path(self) -> str:
        """Where programs are looked for."""
        return self.environment.get("PATH", "")


def judge(workspace: Workspace, name: str, judges: Judges) -> Iterator[Verdict]:
    """Yield the verdict of each check, as it is reached; what does not build is not looked at further."""
    packing = Packing(Settings(root_dir=workspace.root_dir, version=_VERSION, libraries=workspace.libraries))
    try:
        drafted = packing.draft(name)
        bundle = drafted[0].bundle(_VERSION)
    except PackyardError as error:
        yield Verdict.of(name, "build", details=map(str, error.problems))
        return
    yield Verdict.of(name, "build")
    linted = workspace_lint.Linting(packing)(name, drafted)
    errors = [each for each in workspace_lint.judge(workspace, [linted], alone=True) if each.severity == "error"]
    yield Verdict.of(name, "lint", details=map(str, errors))
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        Path(folder, "use-cases").mkdir()
        yield from _use_cases(workspace, bundle, Path(folder, "use-cases"), judges)
        yield from _readme(bundle, Path(folder), judges)


def _use_cases(workspace: Workspace, bundle: Bundle, folder: Path, judges: Judges) -> Iterator[Verdict]:
    package = packages.read(workspace, bundle.name)
    package_dir, program = bundle.unpack(folder) / workspace.prefix, programs.find(judges.path)
    for use_case in package.use_cases:
        directory = package_dir / use_case.path
        yield _by_kustomize(workspace, package, use_case, program)
        yield from _rendered(package.name, use_case.path, directory, judges)


def _by_kustomize(workspace: Workspace, package: Package, use_case: UseCase, program: Program | None) -> Verdict:
    """Return what kustomize says of the sources; parts that extend a library by path it finds in a copy alone."""
    if program is None:
        return Verdict.skipped(package.name, _KUSTOMIZE, use_case.path, "neither kustomize nor kubectl is on PATH")
    try:
        found = by_kustomize.of_sources(workspace, package, use_case, program)
    except PackyardError as error:
        if workspace.libraries and not (workspace.root_dir / LIBRARIES).is_dir():
            reason = "packyard update --vendor copies the libraries that kustomize needs for it"
            return Verdict.skipped(package.name, _KUSTOMIZE, use_case.path, reason)
        found = [str(each) for each in error.problems]
    return Verdict.of(package.name, _KUSTOMIZE, use_case.path, details=found)


def _rendered(name: str, path: str, directory: Path, judges: Judges) -> Iterator[Verdict]:
    required = unset(directory)
    if silent := [setter.name for setter in required if not setter.example]:
        yield Verdict.skipped(name, "render", path, f"no example: {', '.join(silent)}")
        return
    try:
        if required:
            change_setters(directory, {setter.name: [setter.example or ""] for setter in required})
        manifests = render(directory, path=judges.path)
        found = by_kustomize.of_directory(directory, manifests)
    except PackyardError as error:
        yield Verdict.of(name, "render", path, details=map(str, error.problems))
        return
    yield Verdict.of(name, "render", path, details=found)
    if judges.is_server_asked:
        yield Verdict.of(name, "server", path, details=server.refusals(manifests, path=judges.path))


def _readme(bundle: Bundle, folder: Path, judges: Judges) -> Iterator[Verdict]:
    """Type what the README tells, one block after the other, in one directory that holds the package."""
    parent_dir = folder.joinpath("readme", *["in"] * runnable.DEPTH)
    parent_dir.mkdir(parents=True)
    text = (bundle.unpack(parent_dir) / README).read_text("utf-8")
    program = programs.find(judges.path)
    programs_dir = typed.stand_ins(folder / "programs", program)
    for block in typed.blocks(text):
        where = f"line {block.line}"
        if missing := typed.missing(block, program):
            yield Verdict.skipped(bundle.name, README, where, f"{missing!r} is not run here")
        else:
            said = typed.run(block, parent_dir, programs_dir, judges.environment)
            yield Verdict.of(bundle.name, README, where, details=[said] if said else [])
