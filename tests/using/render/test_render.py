"""Rendering: refused while anything is unset, then built by the first of kustomize, kubectl and our own build."""

from pathlib import Path

import pytest

import tiny
from packyard.core.errors import InputError
from packyard.core.files.tree import Tree
from packyard.using.render.every import find, render_all
from packyard.using.render.render import render
from real import Kustomize
from using.kustomize.both import roots

KRMFILE = tiny.text("render/Krmfile")
SET = KRMFILE.replace("null", '""').replace('value: "", required', 'value: "x", isSet: true, required')
OBJECT = "apiVersion: v1\nkind: X\nmetadata: {name: x}\nspec: {a: 012}\n"


@pytest.fixture
def use_case(tmp_path: Path) -> Path:
    folder = tmp_path / "use-case"
    tiny.write(folder / "kustomization.yaml", "resources:\n- a.yaml\nnamespace: ml\n")
    (folder / "a.yaml").write_text(OBJECT)
    (folder / "Krmfile").write_text(SET)
    return folder


def test_refuses_with_every_setter_that_is_still_unset_and_how_to_set_it(use_case: Path) -> None:
    (use_case / "Krmfile").write_text(KRMFILE)
    with pytest.raises(InputError) as caught:
        render(Tree(use_case), path="")
    assert [str(problem) for problem in caught.value.problems] == [
        f"{use_case}/Krmfile:5: NFS_SERVER is not set: address of the NFS server "
        f"(packyard set {use_case} NFS_SERVER=10.0.0.5)",
        f"{use_case}/Krmfile:10: NFS_PATH is not set (packyard set {use_case} NFS_PATH=VALUE)",
    ]


def test_asks_for_setters_of_the_directories_that_are_built_along_and_of_no_other(use_case: Path) -> None:
    for name in ("on", "off"):
        tiny.write(use_case / "options" / name / "kustomization.yaml", "kind: Component\n")
        (use_case / "options" / name / "Krmfile").write_text(KRMFILE)
    with (use_case / "kustomization.yaml").open("a") as file:
        file.write("components: [options/on]\n")
    with pytest.raises(InputError) as caught:
        render(Tree(use_case), path="")
    assert {problem.file for problem in caught.value.problems} == {f"{use_case}/options/on/Krmfile"}


def test_names_the_directory_whose_setter_it_is_where_others_build_on_it(use_case: Path) -> None:
    (use_case / "Krmfile").write_text(KRMFILE)
    for name in ("one", "two"):
        tiny.write(use_case.parent / name / "kustomization.yaml", "resources: [../use-case]\n")
    with pytest.raises(InputError) as caught:
        render_all(Tree(use_case.parent), path="")
    (server, path, _) = caught.value.problems
    assert server.hint == f"packyard set {use_case} NFS_SERVER=10.0.0.5"
    assert path.hint == f"packyard set {use_case} NFS_PATH=VALUE"


def test_a_program_is_told_from_a_use_case_by_its_kind_and_not_by_other_words(tmp_path: Path) -> None:
    for name, text in (("p", 'kind:  "Component"\n'), ("case", "kind: Kustomization  # no kind: Component\n")):
        tiny.write(tmp_path / "programs" / name / "kustomization.yaml", f"{text}namespace: ml\n")
    assert find(tmp_path) == ["programs/case"]


def test_does_not_fall_back_where_a_program_fails(use_case: Path, tmp_path: Path) -> None:
    tiny.script(tmp_path / "kubectl", "echo 'kind: X'")
    tiny.script(tmp_path / "kustomize", "echo 'Error: broken' >&2; exit 1")
    with pytest.raises(InputError, match="Error: broken"):
        render(Tree(use_case), path=str(tmp_path))
    (use_case / "a.yaml").rename(use_case / "b.yaml")  # which our own build names by file and line
    with pytest.raises(InputError, match=r"kustomization\.yaml:2:3: resources: 'a\.yaml' is neither .*'b\.yaml'"):
        render(Tree(use_case), path=str(tmp_path))


def test_all_three_ways_give_equal_objects(
    use_case: Path, tmp_path: Path, kustomize5: Kustomize, kubectl: Path
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "kustomize").symlink_to(kustomize5.program)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "kubectl").symlink_to(kubectl)
    built = [roots(render(Tree(use_case), path=path).decode()) for path in (f"{tmp_path}/one", f"{tmp_path}/two", "")]
    assert built[0] == built[1] == built[2]
