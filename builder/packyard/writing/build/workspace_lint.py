"""Lint of the packages of a workspace together: between them, and but for the exceptions that authors made."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from posixpath import dirname

from packyard.core.errors import InputError, Problem, suggest
from packyard.core.files.paths import WORKSPACE
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize import idle_patches
from packyard.using.setters.krmfile import KRMFILE
from packyard.writing.build import package_lint
from packyard.writing.build.package_lint import Linted, as_findings
from packyard.writing.checks import exception, explanation, source_texts
from packyard.writing.checks.finding import Finding, finding
from packyard.writing.checks.lint import in_order
from packyard.writing.source import parts, workspace
from packyard.writing.source.package import FILE
from packyard.writing.source.workspace import FOLDERS, OPTIONS, Workspace, is_own

#: The rules without which nothing can be built.
_ALWAYS = ("does-not-compose", "unreadable")


def lint(here: Workspace, name: str) -> list[Finding]:
    """Return what is wrong with one package by itself, as it is now."""
    here = workspace.read(here.root_dir)
    return judge(here, [package_lint.lint(here, name)], alone=True)


def judge(here: Workspace, linted: Sequence[Linted], *, alone: bool = False) -> list[Finding]:
    """Return what is wrong with packages and between them, at the lines that authors wrote, but for the exceptions.

    What only all packages of the workspace together can tell is told where all are there, unless they are ``alone``.
    """
    names = {package.name for package in linted}
    is_all = not alone and names >= set(here.package_names())
    if is_all and not here.is_library:
        linted = [*linted, package_lint.lint_unused(here)]
    findings = [item for package in linted for item in package.findings]
    sound = [package for package in linted if not package.is_broken]
    is_whole = is_all and len(sound) == len(linted)
    findings += as_findings(_idle(here, linted)) if is_whole and not here.is_library else []
    findings += _without_package(here) if is_whole else []
    findings += _as_written(here, names, is_whole=is_all)
    paths = sorted({path for package in sound for path in package.inputs})
    own = tuple(f"packages/{package.name}/" for package in sound)
    is_known = is_whole and not here.is_library  # where others may need an exception
    judged = [path for path in paths if path.startswith(own) or (is_known and is_own(path))]
    files = {here.sources.shown(path): here.sources.read(path) for path in paths}
    shown = set(map(here.sources.shown, judged))
    remaining = exception.apply(_once(findings), files, shown)
    return in_order([*_as_severe(remaining, here.severities), *_unknown(here)])


def _idle(here: Workspace, linted: Sequence[Linted]) -> Iterator[Problem]:
    """Find options that change no use case of all packages and tried parts, and patches that reach nothing in any.

    What libraries have may be for others, so nothing of it is checked.
    """
    offered = {name for package in linted for name in package.options}
    folders = [folder for name, folder in here.part_dirs(FOLDERS[OPTIONS]).items() if name not in offered]
    for folder in filter(is_own, folders):
        file = here.sources.shown(parts.file_of(here.sources, folder))
        message = "changes nothing in any use case of the workspace"
        yield Problem(message, file=file, line=1, hint="fix its targets, or remove it")
    joined = idle_patches.join(package.idle for package in linted)
    patches = {patch: nothing for patch, nothing in joined.items()
              if is_own(patch[0]) and dirname(patch[0]) not in folders}  # fmt: skip
    yield from idle_patches.problems(patches, "any use case of the workspace", here.sources)


def _without_package(here: Workspace) -> Iterator[Finding]:
    """Find folders of packages that are none."""
    names = here.package_names()
    for path in here.sources.list("packages"):
        if here.sources.is_folder(path) and path.removeprefix("packages/") not in names:
            problem = Problem(f"this is no package without {FILE}", file=here.sources.shown(path))
            yield finding("unlisted-file", problem._replace(hint="write it, or remove the folder"))


def _as_severe(findings: Iterable[Finding], severities: Mapping[str, str]) -> Iterator[Finding]:
    """Yield findings as severe as the workspace says of their rules; what does not compose is an error anyway."""
    for item in findings:
        severity = severities.get(item.rule, item.severity) if item.rule not in _ALWAYS else item.severity
        if severity != "off":
            yield replace(item, severity="error" if severity == "error" else "warning")


def _unknown(here: Workspace) -> Iterator[Finding]:
    """Yield what packyard.yaml says of rules that lint does not have."""
    for rule in here.severities:
        if rule not in explanation.table():
            hint = suggest(rule, explanation.table()) or "packyard lint --explain lists all rules"
            problem = Problem(f"lint: there is no rule {rule!r}", file=here.sources.shown(WORKSPACE), line=1, hint=hint)
            yield finding("exception-to-no-rule", problem)


def refuse(here: Workspace, linted: Sequence[Linted]) -> list[Finding]:
    """Raise all errors of packages, or return the warnings."""
    findings = judge(here, linted)
    errors = [item for item in findings if item.severity == "error"]
    problems = [item.problem if item.rule == "does-not-compose" else item.named for item in errors]
    if problems:
        raise InputError(*problems)
    return findings


def _once(findings: Iterable[Finding]) -> Iterable[Finding]:
    """Return once what several packages have from one part, and a line as it is written and as it is composed."""
    once: dict[tuple[object, ...], Finding] = {}
    for item in findings:
        once.setdefault((item.file, item.line, item.rule, item.message), item)
    return once.values()


def _as_written(here: Workspace, names: set[str], *, is_whole: bool) -> Iterator[Finding]:
    """Find what is wrong with sources as they are written: with all, or with those of some packages alone."""
    sources = here.sources
    folders = ["bases", "overlays", "packages"] if is_whole else [f"packages/{name}" for name in sorted(names)]
    files = {path: data for folder in folders for path, data in _files_below(sources, folder)}
    krmfile = {KRMFILE: sources.read(KRMFILE)} if sources.is_file(KRMFILE) else {}
    files |= krmfile if is_whole else {}
    findings = list(source_texts.check(files))
    dead = [finding for finding in findings if finding.rule == "unused-definition"]
    if dead:
        folders = ["packages", *(f"{root}{kind}" for root in here.roots for kind in ("bases", "overlays"))]
        users = krmfile | {path: data for folder in folders for path, data in _files_below(sources, folder)}
        words = {word for path, data in users.items() if path not in files for word in source_texts.words(data)}
        dead = [finding for finding in dead if finding.message.split()[-1] in words]
    yield from (replace(finding, file=sources.shown(finding.file)) for finding in findings if finding not in dead)


def _files_below(sources: Sources, folder: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder; of what leads out of the workspace composing tells, where it is named."""
    with suppress(InputError):
        for path in sources.list(folder, "**/*"):
            with suppress(InputError):
                if sources.is_file(path):
                    yield path, sources.read(path)
