"""All checks together: their order, what cannot be read, and the packages that packyard itself composes."""

import pytest

from catalogue.usecases import CATALOGUE, each_package
from packyard.using.setters.packages import PackageFiles
from packyard.writing.build import workspace_lint
from packyard.writing.source.package import Package
from writing.checks.linting import lint


def test_what_cannot_be_read_is_a_finding_and_the_rest_is_checked() -> None:
    files = {"a.yaml": b"a: [\n", "b.yaml": b"a: 1\na: 2\n", "c.yaml": b"\xff", "d.yaml": b'a: 1 # {"$openapi":"A"}\n'}
    found = lint(PackageFiles(b"kind: Krmfile\n", files))
    assert [(finding.file, finding.line, finding.rule) for finding in found] == [
        ("a.yaml", 2, "unreadable"),
        ("b.yaml", 2, "unreadable"),
        ("c.yaml", 1, "unreadable"),
        ("d.yaml", 1, "unresolved-comment"),
    ]


@pytest.mark.nightly
@each_package
def test_the_packages_of_this_repository_have_no_findings(package: Package) -> None:
    assert [str(finding) for finding in workspace_lint.lint(CATALOGUE, package.name)] == []
