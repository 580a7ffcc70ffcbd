"""Lint of one package of a workspace: each finding at the line that its author wrote.

What `build` refuses is a finding here, so that one fault does not hide the others.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from packyard.core.bundle.manifest import LIBRARY
from packyard.core.errors import InputError, Problem
from packyard.core.files.paths import WORKSPACE
from packyard.core.kubernetes import kustomization
from packyard.using.kustomize.idle import Idle
from packyard.using.options.folder import NAME as OPTIONS
from packyard.using.options.folder import PROGRAMS, needed
from packyard.using.setters.definition import Definitions
from packyard.using.setters.krmfile import EMPTY
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.setters.packages import PackageFiles
from packyard.writing.build import fragments, silence
from packyard.writing.build.draft import Draft, compose_draft
from packyard.writing.build.own_rules import judges_of
from packyard.writing.checks.enabled import Option, Trial
from packyard.writing.checks.finding import REMOVE, Finding, finding
from packyard.writing.checks.lint import find
from packyard.writing.checks.parsed import Parsed, parse
from packyard.writing.source import package, parts, tried_parts
from packyard.writing.source.origin import Place
from packyard.writing.source.package import Package
from packyard.writing.source.traced import Traced
from packyard.writing.source.tried_parts import Tried
from packyard.writing.source.workspace import OPTIONS as KIND
from packyard.writing.source.workspace import Workspace

_VERSION = "0.0.0"  # which no finding shows
#: The rules that judge a value, which package.yaml may have given.
_OF_VALUES = frozenset((
    *("plain-secret", "invalid-image", "moving-tag", "stand-in-image", "no-quantity", "no-name", "wrong-value"),
    *("unexpanded-variable", "server-refuses", "plain-http", "no-such-key", "process-count"),
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Linted:
    """What is wrong with the composed files of a package, exceptions included, and what `workspace_lint` needs to know.

    ``inputs`` are the sources that it was composed from. What does not compose ``is_broken``.
    """

    name: str
    findings: Sequence[Finding] = ()
    use_cases: int = 0
    options: Sequence[str] = ()
    idle: Idle = field(default_factory=dict)
    inputs: Sequence[str] = ()
    is_broken: bool = False


def lint(here: Workspace, name: str, draft: Draft | None = None) -> Linted:
    """Return what is wrong with a package, or a library; ``draft`` is it, composed, where that is at hand."""
    try:
        draft = draft or compose_draft(here, _VERSION, name)
        draft.check()
        linted = _library(here) if draft.manifest.kind == LIBRARY else _package(here, name, draft)
    except InputError as error:
        return Linted(name, as_findings(error.problems), is_broken=True)
    return replace(linted, inputs=tuple(dict.fromkeys((*draft.inputs, *linted.inputs))))


def lint_unused(here: Workspace) -> Linted:
    """Return what is wrong with the parts that no package uses, which are tried like those of a library."""
    try:
        return replace(_tried(here, tried_parts.unused(here)), use_cases=0, inputs=tuple(here.sources.inputs))
    except InputError as error:
        return Linted(here.name, as_findings(error.problems), is_broken=True)


def _package(here: Workspace, name: str, draft: Draft) -> Linted:
    described, packages = package.read(here, name), package_files(draft)
    parsed, findings = _judged(here, packages, draft.options)
    findings = silence.mounted(here, described, parsed, findings)
    findings += [
        *silence.check(here, described, draft, parsed),
        *fragments.check(here, described, draft, parsed),
    ]
    placed = to_sources(here, {name}, findings)
    use_cases = sum(not package.where.endswith(f"/{OPTIONS}/") for package in packages)
    return Linted(name, placed, use_cases, draft.options, draft.idle)


def _library(here: Workspace) -> Linted:
    """Judge a library by composing its parts with each other; names of their objects tell nothing there."""
    linted = _tried(here, tried_parts.own(here))
    if not (linted.use_cases or linted.findings or here.package_names()):
        file = here.sources.shown(WORKSPACE)
        hint = "have a base here, which the storages and options fit, or a package"
        problem = Problem("0 parts were tried", file=file, line=1, hint=hint)
        linted = replace(linted, findings=[finding("nothing-tried", problem)])
    return replace(linted, inputs=tuple(here.sources.inputs))


def _tried(here: Workspace, names: Sequence[tried_parts.Name]) -> Linted:
    """Judge what parts compose to."""
    tried = tried_parts.compose_all(here, names)
    findings, options = list[Finding](), set[str]()
    for composed in tried.composed:
        folders = [f"{here.prefix}/{path}" for path in (composed.use_cases[0].use_case.path, OPTIONS)]
        members = {f"{here.prefix}/{path}": data for path, data in composed.files.items()}
        fitting = [option.name for option in composed.options.all]
        findings += _judged(here, _files(here.name, folders, members), fitting)[1]
        options.update(fitting)
    placed = to_sources(here, {here.name}, findings, tried.package)
    placed = [*as_findings(tried.problems), *_of_parts(placed, tried, f"{here.name}/{here.prefix}/")]
    # What reaches something here is not idle; what does not may be for other parts.
    reaching = {patch: False for composed in tried.composed for patch, no in composed.idle.items() if not no}
    return Linted(
        here.name,
        placed,
        len(tried.package.use_cases),
        options=sorted(options),
        idle=reaching,
    )


def _judged(
    here: Workspace, packages: Sequence[PackageFiles], options: Sequence[str]
) -> tuple[list[Parsed], list[Finding]]:
    """Return the directories of a package parsed, and what is wrong with each, alone and with each option."""
    judges = judges_of(here)
    parsed = [parse(files) for files in packages]
    findings = [finding for pair in zip(packages, parsed, strict=True) for finding in find(*pair, judges=judges)]
    below = f"/{OPTIONS}/"
    defined = next((use_case.definitions for use_case in parsed if use_case.where.endswith(below)), Definitions())
    trial = Trial(options=[_option(here, option) for option in options], defined=defined, judges=judges)
    used = [use_case for use_case in parsed if not use_case.where.endswith(below)]
    return parsed, [*findings, *(item for use_case in used for item in trial.find(use_case, findings))]


def _option(here: Workspace, name: str) -> Option:
    """Read an option, as its author wrote it."""
    part = parts.read(here.sources, here.overlay_dir(KIND, name), "Component")
    is_read = parts.has_kustomization(here.sources, part.folder)
    return Option(name, part, needed(here.sources.read(parts.file_of(here.sources, part.folder))) if is_read else ())


def package_files(draft: Draft) -> list[PackageFiles]:
    """Return the directories of a composed package that have setters."""
    return _files(draft.manifest.name, draft.manifest.use_cases, {member.path: member.data for member in draft.members})


def _files(name: str, folders: Iterable[str], members: Mapping[str, bytes]) -> list[PackageFiles]:
    directories: list[PackageFiles] = []
    programs = [path for path in members if f"/{PROGRAMS}/" in path and posixpath.basename(path) == kustomization.FILE]
    for folder in folders:
        below = f"{folder}/"
        files = {path.removeprefix(below): data for path, data in members.items() if path.startswith(below)}
        krmfile = files.pop(KRMFILE, EMPTY + b"\n")
        patches = {path: files.pop(path) for path in list(files) if not path.endswith(".yaml")}
        files |= {posixpath.relpath(path, folder): members[path] for path in programs}
        directories.append(PackageFiles(krmfile, files, f"{name}/{below}", patches=patches))
    return directories


def to_sources(
    here: Workspace, names: set[str], findings: Iterable[Finding], tried: Package | None = None
) -> list[Finding]:
    """Move findings from composed files to the sources; ``tried`` is a package that has no folder."""
    traced: dict[str, Traced] = {}
    placed = []
    for each in findings:
        name, _, path = each.file.partition("/")
        place: Place | None = None
        if name in names and path.startswith(f"{here.prefix}/"):
            if name not in traced:
                traced[name] = Traced(here, tried or package.read(here, name))
            below = path.removeprefix(f"{here.prefix}/")
            given = traced[name].value_place(below, each.line) if each.rule in _OF_VALUES else None
            place = given or traced[name].at(below, each.line, each.column)
        composed = f"{each.file}:{each.line}"
        # What is removed from a patch would bring back what it replaced.
        is_patch = each.fix == REMOVE and place and not place.file.startswith(here.sources.shown("bases"))
        fix = "" if is_patch else each.fix
        placed.append(replace(each, **asdict(place), composed=composed, fix=fix) if place else each)
    return placed


def _of_parts(findings: Sequence[Finding], tried: Tried, prefix: str) -> Iterator[Finding]:
    """Yield what composed parts show, each in its own files: others are tried themselves."""
    for each in findings:
        folders = tried.folders.get(posixpath.dirname(each.composed).removeprefix(prefix))
        if folders is None or each.file.startswith(tuple(folders)):
            yield each


def as_findings(problems: Iterable[Problem]) -> list[Finding]:
    """Return what does not compose."""
    return [finding("does-not-compose", problem) for problem in problems]
