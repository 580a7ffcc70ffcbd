"""Libraries of a workspace: where they are found, what of them is used, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import tiny
from packyard.core.errors import PackyardError
from writing.source import libraries
from writing.source.libraries import COMPONENT, CONFIG_MAP, HEAD, KRMFILE, KUSTOMIZATION, composed, define
from writing.source.libraries import name as name_libraries
from writing.source.libraries import write as write_library

PATCH = "patches: [{path: cm.yaml}]\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace whose package ``p`` is made of the base ``below`` of the library ``parts`` beside it."""
    write_library(tmp_path / "parts", A="1")
    return libraries.workspace(tmp_path / "ws", "{path: ../parts}")


def data(root: Path) -> dict[str, str]:
    """The data of the one ConfigMap that the package is composed of."""
    (use_case,) = composed(root).use_cases
    found = yaml.safe_load(use_case.files["config-map.yaml"])["data"]
    assert isinstance(found, dict)
    return found


def refusal(root: Path) -> str:
    with pytest.raises(PackyardError) as caught:
        composed(root)
    return str(caught.value).replace(f"{root.parent}/", "")


def test_lets_an_overlay_of_the_workspace_add_to_one_of_a_library(root: Path) -> None:
    tiny.write(root.parent / "parts/overlays/storage/s/kustomization.yaml", COMPONENT + PATCH)
    tiny.write(root.parent / "parts/overlays/storage/s/cm.yaml", f"{CONFIG_MAP}  S: library\n  T: library\n")
    tiny.write(root / "overlays/storage/s/cm.yaml", f"{CONFIG_MAP}  T: workspace\n")
    more = "components: [../../../libraries/parts/overlays/storage/s]\n"
    tiny.write(root / "overlays/storage/s/kustomization.yaml", COMPONENT + more + PATCH)
    tiny.replace(root / "packages/p/package.yaml", "base: below", "base: below, storage: [s]")
    assert data(root) == {"A": "1", "S": "library", "T": "workspace"}


def test_uses_the_part_of_the_workspace_before_that_of_a_library_and_that_of_the_first_library(root: Path) -> None:
    write_library(root.parent / "others", B="2")
    name_libraries(root, "{path: ../others}", "{path: ../parts}")
    assert data(root) == {"B": "2"}
    tiny.write(root / "bases/below/kustomization.yaml", f"{KUSTOMIZATION}resources: [cm.yaml]\n")
    tiny.write(root / "bases/below/cm.yaml", f"{CONFIG_MAP}  C: own\n")
    assert data(root) == {"C": "own"}


def test_gives_readmes_the_fragments_of_libraries_unless_the_workspace_has_its_own(root: Path, tmp_path: Path) -> None:
    tiny.write(root.parent / "parts/docs/readme/50-shared.md", "From the library: {{ name }}.\n")

    def readme() -> str:
        assert tiny.run("build", "p", "--version", "1", "--workspace", root, "--to", tmp_path / "out")[0] == 0
        return (tmp_path / "out/p/README.md").read_text()

    assert "From the library: p.\n" in readme()
    tiny.write(root / "docs/readme/50-shared.md", "From the workspace.\n")
    assert "From the workspace.\n" in readme()
    assert "library" not in readme()


def test_takes_a_setter_from_the_first_library_that_defines_it_or_from_the_workspace(root: Path) -> None:
    write_library(root.parent / "others", A="2")
    name_libraries(root, "{path: ../parts}", "{path: ../others}")
    assert data(root) == {"A": "1"}
    tiny.write(root / "Krmfile", KRMFILE + define("A", "3"))
    assert data(root) == {"A": "3"}


def test_lets_a_library_build_on_another_one_which_only_it_sees(root: Path) -> None:
    inner, outer = write_library(root.parent / "inner", A="1", B="2"), root.parent / "parts"
    (inner / "bases/below").rename(inner / "bases/innermost")
    tiny.write(outer / "packyard.yaml", HEAD + "libraries: [{path: ../inner}]\n")
    resources = "resources: [../../libraries/inner/bases/innermost]\n"
    tiny.write(outer / "bases/below/kustomization.yaml", KUSTOMIZATION + resources)
    assert data(root) == {"A": "1", "B": "2"}
    tiny.replace(root / "packages/p/package.yaml", "base: below", "base: innermost")
    assert "no folder 'innermost' in bases/ or in parts" in refusal(root)


