"""Workspaces that make much of little, or nonsense of a file: refused by name, and soon."""

from collections.abc import Callable
from pathlib import Path

import pytest

import hostiletrees as hostile
import tiny
from packyard.using.kustomize import accumulate, patch, reader
from packyard.writing.source import package
from writing.source.libraries import COMPONENT, KUSTOMIZATION

PACKAGE = "packages/p/package.yaml"
BASE = "bases/one/kustomization.yaml"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tiny.workspace(tmp_path / "ws")


def use_cases(text: str) -> Callable[[Path], object]:
    def do(root: Path) -> None:
        lines = tiny.FILES[PACKAGE].replace("  one: {base: one}\n", f"  {text}\n")
        tiny.write(root / PACKAGE, lines)

    return do


def base(text: str) -> Callable[[Path], object]:
    return lambda root: tiny.write(root / BASE, KUSTOMIZATION + text)


def patches(*operations: str, target: str = "{kind: ConfigMap}") -> Callable[[Path], object]:
    listed = "".join(f"    - {operation}\n" for operation in operations)
    return base(f"resources: [cm.yaml]\npatches:\n- target: {target}\n  patch: |\n{listed}")


def chain(count: int, resources: str) -> Callable[[Path], object]:
    """Let each base build on the next, ``resources`` saying how; the last one is empty."""

    def do(root: Path) -> None:
        for number in range(count):
            listed = resources.replace("NEXT", f"../b{number + 1}") if number + 1 < count else "[]"
            tiny.write(root / f"bases/b{number}/kustomization.yaml", f"{KUSTOMIZATION}resources: {listed}\n")
        base("resources: [cm.yaml, ../b0]\n")(root)

    return do


def doubling(count: int) -> list[str]:
    return [f"{{op: copy, from: /data, path: /data/c{number}}}" for number in range(count)]


def nesting(count: int) -> list[str]:
    return [f"{{op: copy, from: /data, path: /data{'/c' * number}}}" for number in range(1, count)]


CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "thousands of use cases": (
        use_cases("{" + ", ".join(f"u{number}: {{base: one}}" for number in range(3000)) + "}"),
        f"{PACKAGE}:1:1: useCases: are 3000 in all, where a package may have {package.MAX_USE_CASES}",
    ),
    "an overlay of hundreds": (
        lambda root: [
            *(tiny.write(root / f"overlays/programs/{name}/kustomization.yaml",
                         f"{COMPONENT}components: [{', '.join(f'../{below}{number}' for number in range(25))}]\n")
              for name, below in (("o", "p"), *((f"p{number}", "q") for number in range(25)))),
            *(tiny.write(root / f"overlays/programs/q{number}/kustomization.yaml", COMPONENT) for number in range(25)),
            use_cases("one: {base: one, programs: [o]}")(root),
        ],
        f"is made of more than {reader.MAX_PARTS} kustomizations",
    ),
    "a long chain of kustomizations": (
        chain(300, "[NEXT]"),
        f"kustomizations build on each other more than {reader.MAX_DEPTH} deep",
    ),
    "a circle of kustomizations": (
        base("resources: [cm.yaml, ../one]\n"),
        f"{BASE}:3:22: resources: kustomizations build on each other in a circle: one -> one",
    ),
    "thousands of objects": (
        lambda root: tiny.write(root / "bases/one/cm.yaml", "---\n".join(
            f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x{number}}}\n" for number in range(1500))),
        f"a use case has at most {accumulate.MAX_OBJECTS} objects",
    ),
    "an object copied into itself": (patches(*doubling(40)), f"copies more than {patch.MAX_COPIED} values of one obj"),
    "an object nested into itself": (patches(*nesting(40)), f"nests deeper than {patch.MAX_DEPTH} levels"),
    "a path of many steps": (
        patches(f"{{op: add, path: /data{'/c' * 100}, value: c}}"),
        f"{BASE}:7:7: path has more than {patch.MAX_STEPS} steps",
    ),
    "thousands of faults": (
        base("".join(f"key{number}: x\n" for number in range(3000))),
        f"{BASE}:3:1: key0: is not a known key",
    ),
    "more values than memory": (base(f"resources: [{'a,' * 500_000}]\n"), f"{BASE}: holds more than 250000 values"),
    "aliases of aliases": (
        lambda root: tiny.write(root / "bases/one/cm.yaml", tiny.FILES["bases/one/cm.yaml"] + hostile.ALIASES),
        "its aliases stand for more than 100000 values",
    ),
    "deep brackets": (
        lambda root: tiny.write(root / PACKAGE, "a: " + "[" * 5000 + "]" * 5000),
        f"{PACKAGE}:1:203: nested deeper than 200 levels",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_much_of_little_is_refused(what: str, root: Path, tmp_path: Path) -> None:
    do, expected = CASES[what]
    do(root)
    said = tiny.refused("build", "--workspace", root, "--version", "1", "--to", tmp_path / "out")
    assert expected in said, said[:2000]
    assert len(said.splitlines()) <= 102
    assert not (tmp_path / "out").exists()


def test_a_target_is_matched_in_linear_time(root: Path, tmp_path: Path) -> None:
    tiny.replace(root / "bases/one/cm.yaml", "  name: x\n", f"  name: {'a' * 200}\n")
    patches("{op: add, path: /data/b, value: c}", target="{name: '(a|aa|a+)+b'}")(root)
    said = tiny.refused("build", "--workspace", root, "--version", "1", "--to", tmp_path / "out")
    assert "it is for name '(a|aa|a+)+b'" in said
    patches("{op: add, path: /data/b, value: c}", target="{name: '(a|aa|a+)+', kind: 'Con.*|Job'}")(root)
    assert tiny.run("lint", "--workspace", root)[0] == 0
