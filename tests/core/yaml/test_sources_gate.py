"""What a workspace names lies in the workspace: whoever names something else is refused, by file and line."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import tiny

KUSTOMIZATION = "bases/one/kustomization.yaml"
PACKAGE = "packages/p/package.yaml"
OVERLAY = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace, beside a file and a folder that are nobody's business."""
    tiny.write(tmp_path / "secret", "secret: yes\n")
    tiny.write(tmp_path / "outside/kustomization.yaml", tiny.FILES[KUSTOMIZATION])
    tiny.write(tmp_path / "outside/cm.yaml", tiny.FILES["bases/one/cm.yaml"].replace("1", "secret"))
    tiny.write(tmp_path / "outside/Krmfile", "kind: Krmfile\nrules: []\n")
    return tiny.workspace(tmp_path / "ws")


def link(path: str, target: str) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        (root / path).unlink(missing_ok=True)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(root.parent / target)

    return do


def text(path: str, old: str, new: str) -> Callable[[Path], None]:
    return lambda root: tiny.replace(root / path, old, new.replace("ROOT", str(root.parent)))


GENERATOR = "configMapGenerator: [{name: a, files: [../../../secret], options: {disableNameSuffixHash: true}}]"
WAYS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link in files": (link("packages/p/files/leak", "secret"), "packages/p/files/leak: leads to "),
    "a license above": (text("packyard.yaml", "LICENSE", "../secret"), "packyard.yaml:5:10: license: '../secret' lead"),
    "a linked fragment": (link("packages/p/docs/00-title.md", "secret"), "packages/p/docs/00-title.md: leads to "),
    "a resource above": (text(KUSTOMIZATION, "cm.yaml", "../../../secret"), f"{KUSTOMIZATION}:4:13: resources: '../.."),
    "a linked kustomization": (link(KUSTOMIZATION, "outside/kustomization.yaml"), f"{KUSTOMIZATION}: leads to"),
    "a linked Krmfile": (link("bases/one/Krmfile", "outside/Krmfile"), "bases/one/Krmfile: leads to"),
    "a base above": (text(PACKAGE, "base: one", "base: .."), f"{PACKAGE}:4:15: useCases.one.base: no folder '..'"),
    "a patch above": (
        text(PACKAGE, "base: one", "base: one, patches: [../../../secret]"),
        f"{PACKAGE}:4:30: useCases.one.patches: '../../../secret' leads to",
    ),
    "replacements above": (
        text(KUSTOMIZATION, "resources:", "replacements: [{path: ../../../secret}]\nresources:"),
        f"{KUSTOMIZATION}:4:23: replacements.path: '../../../secret' leads to",
    ),
    "a linked option": (
        lambda root: [
            tiny.write(root.parent / "outside/o/kustomization.yaml", OVERLAY),
            link("overlays/options/o", "outside/o")(root),
        ],
        "overlays/options/o: leads to",
    ),
    "a generated file": (
        text(KUSTOMIZATION, "resources:", GENERATOR + "\nresources:"),
        f"{KUSTOMIZATION}:4:40: configMapGenerator.files: '../../../secret' leads",
    ),
    "a linked preset": (link("packages/p/files/presets/a.yaml", "secret"), "packages/p/files/presets/a.yaml: leads to"),
    "a linked package": (
        lambda root: [
            (root / "packages/p").rename(root.parent / "outside/p"),
            link("packages/p", "outside/p")(root),
        ],
        "packages/p/package.yaml: leads to",
    ),
    "packyard.yaml itself": (link("packyard.yaml", "secret"), "packyard.yaml: leads to"),
    "a name of no file": (text(KUSTOMIZATION, "cm.yaml", '"a\\0b"'), f"{KUSTOMIZATION}:4:13: resources: 'a\\x00b'"),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_nothing_outside_of_the_workspace_comes_into_a_bundle(way: str, root: Path, tmp_path: Path) -> None:
    do, expected = WAYS[way]
    do(root)
    said = tiny.refused("build", "--version", "1", "--to", tmp_path / "out", "--workspace", root)
    assert said.removeprefix("error: ").removeprefix(f"{root}/").startswith(expected), said
    assert not (tmp_path / "out").exists()
    code, out, said = tiny.run("lint", "--workspace", root)
    said = tiny.composing(out) if "[does-not-compose]" in out else said
    assert (
        said.removeprefix("error: ").removeprefix(f"{root}/").startswith(expected)
        if code
        else any(word in way for word in ("fragment", "preset", "option", "of the catalogue"))
    ), said
    assert "secret: yes" not in out + said


def test_a_link_that_stays_in_the_workspace_is_followed(root: Path, tmp_path: Path) -> None:
    (root / "packages/p/files/linked.txt").symlink_to("run.txt")
    (root / "packages/p/files/terms").symlink_to("../../../LICENSE")
    (root / "bases/two").symlink_to("one")
    tiny.replace(root / PACKAGE, "base: one", "base: two")
    (tmp_path / "link").symlink_to(root)
    for number, workspace_dir in enumerate((root, tmp_path / "link")):
        out_dir = tmp_path / f"out{number}"
        assert tiny.run("build", "--workspace", workspace_dir, "--version", "1", "--to", out_dir)[0] == 0
        assert (out_dir / "p/terms").read_text() == "free\n"
        assert not (out_dir / "p/linked.txt").is_symlink()


def test_what_editors_and_file_managers_leave_is_not_shipped(root: Path, tmp_path: Path) -> None:
    for name in (".DS_Store", "run.txt~", ".idea/modules.xml", ".#run.txt"):
        tiny.write(root / "packages/p/files" / name, "")
    assert tiny.run("build", "--workspace", root, "--version", "1", "--to", tmp_path / "out")[0] == 0
    assert sorted(file.name for file in (tmp_path / "out/p").iterdir()) == [
        *("LICENSE", "README.md", "packyard.json", "run.txt", "uses")
    ]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("gone"), lambda path: path.symlink_to("d")])
def test_what_is_no_file_is_named_and_not_left_out(make: Callable[[Path], object], root: Path) -> None:
    (root / "packages/p/files/d").mkdir()
    make(root / "packages/p/files/odd")
    assert "files/odd: is neither a file nor a folder" in tiny.refused("lint", "--workspace", root)
