"""Lint of one package of a workspace: each finding at the line that its author wrote.

What `build` refuses is a finding here, so that one fault does not hide the others.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from packyard.core.bundle.manifest import LIBRARY
from packyard.core.errors import InputError, Problem
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
from packyard.writing.checks import kubernetes_schema
from packyard.writing.checks.enabled import Option, Trial
from packyard.writing.checks.finding import REMOVE, Finding, finding
from packyard.writing.checks.lint import find
from packyard.writing.checks.parsed import Parsed, parse
from packyard.writing.source import package, parts, tried_parts
from packyard.writing.source.package import Package
from packyard.writing.source.traced import Traced
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

    ``inputs`` are the sources that it was composed from, ``unchecked`` says which kinds have no schema. What does not
    compose ``is_broken``.
    """

    name: str
    findings: Sequence[Finding] = ()
    use_cases: int = 0
    options: Sequence[str] = ()
    idle: Idle = field(default_factory=dict)
    inputs: Sequence[str] = ()
    unchecked: Sequence[str] = ()
    is_broken: bool = False


def lint(here: Workspace, name: str, draft: Draft | None = None) -> Linted:
    """Return what is wrong with a package, or a library; ``draft`` is it, composed, where that is at hand."""
    try:
        draft = draft or compose_draft(here, _VERSION, name)
        draft.check()
        if draft.manifest.kind == LIBRARY:
            return _tried(here, tried_parts.own(here), draft.inputs)
        return _package(here, name, draft)
    except InputError as error:
        return Linted(name, as_findings(error.problems), is_broken=True)


def lint_unused(here: Workspace) -> Linted:
    """Return what is wrong with the parts that no package uses, which are tried like those of a library."""
    try:
        return replace(_tried(here, tried_parts.unused(here)), use_cases=0)
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
    placed = list(_to_sources(here, described, findings))
    use_cases = sum(not package.where.endswith(f"/{OPTIONS}/") for package in packages)
    unchecked = sorted({text for each in parsed for text in kubernetes_schema.unchecked(each, judges_of(here))})
    return Linted(name, placed, use_cases, draft.options, draft.idle, tuple(draft.inputs), unchecked)


def _tried(here: Workspace, names: Sequence[tried_parts.Name], inputs: Iterable[str] = ()) -> Linted:
    """Judge what parts compose to with each other."""
    tried = tried_parts.compose_all(here, names)
    findings, options = list[Finding](), set[str]()
    for composed in tried.composed:
        folders = [f"{here.prefix}/{path}" for path in (composed.use_cases[0].use_case.path, OPTIONS)]
        members = {f"{here.prefix}/{path}": data for path, data in composed.files.items()}
        fitting = [option.name for option in composed.options.all]
        findings += _judged(here, _files(here.name, folders, members), fitting)[1]
        options.update(fitting)
    below = f"{here.name}/{here.prefix}/"
    placed = as_findings(tried.problems)
    for item in _to_sources(here, tried.package, findings):
        own = tried.folders.get(posixpath.dirname(item.composed).removeprefix(below))
        if own is None or item.file.startswith(tuple(own)):  # others are tried themselves
            placed.append(item)
    # What reaches something here is not idle; what does not may be for other parts.
    reaching = {patch: False for composed in tried.composed for patch, no in composed.idle.items() if not no}
    return Linted(
        here.name,
        placed,
        len(tried.package.use_cases),
        options=sorted(options),
        idle=reaching,
        inputs=tuple(dict.fromkeys((*inputs, *here.sources.inputs))),
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
    return Option(name, part, needed(here.sources.read(parts.file_of(here.sources, part.folder))))


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
        resources = {path: data for path, data in files.items() if path.endswith(".yaml")}
        resources |= {posixpath.relpath(path, folder): members[path] for path in programs}
        directories.append(PackageFiles(krmfile, resources, f"{name}/{below}"))
    return directories


def _to_sources(here: Workspace, described: Package, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Move findings from the composed files of a package to the sources."""
    traced, prefix = Traced(here, described), f"{described.name}/{here.prefix}/"
    for each in findings:
        below, place = each.file.removeprefix(prefix), None
        if below != each.file:
            given = traced.value_place(below, each.line) if each.rule in _OF_VALUES else None
            place = given or traced.at(below, each.line, each.column)
        # What is removed from a patch would bring back what it replaced.
        is_patch = each.fix == REMOVE and place and not place.file.startswith(here.sources.shown("bases"))
        composed, fix = f"{each.file}:{each.line}", "" if is_patch else each.fix
        yield replace(each, **asdict(place), composed=composed, fix=fix) if place else each


def as_findings(problems: Iterable[Problem]) -> list[Finding]:
    """Return what does not compose."""
    return [finding("does-not-compose", problem) for problem in problems]
