"""All checks on one package directory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.schemas import Judge
from packyard.core.yaml.document import walk
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks import (
    addresses,
    arguments,
    backends,
    claims,
    definitions,
    image,
    kubernetes_schema,
    kustomizations,
    launch,
    layout,
    names,
    port_numbers,
    practice,
    references,
    rows,
    secret_texts,
    security,
    selectors,
    setters,
    vocabulary,
    volumes,
    workload,
)
from packyard.writing.checks.applied_objects import Applied
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.kustomizations import Exists
from packyard.writing.checks.subject import Subject

#: The families that look at one build.
_OF_BUILDS = (
    *(workload, launch, names, references, selectors, port_numbers, volumes, claims, image, arguments),
    *(secret_texts, addresses, backends, practice),
)


def find(
    package: PackageFiles,
    subject: Subject,
    *,
    judges: Sequence[Judge],
    shipped: bool | None = True,
    exists: Exists | None = None,
) -> list[Finding]:
    """Return everything that is wrong with a package, exceptions included.

    ``shipped`` is None where nobody knows whether values are as shipped; ``exists`` says what is beside the package.
    """
    findings = [
        *subject.unreadable,
        *setters.check(subject, shipped=shipped),
        *definitions.check(subject),
        *vocabulary.check(subject),
        *_of_builds(subject),
        *kustomizations.check(subject, exists),
        *(layout.check(subject.rewritten, shipped=bool(shipped)) if package.name == KRMFILE else ()),
    ]
    return in_order([*findings, *_by_schema(subject, judges, findings, shipped=shipped)])


def find_built(subject: Subject, *, judges: Sequence[Judge]) -> list[Finding]:
    """Return what is wrong with the objects of a package alone, whatever they could leave out."""
    findings = _of_builds(subject)
    return [*findings, *_by_schema(subject, judges, findings, shipped=True)]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by files and lines."""
    return sorted(findings, key=lambda finding: (finding.file, finding.line, finding.column, finding.rule))


def _of_builds(subject: Subject) -> list[Finding]:
    """Check each build; a fault of several builds, or in a node that aliases repeat, is reported once."""
    findings = dict[Finding, None]()
    for build in map(subject.of, subject.builds):
        of_builds = [finding for family in _OF_BUILDS for finding in family.check(build)]
        findings.update(dict.fromkeys(_as_certain(of_builds, build)))
    return list(findings)


def _as_certain(findings: Iterable[Finding], build: Subject) -> Iterator[Finding]:
    """Yield findings; what is wrong in what may be part of a pod, or a template of one, is a warning."""
    known_pods = [pod for root in build.objects if not pods.are_known(root) for pod in build.pods_of(root)]
    nodes = [node for pod in known_pods for node in walk(pod.spec)]
    lines = {(node.source.name, node.source.locate(node.start)[0]) for node in nodes}
    for finding in findings:
        yield replace(finding, severity="warning") if (finding.file, finding.line) in lines else finding


def _by_schema(
    subject: Subject, judges: Sequence[Judge], findings: Iterable[Finding], *, shipped: bool | None
) -> Iterator[Finding]:
    """Find what schemas reject, but for what an error explains already."""
    explained = {_place(finding) for finding in findings if finding.severity == "error"}
    lines = {place[:2] for place in explained}
    applied = Applied(subject)
    by_schema = list(kubernetes_schema.check(subject, applied, judges, newest=shipped is None) if judges else ())
    wrong = {finding.file for finding in by_schema if finding.severity == "error"}
    refused = {_place(item) for item in by_schema if item.rule == "server-refuses"}
    own = [rule for judge in judges for rule in judge.rules]
    for item in by_schema:
        if _place(item) not in explained and (item.severity == "error" or _place(item)[:2] not in lines):
            yield item
    yield from security.check(subject, applied)
    for item in rows.check(applied, own):
        is_told = _place(item) in refused or (item.rule == "server-refuses" and _place(item) in explained)
        if not is_told and (item.rule != "rule-without-answer" or item.file not in wrong):
            yield item


def _place(finding: Finding) -> tuple[str, int, int]:
    return finding.file, finding.line, finding.column
