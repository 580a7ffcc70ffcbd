"""All checks together: their order, what cannot be read, and the packages that packyard itself composes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import real
from packyard.checks import judges
from packyard.checks.judges import Judge
from packyard.checks.lint import lint
from packyard.files.tree import Tree
from packyard.setters.directory import read_package
from packyard.setters.packagefiles import PackageFiles
from packyard.source import package, workspace
from packyard.source.compose import compose, compose_all
from packyard.source.package import UseCase
from usecases import CASES, option_names, pairs_together

WORKSPACE = workspace.read(real.REPOSITORY)


def test_findings_stand_in_the_order_of_files_and_lines() -> None:
    data = b'a: 1 # {"$openapi":"B"}\nb: [1 ,2] # {"$openapi":"A"}\n'
    found = lint(PackageFiles(b"kind: Krmfile\n", {"b.yaml": data, "a.yaml": data}))
    places = [(finding.file, finding.line, finding.column) for finding in found]
    assert places == sorted(places)
    assert len(places) > 4


def test_what_cannot_be_read_is_a_finding_and_the_rest_is_checked() -> None:
    files = {"a.yaml": b"a: [\n", "b.yaml": b"a: 1\na: 2\n", "c.yaml": b"\xff", "d.yaml": b'a: 1 # {"$openapi":"A"}\n'}
    found = lint(PackageFiles(b"kind: Krmfile\n", files))
    assert [(finding.file, finding.line, finding.rule) for finding in found] == [
        ("a.yaml", 2, "unreadable"),
        ("b.yaml", 2, "unreadable"),
        ("c.yaml", 1, "unreadable"),
        ("d.yaml", 1, "unresolved-comment"),
    ]


def test_a_krmfile_that_cannot_be_read_is_a_finding() -> None:
    found = lint(PackageFiles(b"openAPI: {definitions: 1}\n", {"a.yaml": b'a: 1 # {"$openapi":"A"}\n'}))
    assert [(finding.file, finding.rule) for finding in found] == [("Krmfile", "unreadable")]


def test_reads_packages_from_a_directory(tmp_path: Path) -> None:
    (tmp_path / "Krmfile").write_text("kind: Krmfile\n")
    (tmp_path / "a.yaml").write_text('a: 1 # {"$openapi":"A"}\n')
    (finding,) = lint(read_package(Tree(tmp_path), ""))
    assert str(finding).startswith(f"{tmp_path}/a.yaml:1:6: error: ")


USE_CASES = [
    (name, use_case) for name in WORKSPACE.package_names() for use_case in package.read(WORKSPACE, name).use_cases
]


def _found(name: str, use_case: UseCase, options: Sequence[str], judging: Sequence[Judge]) -> list[str]:
    """Lint a use case with these options enabled."""
    enabled = replace(use_case, overlays=(*use_case.overlays, *options), options=())
    composed = compose(replace(WORKSPACE, options=()), package.read(WORKSPACE, name), enabled)
    return [str(finding) for finding in lint(composed.package_files(), judges=judging)]


@pytest.mark.parametrize(
    ("name", "use_case", "option"),
    [
        pytest.param(name, use_case, option, id=f"{name} {use_case.path} {option}")
        for name, use_case in USE_CASES
        for option in option_names(CASES / name / use_case.path)
    ],
)
def test_every_use_case_has_no_findings_with_any_option(name: str, use_case: UseCase, option: str) -> None:
    judging = [] if judges.missing() else judges.choose(WORKSPACE.kubernetes)
    assert _found(name, use_case, [option], judging) == []


@pytest.mark.parametrize(
    ("name", "use_case", "options"),
    [
        pytest.param(name, use_case, pair, id=f"{use_case.base} {' '.join(pair)}")
        for name, use_case in USE_CASES
        for pair in pairs_together(CASES / name / use_case.path)
    ],
)
def test_any_two_options_have_no_findings_together(name: str, use_case: UseCase, options: tuple[str, str]) -> None:
    """By our own checks; an API server judges what two options make of objects."""
    assert _found(name, use_case, options, []) == []


@pytest.mark.parametrize("name", WORKSPACE.package_names())
def test_the_packages_of_this_repository_have_no_findings(name: str) -> None:
    for composed in compose_all(WORKSPACE, package.read(WORKSPACE, name)):
        judging = [] if judges.missing() else judges.choose(WORKSPACE.kubernetes)
        assert lint(composed.package_files(), judges=judging) == []
