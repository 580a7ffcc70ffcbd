"""Directories made to keep the build busy, or to let it read elsewhere: each file once, within bounds, and no other."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import tiny
from hostiletrees import ALIASES, MERGES
from packyard.core.errors import InputError, PackyardError
from packyard.core.files.tree import Tree
from packyard.core.yaml import aliases
from packyard.using.render import directories, programs, render
from real import Kustomize

OBJECT = "apiVersion: v1\nkind: X\nmetadata: {name: x}\n"
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"


def diamonds(folder: Path, count: int, field: str = "resources") -> Path:
    """Let each directory name the next one twice, in two spellings."""
    for number in range(count):
        tiny.write(folder / f"d{number}/kustomization.yaml", f"{field}: [../d{number + 1}, ../d{number + 1}/.]\n")
    tiny.write(folder / f"d{count}/kustomization.yaml", "resources: []\n")
    return folder / "d0"


def test_yields_each_directory_once_however_many_ways_lead_there(tmp_path: Path) -> None:
    assert len([*directories.folders(Tree(diamonds(tmp_path, 8)))]) == 9


@pytest.mark.parametrize("field", ["resources", "bases", "components", "generators", "transformers", "validators"])
def test_no_program_is_started_that_would_read_a_directory_a_billion_times(field: str, tmp_path: Path) -> None:
    """kustomize reads a directory each time that it is named."""
    top = diamonds(tmp_path / "tree", 30, field)
    tiny.script(tmp_path / "bin/kustomize", f"touch {tmp_path}/started")
    with pytest.raises(InputError) as caught:
        render.render(Tree(top), path=str(tmp_path / "bin"))
    assert not (tmp_path / "started").exists()
    assert str(caught.value).startswith(f"{top}: is built from more than 1000 files")
    assert str(caught.value).endswith("(name each directory once)")


def test_a_program_reads_what_is_named_often_within_bounds(kustomize5: Kustomize, tmp_path: Path) -> None:
    """Each of two components is one of the other two: that is no billion."""
    tiny.write(tmp_path / "p/kustomization.yaml", "resources: [a.yaml]\ncomponents: [../c0, ../c1, ../c2]\n")
    tiny.write(tmp_path / "p/a.yaml", OBJECT)
    for number in range(3):
        further = [f"../c{other}" for other in range(number + 1, 3)]
        tiny.write(tmp_path / f"c{number}/kustomization.yaml", f"{COMPONENT}components: {further}\n")
    assert b"name: x" in programs.Program(kustomize5.program, "build").build(tmp_path / "p")


def test_a_circle_is_an_error_of_the_build(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        tiny.write(tmp_path / name / "kustomization.yaml", f"resources: [../{other}]\n")
    with pytest.raises(InputError, match=r"kustomization.yaml:1:13: '\.\./b' of resources is a directory"):
        render.render(Tree(tmp_path / "a"), path="")


def use_case(folder: Path, resources: str = "[a.yaml]", text: str = OBJECT) -> Path:
    tiny.write(folder / "use/kustomization.yaml", f"resources: {resources}\n")
    tiny.write(folder / "use/a.yaml", text)
    return folder / "use"


def files(count: int, text: str) -> Callable[[Path], object]:
    def do(folder: Path) -> None:
        names = [f"f{number}.yaml" for number in range(count)]
        use_case(folder, f"[{', '.join(names)}]")
        for number, name in enumerate(names):
            tiny.write(folder / "use" / name, text.replace("name: x", f"name: x{number}"))

    return do


def replaced(path: str, by: Callable[[Path], object]) -> Callable[[Path], object]:
    def do(folder: Path) -> None:
        use_case(folder)
        tiny.write(folder / "use" / path, "")
        (folder / "use" / path).unlink()
        by(folder / "use" / path)

    return do


CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a resource above": (lambda folder: [use_case(folder, "[../a.yaml]"), tiny.write(folder / "a.yaml", OBJECT)],
                         r"kustomization\.yaml:1:13: resources: '\.\./a\.yaml' leads to .*, outside of the package"),
    "a resource that is a link": (replaced("a.yaml", lambda file: file.symlink_to("/etc/passwd")), "leads to /etc"),
    "a kustomization that is a link": (
        replaced("kustomization.yaml", lambda file: [
            tiny.write(file.parents[1] / "k.yaml", "resources: [a.yaml]\n"), file.symlink_to("../k.yaml")]),
        r"use/kustomization\.yaml: is a link to .*/k\.yaml, outside of .*/use"),
    "a linked folder": (lambda folder: [use_case(folder, "[d/a.yaml]"), tiny.write(folder / "e/a.yaml", OBJECT),
                                        (folder / "use/d").symlink_to("../e")], "leads to .*, outside of the package"),
    "a pipe as a resource": (replaced("a.yaml", os.mkfifo), "no file 'a.yaml'$"),
    "a pipe as a Krmfile": (replaced("Krmfile", os.mkfifo), ""),
    "a pipe as a kustomization": (replaced("kustomization.yaml", os.mkfifo), r"has no kustomization\.yaml"),
    "a file of a terabyte": (replaced("a.yaml", lambda file: [file.touch(), os.truncate(file, 1 << 40)]), "is larger"),
    "a large Krmfile": (replaced("Krmfile", lambda file: [file.touch(), os.truncate(file, 1 << 40)]), "is larger"),
    "many": (lambda folder: use_case(folder, "[" + "a.yaml, " * 2000 + "]"), "is listed twice"),
    "many bytes": (files(10, OBJECT + "#" * (1 << 20)), "is built from more than"),
    "many missing files": (lambda folder: use_case(folder, f"[{'g.yaml,' * 900}]"), "there are more faults"),
    "many values": (lambda folder: use_case(folder, text=f"{OBJECT}a: [{'b,' * 300_000}]\n"), "holds more than 250000"),
    "aliases of aliases": (lambda folder: use_case(folder, text=OBJECT + ALIASES),
                           f"a.yaml:[0-9:]+: its aliases stand for more than {aliases.MAX_VALUES} values"),
    "aliases that nest": (lambda folder: use_case(folder, text=OBJECT + MERGES), "its aliases "),
    "aliases that nest deep": (
        lambda folder: use_case(folder, text=OBJECT + "a0: &a0 [x]\n" + "".join(
            f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 500))), "its aliases nest deeper than 200 levels"),
    "its own alias": (lambda folder: use_case(folder, text=OBJECT + "a: &a [*a]\n"), "refers to a node that contains"),
    "deep": (lambda folder: use_case(folder, text=OBJECT + "a: " + "[" * 500 + "]" * 500), "nested deeper than 200"),
    "a name with a NUL": (lambda folder: use_case(folder, '["a\\0b"]'), "no file has such a name"),
    "a name of a megabyte": (lambda folder: use_case(folder, f"[{'x' * 1_000_000}]"), "neither a file nor a folder"),
    "a link to itself": (replaced("a.yaml", lambda file: file.symlink_to("a.yaml")), "nor a folder here$"),
    "a folder that links to itself": (lambda folder: [use_case(folder, "[d]"), (folder / "use/d").symlink_to("d")],
                                      "neither a file nor a folder"),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_is_refused_by_name_or_built(what: str, tmp_path: Path) -> None:
    do, expected = CASES[what]
    do(tmp_path)
    if not expected:
        assert b"name: x" in render.render(Tree(tmp_path / "use"), path="")
        return
    with pytest.raises(PackyardError, match=expected):
        render.render(Tree(tmp_path / "use"), path="")
