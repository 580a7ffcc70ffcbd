"""An option, and a use case, name files of their own folder: whatever else they name is neither read nor written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import tiny
from hostiletrees import snapshot
from packyard.errors import InputError
from packyard.source.enabling.change import disable, enable

SERVICE_ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: x}\n"
OPTION = "# an option\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
PATCHES = "patches:\n- {path: p.json6902, target: {kind: ServiceAccount}}\n"
KRMFILE = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n"


@pytest.fixture
def use(tmp_path: Path) -> Path:
    """A use case with an option, below a home with files of its own."""
    use = tmp_path / "home/pkg/use"
    tiny.write(use / "Krmfile", KRMFILE)
    tiny.write(use / "kustomization.yaml", "resources:\n- sa.yaml\n")
    tiny.write(use / "sa.yaml", SERVICE_ACCOUNT)
    tiny.write(use / "options/o/kustomization.yaml", OPTION + PATCHES)
    tiny.write(use / "options/o/p.json6902", "- op: add\n  path: /imagePullSecrets\n  value: [{name: evil}]\n")
    tiny.write(tmp_path / "home/victim.yaml", SERVICE_ACCOUNT)
    return use


def option(text: str) -> Callable[[Path], object]:
    return lambda use: tiny.write(use / "options/o/kustomization.yaml", OPTION + text)


def relinked(file: Path) -> None:
    """Let a link to the same bytes elsewhere take the place of a file."""
    file.rename(file.parents[5] / file.name)
    file.symlink_to(file.parents[5] / file.name)


def resource(text: str) -> Callable[[Path], object]:
    return lambda use: tiny.write(use / "kustomization.yaml", f"resources:\n- sa.yaml\n- {text}\n")


CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a new file above": (option("resources: [../../.profile]\n"), r"o/kustomization\.yaml:4:13: \.\./\.\./"),
    "a new file at a path": (option("resources: [/etc/x]\n"), "must be the name of a file in this folder"),
    "a new file below": (option("resources: [d/x.yaml]\n"), "must be the name of a file in this folder"),
    "a reserved name": (option("resources: [.packyard-journal]\n"), "must be the name of a file in this folder"),
    "no name": (option("resources: [{a: b}]\n"), "must be the name of a file in this folder"),
    "a patch above": (option(PATCHES.replace("p.json", "../../../../victim.yaml")), "must be the name of a file in th"),
    "one above": (resource("../../victim.yaml"), r"kustomization\.yaml:3:3: \.\./\.\./victim\.yaml leads out of"),
    "a resource at a path": (lambda use: resource(str(use.parents[1] / "victim.yaml"))(use), "leads out of"),
    "a linked folder": (lambda use: [(use / "d").symlink_to("../.."), resource("d/victim.yaml")(use)], "leads to"),
    "a linked resource": (lambda use: [(use / "l.yaml").symlink_to("../../victim.yaml"), resource("l.yaml")(use)],
                          r"kustomization\.yaml:3:3: l\.yaml leads to .*, outside of"),
    "a linked patch": (lambda use: relinked(use / "options/o/p.json6902"), "outside of|leads out|leads to"),
    "a linked option": (lambda use: relinked(use / "options/o/kustomization.yaml"), "outside of|leads out|leads to"),
    "nothing": (lambda use: tiny.write(use / "kustomization.yaml", ""), r"use/kustomization\.yaml:1: is empty"),
    "comments": (lambda use: tiny.write(use / "kustomization.yaml", "# a\n"), r"use/kustomization\.yaml:1: is empty"),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_what_leads_elsewhere_is_refused_by_file_and_line(what: str, use: Path, tmp_path: Path) -> None:
    do, expected = CASES[what]
    do(use)
    before = snapshot(tmp_path)
    with pytest.raises(InputError, match=expected):
        enable(use, "o")
    tiny.write(use / "Krmfile", f"{KRMFILE}options:\n- name: o\n")
    after = snapshot(tmp_path)
    with pytest.raises(InputError, match=expected):
        disable(use, "o")
    assert snapshot(tmp_path) == after
    assert before.keys() == after.keys()


def test_folders_and_addresses_that_a_kustomization_lists_are_none_of_an_options_files(use: Path) -> None:
    tiny.write(use.parent / "shared/kustomization.yaml", "resources: []\n")
    resource("../shared\n- https://example.invalid/x.yaml")(use)
    assert set(enable(use, "o").after) == {"Krmfile", "sa.yaml"}


def test_an_empty_kustomization_is_an_error_at_the_file(tmp_path: Path) -> None:
    tiny.write(tmp_path / "pkg/Krmfile", KRMFILE)
    tiny.write(tmp_path / "pkg/kustomization.yaml", "")
    assert tiny.run("lint", tmp_path / "pkg")[1].startswith(f"{tmp_path}/pkg/kustomization.yaml:1: error: is empty")
