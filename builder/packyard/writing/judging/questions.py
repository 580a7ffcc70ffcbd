"""All that `packyard test` asks of source packages.

build       it composes and packs
lint        nothing is wrong with what it is shipped as
render      each use case renders once what is required has the value of its example
kustomize   packyard's own builder gives the same of it as kustomize
options     and so it does with each of its options alone
server      an API server would take that (only if it is asked)
tests       each test of the package's own comes to what its author expects, in each use case that it names
workspace   nothing more is wrong with all packages together, and with parts that none uses
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from packyard.core.bundle.bundle import Bundle
from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.core.kubernetes.kinds import kind_of
from packyard.core.kubernetes.lenient import name_of
from packyard.core.yaml.node import Source
from packyard.using.kustomize import builtin, objects
from packyard.using.options.switch import states, switch
from packyard.using.render import programs
from packyard.using.render.render import Inputs, render
from packyard.writing.build import package_lint, workspace_lint
from packyard.writing.build.draft import compose_draft
from packyard.writing.build.own_rules import judges_of
from packyard.writing.build.package_lint import Linted
from packyard.writing.checks.finding import Finding
from packyard.writing.judging import own_tests
from packyard.writing.source import package as packages
from packyard.writing.source import tests
from packyard.writing.source.trace import Traced
from packyard.writing.source.workspace import Workspace

State = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One check of a package, ``where`` in it, what it came to, why it failed or was skipped, and warnings of lint.

    ``misfits`` says which options do not fit there, and why; ``unchecked`` which kinds have no schema.
    """

    package: str
    check: str
    where: str
    state: State
    details: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()

    @classmethod
    def of(cls, package: str, check: str, where: str = "", *, details: Iterable[str] = ()) -> "Verdict":
        """Return the verdict of a check that found these details: without any it has passed."""
        lines = tuple(details)
        return cls(package, check, where, "failed" if lines else "passed", lines)

    @classmethod
    def of_lint(cls, package: str, check: str, findings: Sequence[Finding]) -> "Verdict":
        """Return the verdict of lint: errors alone fail."""
        errors = (str(finding) for finding in findings if finding.severity == "error")
        warnings = (str(item.named) for item in findings if item.severity == "warning")
        return replace(cls.of(package, check, details=errors), warnings=tuple(warnings))

    @classmethod
    def skipped(cls, package: str, check: str, where: str, *reasons: str) -> "Verdict":
        """Return the verdict of a check that could not be made."""
        return cls(package, check, where, "skipped", reasons)


_VERSION = "0.0.0"


def judge(
    workspace: Workspace, names: Sequence[str], *, is_whole: bool, path: str, is_server_asked: bool = False
) -> Iterator[Verdict]:
    """Yield the verdict of each check, as it is reached; what does not build is not looked at further.

    Programs are looked for on ``path``; the API server that may be asked is that of kubectl's current context.
    """
    linted, known = list[Linted](), set[Finding]()
    for name in names:
        try:
            draft = compose_draft(workspace, _VERSION, name)
            bundle = draft.bundle()
        except PackyardError as error:
            yield Verdict.of(name, "build", details=map(str, error.problems))
            linted.append(Linted(name, is_broken=True))
            continue
        yield Verdict.of(name, "build")
        linted.append(package_lint.lint(workspace, name, draft))
        findings = workspace_lint.judge(workspace, linted[-1:], alone=True)
        known.update(findings)
        yield replace(Verdict.of_lint(name, "lint", findings), unchecked=tuple(linted[-1].unchecked))
        with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
            below, silent = bundle.unpack(Path(folder)) / workspace.prefix, dict[str, Mapping[str, str]]()
            composed = draft.composed
            assert composed
            traced = Traced(workspace, composed)
            for where in (use_case.path for use_case in composed.package.use_cases):
                if reasons := _without_example(traced, below, where):
                    silent[where] = reasons
                    yield Verdict.skipped(name, "render", where, *reasons.values())
                    continue
                verdicts = [*_rendered(traced, below, name, where, path=path, is_server_asked=is_server_asked)]
                yield from verdicts
                if verdicts[0].details:  # with options and in tests it would not either
                    silent[where] = {"": "the use case does not render"}
                    continue
                misfits = [
                    f"{option}: {why[where]}" for option, why in composed.options.misfits.items() if where in why
                ]
                if misfits or composed.options.all:
                    yield replace(_with_options(traced, below, name, where, path=path), misfits=tuple(misfits))
            yield from _tests(workspace, bundle, silent, path=path)
    if is_whole and not any(item.is_broken for item in linted):
        linted += [package_lint.lint(workspace, workspace.name)] if workspace.is_library else []
        together = workspace_lint.judge(workspace, linted)
        yield Verdict.of_lint(workspace.name, "workspace", [item for item in together if item not in known])


