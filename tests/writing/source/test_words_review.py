"""What `build` and `lint` refuse of definitions, at their places in the sources."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny
from tiny import packyard

BASE = {
    "bases/one/kustomization.yaml": (
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [cm.yaml]\n"
    ),
    "bases/one/cm.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n" + '  a: "" # {"$openapi":"A"}\n'
    ),
    "packyard.yaml": "apiVersion: packyard/v1\nkind: Workspace\nname: w\nprefix: uses\nlicense: LICENSE\n",
    "LICENSE": "free\n",
    "packages/p/docs/00-title.md": "# p\n",
    "packages/p/package.yaml": (
        "apiVersion: packyard/v1\nkind: Package\nuseCases:\n  one: {base: one}\n"
        "model: {name: p, framework: f, category: c, precision: fp32, mode: training}\n"
    ),
}


def workspace(folder: Path, definition: str, title: str = "# p\n") -> Path:
    krmfile = f"openAPI:\n  definitions:\n    io.k8s.cli.setters.A:\n{definition}"
    files = {**BASE, "bases/one/Krmfile": krmfile, "packages/p/docs/00-title.md": title}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


REQUIRED = '      x-k8s-cli: {setter: {name: A, value: "", required: true}}\n'
OPEN = '      x-k8s-cli: {setter: {name: A, value: ""}}\n'


@pytest.mark.parametrize(
    ("definition", "says"),
    [
        (REQUIRED, "Krmfile:3:5: setter A is required, and has neither an example nor a description"),
        (f"      pattern: '('\n{OPEN}", "Krmfile:4:16: the pattern '(' is invalid: missing ): ("),
        (f"      type: integer\n      maximum: many\n{OPEN}", "Krmfile:5:16: maximum must be a number, found 'many'"),
        (f"      multipleOf: 0\n{OPEN}", "Krmfile:4:19: multipleOf must be more than 0, found 0"),
        (
            f"      type: array\n      items:\n        pattern: (?=a)\n{OPEN}",
            "Krmfile:6:18: the pattern '(?=a)' is invalid: invalid perl operator: (?=",
        ),
    ],
)
def test_build_and_lint_refuse_a_definition_at_its_place(tmp_path: Path, definition: str, says: str) -> None:
    place = workspace(tmp_path / "ws", definition)
    for words in (("build", "p", "--version", "1", "--out", tmp_path / "out"), ("lint", "p")):
        process = packyard(*words, "--workspace", place)
        assert process.returncode == 1
        assert f"bases/one/{says}" in process.stderr + tiny.composing(process.stdout)
    assert not (tmp_path / "out" / "p").exists()


def test_a_readme_never_prints_none(tmp_path: Path) -> None:
    loop = "{% for use_case in use_cases %}{% for s in use_case.setters %}\n{{ s.name }}={{ s.example }}\n"
    title = f"# p\n{loop}{{% endfor %}}{{% endfor %}}\n"
    definition = f"      description: What it is.\n{REQUIRED}"
    place = workspace(tmp_path / "ws", definition, title)
    build = ("build", "p", "--version", "1", "--out", tmp_path / "out", "--workspace", place)
    process = packyard(*build)
    assert process.returncode == 1
    assert "packages/p/docs/00-title.md:3: this has no value, and would be printed as None" in process.stderr
    workspace(place, f"      example: x\n{REQUIRED}", title)
    assert packyard(*build).returncode == 0
    assert "A=x" in (tmp_path / "out/p/README.md").read_text()
