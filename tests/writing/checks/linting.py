"""Linting a package of a few files, with its exceptions, as a folder that holds nothing else is linted."""

from collections.abc import Iterable, Mapping, Sequence

from packyard.core.kubernetes.schemas import Judge
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks import exception
from packyard.writing.checks.explanation import table
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.lint import find, in_order
from packyard.writing.checks.subject import parse


def package(files: Mapping[str, str], krmfile: str = "kind: Krmfile\n") -> PackageFiles:
    """Return a package of files, and its Krmfile."""
    return PackageFiles(krmfile.encode(), {path: text.encode() for path, text in files.items()})


def place(text: str, of: str) -> str:
    """Return line and column of a text."""
    before = text[: text.index(of)]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def lint(
    package: PackageFiles, *, shipped: bool = True, judges: Sequence[Judge] = (), is_own: bool = True
) -> list[Finding]:
    """Return what is wrong with a package; one that ``is_own`` needs each of its exceptions."""
    files = {package.where + path: data for path, data in package.files.items()}
    parsed = parse(package)
    findings = find(package, parsed, shipped=shipped, judges=judges)
    judged = files if is_own and not parsed.unreadable else ()
    return in_order(exception.apply(findings, files, judged))


#: The families of what packages of a few lines lack.
_LACKING = (
    *("Kustomizations", "Processes", "MPIJobs", "What setters mean", "Containers and pods", "Ports and selectors"),
    *("Good practice", "Security", "Volumes and claims"),
)


def essential(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings but for those of practice, which packages of a few lines cannot follow."""
    return [finding for finding in findings if table()[finding.rule].family not in _LACKING]
