"""All checks on one package directory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from packyard.checks import (
    catalogue,
    defaults,
    exception,
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


def lint(
    package: PackageFiles, *, shipped: bool = True, judges: Sequence[Judge] = (), is_own: bool = True
) -> list[Finding]:
    """Return everything that is wrong with a package, but for its exceptions, in the order of files and lines.

    ``shipped`` says that nobody has set anything yet: a required setter then has to be empty. ``judges`` are those of
    `schemas.choose`. A file that cannot be read is a finding, and the other files are checked nevertheless. In a
    package that ``is_own``, which was not composed for several, each exception has to be needed.
    """
    files = {package.where + path: data for path, data in {**package.files, **package.patches}.items()}
    found = find(package, parse(package), shipped=shipped, judges=judges)
    return in_order(exception.apply(found, files, files if is_own else (), shipped=shipped))


def lint_catalogue(packages: Sequence[PackageFiles], *, judges: Sequence[Judge] = ()) -> list[Finding]:
    """Return everything that is wrong with packages as they are shipped, one after the other, and then between them."""
    each = [(package, parse(package)) for package in packages]
    found = [finding for package, parsed in each for finding in find(package, parsed, judges=judges)]
    found += catalogue.check([named for _, parsed in each for named in catalogue.names(parsed)])
    files = {package.where + path: data for package in packages for path, data in package.files.items()}
    return exception.apply(found, files, (), shipped=True)


def find(package: PackageFiles, parsed: Parsed, *, shipped: bool = True, judges: Sequence[Judge] = ()) -> list[Finding]:
    """Return everything that is wrong with a package, exceptions included."""
    found = [*parsed.unreadable, *_checks(parsed, shipped=shipped), *options.check(package, parsed)]
    found += [*layout.roots(parsed.documents), *layout.check(parsed.rewritten, shipped=shipped)]
    explained = {(finding.file, finding.line, finding.column) for finding in found if finding.severity == "error"}
    by_schema = schema.check(parsed, judges) if judges else ()
    return in_order([*found, *(item for item in by_schema if (item.file, item.line, item.column) not in explained)])


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by files and lines."""
    return sorted(findings, key=lambda finding: (finding.file, finding.line, finding.column, finding.rule))


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
