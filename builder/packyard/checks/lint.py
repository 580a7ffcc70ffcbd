"""All checks on one package directory."""

from __future__ import annotations

from packyard.checks import references, setters, workload
from packyard.checks.finding import Finding
from packyard.checks.parsed import Parsed, parse
from packyard.setters.plan import PackageFiles


def lint(package: PackageFiles, *, shipped: bool = True) -> list[Finding]:
    """Return everything that is wrong with a package, in the order of files and lines.

    ``shipped`` says that nobody has set anything yet: a required setter then has to be empty. What cannot be read is a
    finding of its own, and the other files are checked all the same.
    """
    parsed = parse(package)
    found = [*parsed.unreadable, *_checks(parsed, shipped=shipped)]
    return sorted(found, key=lambda finding: (finding.file, finding.line, finding.column, finding.rule))


def _checks(parsed: Parsed, *, shipped: bool) -> list[Finding]:
    return [
        *setters.check(parsed, shipped=shipped),
        *workload.check(parsed),
        *references.check(parsed),
    ]