# What is refused.


def link_out(root: Path) -> None:
    tiny.write(root.parent / "secret.yaml", f"{CONFIG_MAP}  SECRET: yes\n")
    (root.parent / "parts/bases/below/cm.yaml").unlink()
    (root.parent / "parts/bases/below/cm.yaml").symlink_to(root.parent / "secret.yaml")


def lead(path: str) -> Callable[[Path], None]:
    kustomization = f"{KUSTOMIZATION}resources: [{path}]\n"
    return lambda root: tiny.write(root.parent / "parts/bases/below/kustomization.yaml", kustomization)


def circle(root: Path) -> None:
    tiny.write(root.parent / "parts/packyard.yaml", HEAD + "libraries: [{path: ../others}]\n")
    write_library(root.parent / "others")
    tiny.write(root.parent / "others/packyard.yaml", HEAD + "libraries: [{path: ../parts}]\n")


def chain(root: Path) -> None:
    for number in range(12):
        folder = write_library(root.parent / f"l{number}")
        tiny.write(folder / "packyard.yaml", HEAD + f"libraries: [{{path: ../l{number + 1}}}]\n")
    name_libraries(root, "{path: ../l0}")


FORMS = "write builtin, {path: ../FOLDER} or {name: NAME, version: 1.2.0, digest: sha256:…, from: CHANNEL}"


def entry(*entries: str) -> Callable[[Path], None]:
    return lambda root: name_libraries(root, *entries)


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a library that is not there": (
        entry("{path: ../nowhere}"),
        "ws/packyard.yaml:7: the library nowhere is not there: no folder 'nowhere' (correct `path`)",
    ),
    "a folder that is no library": (
        lambda root: (root.parent / "parts/packyard.yaml").unlink(),
        "parts/packyard.yaml: no such file, so this is not a library",
    ),
    "a package as library": (
        lambda root: tiny.replace(root.parent / "parts/packyard.yaml", "Library", "Package"),
        "parts/packyard.yaml:1: must be a Library or a Workspace of packyard/v1",
    ),
    "itself": (entry("{path: ../ws}"), "ws/packyard.yaml:7: the library ws builds on itself: ws"),
    "a circle": (circle, "others/packyard.yaml:5: the library parts builds on itself: parts -> others -> parts"),
    "a chain without end": (chain, "is one too many: a workspace has at most 50, 8 deep"),
    "too many": (entry(*(f"{{path: ../parts, name: p{n}}}" for n in range(51))), "the library p50 is one too many"),
    "a link that leads out": (link_out, "resources: 'cm.yaml' leads to "),
    "a path into the workspace": (lead("../../../../ws/bases/one"), "leads to "),
    "a library that nobody named": (
        lead("../../libraries/builtin/bases/run"),
        "'../../libraries/builtin/bases/run' is neither a file nor a folder here"
        " (libraries of packyard.yaml names no such library, or it has no such part)",
    ),
    "a name twice": (
        entry("{path: ../parts}", "{path: ../parts}"),
        "ws/packyard.yaml:8:3: libraries: names 'parts' twice (give one of them another `name`)",
    ),
    "an unknown word": (entry("builtins"), f"ws/packyard.yaml:7:3: libraries: 'builtins' is not a library ({FORMS})"),
    "a name that is a path": (entry("{name: ../x, version: '1'}"), "libraries.name: '../x' cannot be a library's name"),
    "our own name": (entry("{name: builtin, version: '1'}"), "; builtin is packyard's own"),
    "a bundle that was not fetched": (
        entry("{name: zoo-parts, version: '1.2'}"),
        "ws/packyard.yaml:7: the library zoo-parts 1.2 was not fetched (packyard build fetches it)",
    ),
    "an absolute path": (entry("{path: /etc}"), "libraries.path: must be a path from the folder of packyard.yaml"),
}


@pytest.mark.parametrize("way", REFUSED)
def test_refuses(way: str, root: Path) -> None:
    change, says = REFUSED[way]
    change(root)
    found = refusal(root)
    assert says in found, found
