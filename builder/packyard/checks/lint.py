"""All checks on one package directory."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.checks import (
    catalogue,
    defaults,
    layout,
    mpi,
    names,
    options,
    practice,
    references,
    rules,
    schema,
    selectors,
    setters,
    workload,
)
from packyard.checks.finding import Finding
from packyard.checks.parsed import Parsed, parse
from packyard.kubernetes.schemas import Judge
from packyard.setters.packages import PackageFiles


def lint(package: PackageFiles, *, shipped: bool = True, judges: Sequence[Judge] = ()) -> list[Finding]:
    """Return everything that is wrong with a package, in the order of files and lines.

    ``shipped`` says that nobody has set anything yet: a required setter then has to be empty. ``judges`` are those of
    `schemas.choose`. A file that cannot be read is a finding, and the other files are checked nevertheless.
    """
    return _lint(package, parse(package), shipped=shipped, judges=judges)


def lint_catalogue(packages: Sequence[PackageFiles], *, judges: Sequence[Judge] = ()) -> list[Finding]:
    """Return everything that is wrong with packages as they are shipped, one after the other, and then between them."""
    parsed = [parse(package) for package in packages]
    each = [_lint(package, found, shipped=True, judges=judges) for package, found in zip(packages, parsed, strict=True)]
    return [*(finding for findings in each for finding in findings), *catalogue.check(parsed)]


def _lint(package: PackageFiles, parsed: Parsed, *, shipped: bool, judges: Sequence[Judge]) -> list[Finding]:
    found = [*parsed.unreadable, *_checks(parsed, shipped=shipped), *options.check(package)]
    found += layout.check(package, parsed, shipped=shipped)
    explained = {(finding.file, finding.line, finding.column) for finding in found if finding.severity == "error"}
    by_schema = schema.check(parsed, package, judges) if judges else ()
    found += [item for item in by_schema if (item.file, item.line, item.column) not in explained]
    return sorted(found, key=lambda finding: (finding.file, finding.line, finding.column, finding.rule))


def _checks(parsed: Parsed, *, shipped: bool) -> list[Finding]:
    """Check the whole package, then each build; a fault of several builds is reported once."""
    found = [*setters.check(parsed, shipped=shipped), *rules.check(parsed, shipped=shipped)]
    earlier: set[Finding] = set()
    for build in map(parsed.of, parsed.builds):
        families = [family.check(build) for family in (workload, mpi, names, references, selectors)]
        families += [practice.check(build, shipped=shipped), *([defaults.check(build)] if shipped else [])]
        # A fault in a node that aliases repeat is found once for each place, and reported once.
        here = dict.fromkeys(finding for family in families for finding in family)
        found += (finding for finding in here if finding not in earlier)
        earlier.update(here)
    return found
