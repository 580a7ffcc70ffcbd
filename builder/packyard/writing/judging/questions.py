"""All that `packyard test` asks of a source package.

build       it composes and packs
lint        nothing is wrong with what it is shipped as
kustomize   each use case is what kustomize builds of its sources
render      each use case renders once what is required has the value of its example
options     and so it does with each of its options alone
server      an API server would take that (only if it is asked)
tests       each test of the package's own comes to what its author expects, in each use case that it names
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packyard.core.bundle import archive
from packyard.core.bundle.bundle import Bundle
from packyard.core.errors import InputError, PackyardError
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize.builtin import Trial
from packyard.using.options.switch import states, switch
from packyard.using.render import programs
from packyard.using.render.programs import Program
from packyard.using.render.render import render, unset
from packyard.using.setting import set_values
from packyard.writing.build import package_lint, workspace_lint
from packyard.writing.build.packing import compose_draft
from packyard.writing.judging import by_kustomize, own_tests, server
from packyard.writing.source import library, tests
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
        lines = tuple(details)
        return cls(package, check, where, "failed" if lines else "passed", lines)

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
    try:
        draft = compose_draft(workspace, _VERSION, name)
        bundle = draft.bundle()
    except PackyardError as error:
        yield Verdict.of(name, "build", details=map(str, error.problems))
        return
    yield Verdict.of(name, "build")
    linted = [package_lint.lint(workspace, name, draft)]
    errors = [finding for finding in workspace_lint.judge(workspace, linted, alone=True) if finding.severity == "error"]
    yield Verdict.of(name, "lint", details=map(str, errors))
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        yield from _use_cases(workspace, bundle, Path(folder), judges)
        yield from _tests(workspace, bundle, judges)


def _use_cases(workspace: Workspace, bundle: Bundle, folder: Path, judges: Judges) -> Iterator[Verdict]:
    package = packages.read(workspace, bundle.name)
    unpacked_dir = folder / "use-cases"
    unpacked_dir.mkdir()
    unpacked, program = bundle.unpack(unpacked_dir), programs.find(judges.path)
    root_dir = _with_libraries(workspace, package.name, folder / "sources") if program else None
    for use_case in package.use_cases:
        directory = unpacked / workspace.prefix / use_case.path
        if program is None:
            yield Verdict.skipped(package.name, _KUSTOMIZE, use_case.path, "neither kustomize nor kubectl is on PATH")
        else:
            details = _by_kustomize(workspace, package, use_case, program, root_dir)
            yield Verdict.of(package.name, _KUSTOMIZE, use_case.path, details=details)
        yield from _rendered(package.name, use_case.path, directory, judges)
        yield from _with_options(package.name, use_case.path, directory, judges)


def _with_libraries(workspace: Workspace, name: str, folder: Path) -> Path | None:
    """Copy a package's sources to a folder with the libraries, where kustomize finds them, if there are libraries."""
    if not workspace.libraries:
        return None
    for path in ("bases", "overlays", f"packages/{name}"):
        if (workspace.root_dir / path).is_dir():
            shutil.copytree(workspace.root_dir / path, folder / path)
    for place, each in library.by_place(workspace.libraries).items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        archive.write(each.name, library.members(Sources(each.root_dir)), (folder / place).parent)
    return folder


def _by_kustomize(
    workspace: Workspace, package: Package, use_case: UseCase, program: Program, root_dir: Path | None
) -> list[str]:
    """Return what kustomize builds of the sources otherwise, or why it does not build them."""
    try:
        return by_kustomize.of_sources(workspace, package, use_case, program, root_dir)
    except PackyardError as error:
        return [str(problem) for problem in error.problems]


def _rendered(name: str, path: str, directory: Path, judges: Judges) -> Iterator[Verdict]:
    if silent := [setter.name for setter in unset(directory) if not setter.example]:
        yield Verdict.skipped(name, "render", path, f"no example: {', '.join(silent)}")
        return
    try:
        _fill_in(directory)
        manifests = render(directory, path=judges.path)
        differences = by_kustomize.of_directory(directory, manifests)
    except PackyardError as error:
        yield Verdict.of(name, "render", path, details=map(str, error.problems))
        return
    yield Verdict.of(name, "render", path, details=differences)
    if judges.is_server_asked:
        yield Verdict.of(name, "server", path, details=server.refusals(manifests, path=judges.path))


def _tests(workspace: Workspace, bundle: Bundle, judges: Judges) -> Iterator[Verdict]:
    """Make the package's own tests, each in each of its use cases."""
    package = packages.read(workspace, bundle.name)
    try:
        package_tests = tests.read_all(workspace, package)
    except InputError as error:
        yield Verdict.of(package.name, tests.DIRECTORY, details=map(str, error.problems))
        return
    for test in package_tests:
        for use_case in test.use_cases:
            where = f"{test.file.removeprefix(workspace.sources.shown(package.folder) + '/')}:{test.line} {use_case}"
            problems = own_tests.unmet(test, bundle, f"{workspace.prefix}/{use_case}", path=judges.path)
            yield Verdict.of(package.name, tests.DIRECTORY, where, details=map(str, problems))


def _fill_in(directory: Path) -> None:
    """Set what a use case and its options require to the examples."""
    if required := {setter.name: [setter.example or ""] for setter in unset(directory)}:
        set_values(directory, required)


def _with_options(name: str, path: str, directory: Path, judges: Judges) -> Iterator[Verdict]:
    """Render a use case with each option that fits it; what is required has its value by now."""
    trial = Trial(directory)
    fitting = [state.name for state in states(directory, trial) if state.fits and not state.is_enabled]
    details = list[str]()
    for option in fitting:
        try:
            switch(directory, [option], lambda _: trial)
            _fill_in(directory)
            faults = by_kustomize.of_directory(directory, render(directory, path=judges.path))
            switch(directory, [option], lambda _: trial, off=True)
        except PackyardError as error:
            faults = [str(problem) for problem in error.problems]
        details += (f"with {option}: {fault}" for fault in faults)
    if fitting:
        yield Verdict.of(name, "options", path, details=details)
