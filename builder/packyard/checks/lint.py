"""All checks on one package directory."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.checks import names, practice, references, rules, schema, selectors, setters, workload
from packyard.checks.finding import Finding
from packyard.checks.judges import Judge
from packyard.checks.parsed import Parsed, parse
from packyard.setters.plan import PackageFiles


def lint(package: PackageFiles, *, shipped: bool = True, judges: Sequence[Judge] = ()) -> list[Finding]:
    """Return everything that is wrong with a package, in the order of files and lines.

    ``shipped`` says that nobody has set anything yet: a required setter then has to be empty. ``judges`` are those of
    `judges.choose`. What cannot be read is a finding of its own, and the other files are checked all the same.
    """
    parsed = parse(package)
    found = [*parsed.unreadable, *_checks(parsed, shipped=shipped)]
    explained = {(finding.file, finding.line, finding.column) for finding in found if finding.severity == "error"}
    by_schema = schema.check(parsed, package, judges) if judges else ()
    found += [item for item in by_schema if (item.file, item.line, item.column) not in explained]
    return sorted(found, key=lambda finding: (finding.file, finding.line, finding.column, finding.rule))


def _checks(parsed: Parsed, *, shipped: bool) -> list[Finding]:
    return [
        *setters.check(parsed, shipped=shipped),
        *rules.check(parsed, shipped=shipped),
        *workload.check(parsed),
        *names.check(parsed),
        *practice.check(parsed),
        *references.check(parsed),
        *selectors.check(parsed),
    ]
