"""Lint of one package of a workspace: each finding at the line that its author wrote.

What `build` refuses is a finding here, so that one fault does not hide the others.
"""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import takewhile

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.sources import LIBRARIES
from packyard.using.kustomize.idle_patches import Idle
from packyard.using.options.folder import OPTIONS, PROGRAMS, needed
from packyard.using.setters.krmfile import EMPTY, KRMFILE
from packyard.using.setters.packages import PackageFiles
from packyard.writing.build import fragments, silence
from packyard.writing.build.draft import Draft, compose_draft
from packyard.writing.build.own_rules import judges_of
from packyard.writing.checks import exception, kubernetes_schema, with_option
from packyard.writing.checks.finding import REMOVE, Finding, finding
from packyard.writing.checks.lint import find
from packyard.writing.checks.subject import Subject, parse
from packyard.writing.checks.with_option import Option
from packyard.writing.source import parts, trials
from packyard.writing.source.compose import ComposedPackage
from packyard.writing.source.origin import Place
from packyard.writing.source.trace import Traced
from packyard.writing.source.workspace import Workspace

_VERSION = "0.0.0"  # which no finding shows
_CARRIED = f"{LIBRARIES}/"  # where nobody can change a file
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
        if draft is None:
            draft = compose_draft(here, _VERSION, name)
            draft.bundle()  # which refuses what cannot be packed
        if draft.composed is None:
            return _tried(here, trials.own(here), draft.inputs)
        return _package(here, draft, draft.composed)
    except InputError as error:
        return Linted(name, as_findings(error.problems), is_broken=True)


def lint_unused(here: Workspace) -> Linted:
    """Return what is wrong with the parts that no package uses, which are tried like those of a library."""
    try:
        return replace(_tried(here, trials.unused(here)), use_cases=0)
    except InputError as error:
        return Linted(here.name, as_findings(error.problems), is_broken=True)


def _package(here: Workspace, draft: Draft, composed: ComposedPackage) -> Linted:
    subjects, findings = _judged(here, composed)
    findings += silence.check(here, composed, draft.inputs)
    findings += fragments.check(here, composed.package, draft, subjects)
    return Linted(
        draft.manifest.name,
        list(_to_sources(here, composed, findings)),
        len(composed.use_cases),
        [option.name for option in composed.options.all],
        composed.idle,
        tuple(draft.inputs),
        sorted({text for item in subjects for text in kubernetes_schema.unchecked(item, judges_of(here))}),
    )


def _tried(here: Workspace, paths: Sequence[str], inputs: Iterable[str] = ()) -> Linted:
    """Judge what parts compose to with each other."""
    tried, problems = trials.compose_all(here, paths)
    placed, options = as_findings(problems), set[str]()
    for composed, folders in tried:
        (use_case,) = composed.package.use_cases
        below, own = f"{here.name}/{here.prefix}/{use_case.path}/", tuple(folders)
        items = _to_sources(here, composed, _judged(here, composed)[1])
        placed += (item for item in items if not item.composed.startswith(below) or item.file.startswith(own))
        options.update(option.name for option in composed.options.all)
    # What reaches something here is not idle; what does not may be for other parts.
    reaching = {patch: False for composed, _ in tried for patch, no in composed.idle.items() if not no}
    inputs = tuple(dict.fromkeys((*inputs, *here.sources.inputs)))
    return Linted(here.name, placed, len(tried), sorted(options), reaching, inputs)


