"""All checks together: their order, what cannot be read, and the packages that packyard itself composes."""

from __future__ import annotations

import json

import pytest

from catalogue.usecases import CATALOGUE, Object, build_all, each_package, each_use_case, sampled_options, shipped
from packyard.core.kubernetes import schemas as judges
from packyard.core.kubernetes.schemas import Judge
from packyard.using.setters.packages import PackageFiles
from packyard.writing.build import workspace_lint
from packyard.writing.source.package import Package, UseCase
from real import Served
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


#: Options and storages that need a newer Kubernetes than the oldest of the catalogue, as their first lines say.
OLDEST = {"gpu-claim": "1.34", "model-image": "1.31"}
#: Options that take in a ConfigMap of the user's.
TAKEN_IN = ("chat-template", "environment")


def judging(*parts: str) -> list[Judge]:
    releases = CATALOGUE.kubernetes
    return judges.choose(releases[max(releases.index(OLDEST.get(part, releases[0])) for part in parts) :])


@pytest.mark.nightly
@each_package
def test_the_packages_of_this_repository_have_no_findings(package: Package) -> None:
    assert [str(finding) for finding in workspace_lint.lint(CATALOGUE, package.name)] == []


#: Rules that ask for comments, which kustomize drops, and for values that only users know.
UNSEEN = (
    *("runs-as-root", "above-baseline", "above-restricted", "host-path-of-many"),
    *("fixed-requirement", "stand-in-image", "pinned-to-nodes", "fixed-deadline"),
)


@each_use_case
def test_what_kustomize_builds_with_an_option_has_no_findings(
    package: Package, use_case: UseCase, served5: Served
) -> None:
    directory = shipped(package, use_case)
    ready = directory.set(directory.examples)
    options = sampled_options(package, use_case, of="each")
    built = build_all(served5, "ml", [(ready, [option]) for option in options])
    found = {
        option: findings(option, use_case.storage, objects) for option, objects in zip(options, built, strict=True)
    }
    assert found == {option: [] for option in options}


def findings(option: str, storage: str, objects: list[Object]) -> list[str]:
    """Return what lint says of the objects of a use case on a storage with an option."""
    files = {"built.yaml": "---\n".join(f"{json.dumps(item)}\n" for item in objects).encode()}
    if option in TAKEN_IN:
        files["theirs.yaml"] = (
            f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {option}, namespace: ml}}\n".encode()
        )
    found = lint(PackageFiles(b"kind: Krmfile\n", files), shipped=False, judges=judging(option, storage))
    return [str(finding) for finding in found if finding.file != "theirs.yaml" and finding.rule not in UNSEEN]
