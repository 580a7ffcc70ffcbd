"""Each line of a composed file comes from a line of the sources that says the same, also behind several patches."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

import tiny
from catalogue.usecases import CATALOGUE, PACKAGES
from packyard.writing.source import workspace
from packyard.writing.source.compose import compose
from packyard.writing.source.package import Package
from packyard.writing.source.trace import Traced
from writing.source.libraries import composed


@cache
def lines(file: str) -> list[str]:
    return Path(file).read_text().split("\n")


@pytest.mark.nightly
@pytest.mark.parametrize("package", [PACKAGES[3], PACKAGES[-2]], ids=lambda item: item.name)
def test_a_line_of_the_catalogue_says_what_its_source_says(package: Package) -> None:
    made = compose(CATALOGUE, package)
    traced = Traced(CATALOGUE, made)
    checked = 0
    for path, data in made.files.items():
        for number, line in enumerate(data.decode().split("\n")[:-1], 1):
            place = traced.at(path, number)
            found = lines(place.file)[place.line - 1] if place else ""
            if path.endswith(("Krmfile", "kustomization.yaml", "pods.yaml")):
                assert found or path.endswith("Krmfile"), f"{path}:{number}"
                continue
            checked += 1
            assert place
            key, _, value = line.strip().removeprefix("- ").partition(" #")[0].partition(":")
            file = place.file.endswith((".py", ".sh", "kustomization.yaml"))
            assert file or ": *" in line or key in found or value.strip() in found or '"$openapi"' in line, line
    assert checked > 300


@pytest.fixture
def traced(tmp_path: Path) -> Traced:
    return trace(tmp_path, {})


def written(folder: Path, path: str) -> list[str]:
    """Return the lines of a composed file."""
    return composed(folder / "ws").files[path].decode().split("\n")


def trace(folder: Path, files: Mapping[str, str]) -> Traced:
    root = tiny.workspace(folder / "ws")
    tiny.write_all(root, {**STACK, **files})
    return Traced(workspace.read(root), composed(root))


STACK = {
    "Krmfile": """\
openAPI:
  definitions:
    io.k8s.cli.setters.SIZE:
      x-k8s-cli: {setter: {name: SIZE, value: "1"}}
""",
    "bases/one/cm.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: run
data: # what the program reads
  a: "1"
  b: |
    one
    two
  # The last one.
  c: c
""",
    "overlays/storage/x/kustomization.yaml": """\
# Storage.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: ConfigMap}
  patch: |-
    - op: replace
      path: /data/a
      value: "2"
    - {op: add, path: /data/d, value: new}
""",
    "packages/p/package.yaml": """\
apiVersion: packyard/v1
kind: Package
model: {name: p, framework: f, category: c, precision: fp32, mode: training}
useCases:
  one:
    base: one
    storage: [x]
    setters:
      SIZE: "3"
    patches:
    - path: a.yaml
      target: {kind: ConfigMap}
""",
    "packages/p/a.yaml": """\
- op: replace
  path: /data/a
  value: "3" # {"$openapi":"SIZE"}
""",
}
CM = "one/x/config-map.yaml"


def places(traced: Traced, line: int, path: str = CM, column: int = 0) -> str:
    place = traced.at(path, line, column)
    assert place
    return f"{place.file.partition('/ws/')[2]}:{place.line}"


def test_a_value_that_was_patched_twice_is_from_the_last_patch(traced: Traced, tmp_path: Path) -> None:
    assert written(tmp_path, CM)[5] == '  a: "3" # {"$openapi":"SIZE"}'
    assert places(traced, 6) == places(traced, 6, column=6) == places(traced, 6, column=10) == "packages/p/a.yaml:3"
    value = traced.value_place(CM, 6)
    assert value
    assert (value.file.partition("/ws/")[2], value.line) == ("packages/p/package.yaml", 9)


def test_a_krmfile_leads_to_the_definition_and_to_who_gave_the_value(traced: Traced, tmp_path: Path) -> None:
    text = written(tmp_path, "one/x/Krmfile")
    number = next(number for number, line in enumerate(text, 1) if 'value: "3"' in line)
    assert places(traced, number, "one/x/Krmfile") == "packages/p/package.yaml:9"
    number = next(number for number, line in enumerate(text, 1) if "setters.SIZE" in line)
    assert places(traced, number, "one/x/Krmfile") == "Krmfile:3"


def test_an_item_of_a_list_that_a_patch_moved_keeps_its_place(tmp_path: Path) -> None:
    merge = (
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: any\n"
        "spec:\n  template:\n    spec:\n      containers:\n      - {name: side, image: s:1}\n"
    )
    base = tiny.POD.replace("      containers", "      # Confined.\n      containers")
    files = {
        "bases/one/cm.yaml": base,
        "overlays/storage/x/kustomization.yaml": STACK["overlays/storage/x/kustomization.yaml"].partition("patches")[0],
        "packages/p/a.yaml": merge,
        "packages/p/package.yaml": STACK["packages/p/package.yaml"].replace("ConfigMap", "Job").replace(
            '    setters:\n      SIZE: "3"\n', ""
        ),
    }  # fmt: skip
    traced = trace(tmp_path, files)
    number = {line.strip(): number for number, line in enumerate(written(tmp_path, "one/x/job.yaml"), 1)}
    place = base.split("\n").index("      - name: main") + 1
    assert places(traced, number["- {name: side, image: s:1}"], "one/x/job.yaml") == "packages/p/a.yaml:9"
    assert places(traced, number["- name: main"], "one/x/job.yaml") == f"bases/one/cm.yaml:{place}"
    assert places(traced, number["image: registry.example/x:1"], "one/x/job.yaml") == f"bases/one/cm.yaml:{place + 1}"