def _judged(here: Workspace, composed: ComposedPackage) -> tuple[list[Subject], list[Finding]]:
    """Return the directories of a package as subjects, and what is wrong with each, alone and with each option."""
    judges = judges_of(here)
    pairs = [(files, parse(files)) for files in _directories(here, composed)]
    findings = [finding for pair in pairs for finding in find(*pair, judges=judges)]
    *used, of_options = subjects = [item for _, item in pairs]
    read = here.sources.read
    options = [
        Option(option.name, option.part, needed(read(parts.file_of(here.sources, option.part.folder))))
        for option in composed.options.all
    ]
    tried = partial(with_option.find, defined=of_options.definitions, judges=judges, known=findings)
    with_options: list[Finding] = []
    for case in used:
        rules = {item.rule for item in findings if item.file.startswith(case.where)}
        for option in options:
            file, begins = f"{case.where}{kustomization.FILE}", f"with the option {option.name}, "
            items = [*tried(case, option)]
            carried = {item.file: read(item.file) for item in items if item.file.startswith(_CARRIED)}
            for item in exception.apply(items, carried, ()):  # the author of the option made some
                message = begins + item.message.removeprefix(begins)
                if not item.file.startswith(_CARRIED):
                    with_options.append(item)
                elif item.rule not in rules:  # its author cannot change the option
                    with_options.append(replace(item, file=file, line=1, column=0, message=message, fix=""))
    return subjects, [*findings, *with_options]


def _directories(here: Workspace, composed: ComposedPackage) -> Iterator[PackageFiles]:
    """Yield the directories of a composed package that have setters, last that of its options."""
    members = composed.files
    programs = [path for path in members if path.startswith(f"{PROGRAMS}/") and path.endswith(f"/{kustomization.FILE}")]
    for folder in (*(item.use_case.path for item in composed.use_cases), OPTIONS):
        below = f"{folder}/"
        files = {path.removeprefix(below): data for path, data in members.items() if path.startswith(below)}
        krmfile = files.pop(KRMFILE, EMPTY + b"\n")
        resources = {path: data for path, data in files.items() if path.endswith(".yaml")}
        resources |= {posixpath.relpath(path, folder): members[path] for path in programs}
        yield PackageFiles(krmfile, resources, f"{composed.package.name}/{here.prefix}/{below}")


def _to_sources(here: Workspace, composed: ComposedPackage, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Move findings from the composed files of a package to the sources."""
    traced, prefix = Traced(here, composed), f"{composed.package.name}/{here.prefix}/"
    carried = set[tuple[Place, str, str]]()
    for item in findings:
        below, place = item.file.removeprefix(prefix), None
        if below != item.file:
            of_value = traced.value_place(below, item.line) if item.rule in _OF_VALUES else None
            place = of_value or traced.at(below, item.line, item.column)
        if place and place.file.startswith(_CARRIED) and item.rule == "server-refuses":
            place = _own_place(traced, below, item.line, composed.files[below]) or place
        if place and place.file.startswith(_CARRIED) and (case := traced.use_case(below)[0]):
            if not exception.apply([replace(item, **asdict(place))], {place.file: here.sources.read(place.file)}, ()):
                continue  # its author allows it
            is_idle = item.rule == "volume-never-mounted" and case.use_case.storage == silence.NO_STORAGE
            if is_idle or (place, item.rule, item.message) in carried:  # as in the first use case that took it in
                continue
            carried.add((place, item.rule, item.message))
            item, place = silence.carried(item, case.use_case), Place(composed.package.file, case.use_case.line, 0)
        # What is removed from a patch would bring back what it replaced.
        is_patch = item.fix == REMOVE and place and not place.file.startswith(here.sources.shown("bases"))
        shown, fix = f"{item.file}:{item.line}", "" if is_patch else item.fix
        yield replace(item, **asdict(place), composed=shown, fix=fix) if place else item


def _own_place(traced: Traced, path: str, line: int, data: bytes) -> Place | None:
    """Return what an author wrote first in a mapping of a carried file, which begins in a line: the rest is sound."""
    lines = data.decode().split("\n")[line - 1 :]
    depths = [len(text) - len(text.lstrip(" -")) for text in lines]
    inner = takewhile(lambda number: depths[number] >= depths[0], range(len(lines)))
    places = (traced.at(path, line + number) for number in inner)
    return next((place for place in places if place and not place.file.startswith(_CARRIED)), None)


def as_findings(problems: Iterable[Problem]) -> list[Finding]:
    """Return what does not compose."""
    return [finding("does-not-compose", problem) for problem in problems]
