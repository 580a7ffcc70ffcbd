"""What a name in a setter comment means in a use case, the Krmfile that says so, and what a use case is for."""

from pathlib import Path

import pytest
import yaml

import tiny
from packyard.core.errors import InputError
from packyard.writing.source.compose import Composed
from writing.source import libraries
from writing.source.libraries import COMPONENT, KRMFILE
from writing.source.libraries import define as setter

PACKAGE = "packages/p/package.yaml"
OBJECT = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: run
data:
  a: "1" # {"$openapi":"A"}
  path: /storage # {"$openapi":"PATH"}
  both: x # {"$openapi":"BOTH"}
"""


def substitution(name: str, pattern: str) -> str:
    return (
        f"    io.k8s.cli.substitutions.{name}:\n"
        f'      x-k8s-cli: {{substitution: {{name: {name}, pattern: "{pattern}"}}}}\n'
    )


ROOT_WORDS = (
    setter("A", "1", section="# How much.")
    + setter("B", "b", section="# Where.")
    + substitution("BOTH", "${A}-${B}")
    + substitution("PATH", "/data/${B}")
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tiny.workspace(tmp_path / "ws")
    tiny.write(root / "bases/one/cm.yaml", OBJECT)
    define(root, ".", ROOT_WORDS)
    tiny.write(root / "overlays/storage/s/kustomization.yaml", COMPONENT)
    tiny.write(root / "overlays/programs/q/kustomization.yaml", COMPONENT)
    tiny.replace(root / PACKAGE, "one: {base: one}", "one: {base: one, storage: [s], programs: [q]}")
    return root


def define(root: Path, folder: str, text: str) -> None:
    tiny.write(root / folder / "Krmfile", KRMFILE + text)


def give(root: Path, *values: str) -> None:
    tiny.replace(root / PACKAGE, "useCases:", f"setters: {{{', '.join(values)}}}\nuseCases:")


def composed(root: Path) -> Composed:
    return libraries.composed(root).use_cases[0]


def data(root: Path) -> dict[str, str]:
    found = yaml.safe_load(composed(root).files["config-map.yaml"])["data"]
    assert isinstance(found, dict)
    return found


def krmfile(root: Path) -> str:
    return composed(root).files["Krmfile"].decode()


def refused(root: Path) -> list[str]:
    with pytest.raises(InputError) as raised:
        composed(root)
    return [str(problem).removeprefix(f"{root}/") for problem in raised.value.problems]


def test_an_outer_part_goes_before_an_inner_one(root: Path) -> None:
    """catalogue < base < overlays < package < package.yaml"""
    assert data(root)["a"] == "1"
    for value, folder in enumerate(("bases/one", "overlays/storage/s", "packages/p"), start=2):
        define(root, folder, setter("A", str(value)))
        assert data(root)["a"] == str(value)
    give(root, 'A: "9"')
    assert data(root) == {"a": "9", "path": "/data/b", "both": "9-b"}


def test_two_overlays_that_define_one_name_differently_are_refused(root: Path) -> None:
    define(root, "overlays/storage/s", setter("A", "2"))
    define(root, "overlays/programs/q", setter("A", "2"))
    assert data(root)["a"] == "2"
    define(root, "overlays/programs/q", setter("A", "3"))
    (problem,) = refused(root)
    assert problem.startswith("overlays/storage/s/Krmfile:5:5: A: has another definition in ")
    assert problem.endswith("overlays/programs/q/Krmfile:5")


def test_a_constant_folds_into_the_patterns_of_others(root: Path) -> None:
    define(root, "overlays/storage/s", substitution("B", "nfs"))
    assert "          pattern: ${A}-nfs\n" in krmfile(root)
    assert "setters.B:" not in krmfile(root)
    assert data(root) == {"a": "1", "path": "/data/nfs", "both": "1-nfs"}


def test_a_text_that_repeats_a_number_stays_a_text(root: Path) -> None:
    define(root, ".", setter("A", "1", "type: integer") + setter("B", "b") + substitution("BOTH", "${A}")
           + substitution("PATH", "${B}"))  # fmt: skip
    tiny.replace(root / "bases/one/cm.yaml", "both: x", 'both: "1"')
    file = composed(root).files["config-map.yaml"].decode()
    assert '  both: "1" # {"$openapi":"BOTH"}\n' in file
    assert '  path: b # {"$openapi":"B"}\n' in file


def test_what_is_required_and_given_is_not_required(root: Path) -> None:
    asked = setter("A", "", "type: integer", "nullable: true", "example: 4", section="# How much.", required=True)
    define(root, ".", ROOT_WORDS.replace(setter("A", "1", section="# How much."), asked))
    assert data(root)["a"] == ""
    assert "example: 4" in krmfile(root)
    give(root, 'A: "3"')
    setting = krmfile(root).partition("io.k8s.cli.setters.B")[0]
    assert 'x-k8s-cli: {setter: {name: A, value: "3"}}\n' in setting
    assert not any(word in setting for word in ("required", "example", "nullable"))


def test_sections_are_in_the_order_of_the_catalogue_those_with_something_required_first(root: Path) -> None:
    define(root, "packages/p", setter("C", "", "example: c", section="# Required: what nobody knows.", required=True)
           + setter("D", "4", section="# How much."))  # fmt: skip
    tiny.replace(
        root / "bases/one/cm.yaml", '  a: "1"', '  c: "" # {"$openapi":"C"}\n  d: x # {"$openapi":"D"}\n  a: "1"'
    )
    lines = krmfile(root).splitlines()
    shown = [line.strip().removeprefix("io.k8s.cli.") for line in lines if "#" in line[:5] or line[4:8] == "io.k"]
    assert shown == [
        *("# Required: what nobody knows.", "setters.C:", "# How much.", "setters.A:", "setters.D:"),
        *("# Where.", "setters.B:", "# What follows from them. Nothing to set from here on."),
        *("substitutions.BOTH:", "substitutions.PATH:"),
    ]


WRITTEN_OUT = substitution("PATH", "x").replace('"x"', '"x", values: [{marker: a, ref: b}]')
FAULTS = {
    "a comment with an unknown name": (
        lambda root: tiny.replace(root / "bases/one/cm.yaml", '"A"', '"AA"'),
        "bases/one/cm.yaml:6:6: AA: no Krmfile defines it (did you mean 'A'?)",
    ),
    "a comment with a name like no other": (
        lambda root: tiny.replace(root / "bases/one/cm.yaml", '"A"', '"SCHEDULE"'),
        "bases/one/cm.yaml:6:6: SCHEDULE: no Krmfile defines it (define it in a Krmfile beside this file",
    ),
    "a use case without the storage that its parts need": (
        lambda root: [
            define(root, "bases/one", substitution("PATH", "/${STORAGE_DIR}")),
            define(root, "overlays/storage/s", substitution("STORAGE_DIR", "s")),
            tiny.replace(root / PACKAGE, "storage: [s], ", ""),
        ],
        f"{PACKAGE}:4: useCases.one: has no storage, which would define STORAGE_DIR (give it storage: [s])",
    ),
    "a pattern with an unknown name": (
        lambda root: define(root, "overlays/storage/s", substitution("PATH", "/${BB}")),
        "overlays/storage/s/Krmfile:6:55: PATH: its pattern names BB, which no Krmfile defines (did you mean 'B'?)",
    ),
    "a circle": (
        lambda root: define(root, "packages/p", substitution("BOTH", "x${PATH}") + substitution("PATH", "${BOTH}/y")),
        ": refers to itself: ",
    ),
    "a value that the definition refuses": (
        lambda root: [define(root, "packages/p", setter("A", "1", "type: integer")), give(root, "A: many")],
        "packages/p/package.yaml:3: setters.A: ",
    ),
    "a value that reaches nothing": (
        lambda root: give(root, "AA: many"),
        "package.yaml:3: setters.AA: no field of its use cases has this setter (did you mean 'A'?)",
    ),
    "a substitution that writes its values out": (
        lambda root: define(root, "packages/p", WRITTEN_OUT),
        "packages/p/Krmfile:5:5: PATH has `values` of its own, which its pattern gives (leave `values` out",
    ),
    "a name of two kinds": (
        lambda root: define(root, "packages/p", setter("A", "1") + substitution("A", "x")),
        "packages/p/Krmfile:7:5: A is both a setter and a substitution",
    ),
    "a constant for a list": (
        lambda root: [
            define(root, "packages/p", substitution("A", "x")),
            tiny.replace(root / "bases/one/cm.yaml", 'a: "1" # {"$openapi":"A"}', 'a: # {"$openapi":"A"}\n  - b'),
        ],
        "bases/one/cm.yaml:7:3: A is a constant, which a list cannot be bound to",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FAULTS)
def test_what_nobody_can_mean_is_refused_by_its_place(what: str, root: Path) -> None:
    do, expected = FAULTS[what]
    do(root)
    assert any(expected in problem for problem in refused(root)), refused(root)


def test_a_number_stays_a_number_where_a_constant_takes_its_place(root: Path) -> None:
    tiny.write(root / "bases/one/cm.yaml", OBJECT + 'immutable: true # {"$openapi":"FLAG"}\nn: 1 # {"$openapi":"N"}\n')
    define(root, "packages/p", substitution("FLAG", "false") + substitution("N", "2") + substitution("PATH", "0644"))
    found = yaml.safe_load(composed(root).files["config-map.yaml"])
    assert (found["immutable"], found["n"], found["data"]["path"]) == (False, 2, "0644")


USES = """
  train: {base: one, storage: [claim, export]}
  prepare: {base: one, description: Copies the data.}
  see: {base: one, storage: [claim]}
"""


def test_a_use_case_says_what_it_is_for_and_the_storage_tells_several_apart(tmp_path: Path) -> None:
    root = tiny.workspace(tmp_path)
    tiny.write(
        root / "bases/one/kustomization.yaml", "# Trains a model. What else there is to say.\nresources: [cm.yaml]\n"
    )
    tiny.write(root / "overlays/storage/claim/kustomization.yaml", f"# Data is on a claim. It exists.\n{COMPONENT}")
    tiny.write(root / "overlays/storage/export/kustomization.yaml", f"# Data is on an export\n{COMPONENT}")
    tiny.replace(root / "packages/p/package.yaml", "\n  one: {base: one}\n", USES)
    assert {case.use_case.path: case.description for case in libraries.composed(root).use_cases} == {
        "train/claim": "Trains a model. Data is on a claim.",
        "train/export": "Trains a model. Data is on an export.",
        "prepare": "Copies the data.",
        "see/claim": "Trains a model.",
    }