def _without_example(traced: Traced, below: Path, where: str) -> dict[str, str]:
    """Say by their names at the author's lines which required setters have no example."""
    reasons = {}
    for setter in (setter for setter in Inputs.read(Tree(below / where)).unset if not setter.example):
        message = f"{setter.name} is required and has no example, with which it would be tried"
        problem = Problem(message, setter.file, setter.line, hint="write one: example: VALUE")
        reasons[setter.name] = _at_author(traced, below, problem)
    return reasons


def _at_author(traced: Traced, below: Path, problem: Problem) -> str:
    """Return a problem of an unpacked package with the author's line."""
    place = traced.at(os.path.relpath(problem.file, below), problem.line) or problem
    return str(problem._replace(file=place.file, line=place.line))


def _rendered(
    traced: Traced, below: Path, name: str, where: str, *, path: str, is_server_asked: bool
) -> Iterator[Verdict]:
    directory = below / where
    try:
        own_tests.fill_in(directory, {})
        manifests = render(Tree(directory), path=path)
    except PackyardError as error:
        yield Verdict.of(name, "render", where, details=[_at_author(traced, below, item) for item in error.problems])
        return
    yield Verdict.of(name, "render", where)
    if programs.find(path):
        yield Verdict.of(name, "kustomize", where, details=_differences(directory, manifests))
    else:
        yield Verdict.skipped(name, "kustomize", where, "neither kustomize nor kubectl is on PATH")
    if is_server_asked:
        yield Verdict.of(name, "server", where, details=_refusals(manifests, path))


def _refusals(manifests: bytes, path: str) -> list[str]:
    """Return what the API server of kubectl's current context does not take, by a dry run, strict about unknown fields.

    Raises `UnavailableError` where kubectl is not on ``path``; of a server that cannot be reached, kubectl's words are
    returned.
    """
    kubectl = shutil.which("kubectl", path=path)
    if kubectl is None:
        raise UnavailableError("kubectl is not on PATH, which --server needs")
    command = [kubectl, "create", "--dry-run=server", "--validate=strict", "-o", "name", "-f", "-"]
    process = subprocess.run(command, input=manifests, capture_output=True, check=False)
    errors = process.stderr.decode("utf-8", "replace").strip()
    if not process.returncode:
        return []
    return errors.splitlines() or [f"kubectl ended with {process.returncode}"]


def _differences(directory: Path, manifests: bytes) -> list[str]:
    """Return the objects that packyard builds otherwise of a directory than a program did, or why it does not."""
    try:
        ours, theirs = (
            {f"{kind_of(item)[1]}/{name_of(item)}": item for item in objects.parse(Source("", text.decode()))}
            for text in (builtin.build(Tree(directory)), manifests)
        )
    except PackyardError as error:
        return [str(problem) for problem in error.problems]
    names = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    return [f"{name} is built otherwise by packyard itself" for name in names]


def _tests(
    workspace: Workspace, bundle: Bundle, silent: Mapping[str, Mapping[str, str]], *, path: str
) -> Iterator[Verdict]:
    """Make the package's own tests, each in each of its use cases; ``silent`` are required setters without examples."""
    package = packages.read(workspace, bundle.name)
    try:
        package_tests = tests.read_all(workspace, package)
    except InputError as error:
        yield Verdict.of(package.name, tests.DIRECTORY, details=map(str, error.problems))
        return
    kinds = {kind.rpartition(" ")[2] for kind in schemas.kinds_of(judges_of(workspace))}
    for test in package_tests:
        for use_case in test.use_cases:
            where = f"{test.file.removeprefix(workspace.sources.shown(package.folder) + '/')}:{test.line} {use_case}"
            missing = [text for setter, text in silent.get(use_case, {}).items() if setter not in test.values]
            if missing and not (test.refused or test.preset):
                yield Verdict.skipped(package.name, tests.DIRECTORY, where, *missing)
                continue
            problems = own_tests.unmet(test, bundle, f"{workspace.prefix}/{use_case}", path=path, kinds=kinds)
            yield Verdict.of(package.name, tests.DIRECTORY, where, details=map(str, problems))


def _with_options(traced: Traced, below: Path, name: str, where: str, *, path: str) -> Verdict:
    """Render a use case with each option that fits it; what is required has its value by now."""
    directory = below / where
    use_case = Tree(directory)
    fitting = [state.name for state in states(use_case) if state.fits and not state.is_enabled]
    details = list[str]()
    for option in fitting:
        try:
            switch(use_case, [option])
            faults = [*_without_example(traced, below, where).values()]
            if not faults:
                own_tests.fill_in(directory, {})
                faults = _differences(directory, render(Tree(directory), path=path))
            switch(use_case, [option], off=True)
        except PackyardError as error:
            faults = [str(problem) for problem in error.problems]
        details += (f"with {option}: {fault}" for fault in faults)
    return Verdict.of(name, "options", where, details=details)
