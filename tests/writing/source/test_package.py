"""package.yaml: each use case says all that it is made of; what is wrong is named by its place, all at once."""

from pathlib import Path

import pytest

import tiny
from packyard.core.errors import InputError
from packyard.writing.source import package as packages
from packyard.writing.source import workspace
from packyard.writing.source.package import Package

PACKAGE = tiny.text("parts/package.yaml")
FILES = {
    "packyard.yaml": "apiVersion: packyard/v1\nkind: Workspace\nname: tiny\nprefix: p\nlicense: LICENSE\n",
    "LICENSE": "Do what you like.\n",
    "packages/bert-k8s/package.yaml": PACKAGE,
    "packages/bert-k8s/patches/a.yaml": "kind: Job\n",
}
FOLDERS = (
    *("bases/job", "bases/look", "overlays/programs/zoo"),
    *("overlays/storage/claim", "overlays/storage/export"),
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
    tiny.write_all(tmp_path, FILES)
    return tmp_path


def read(tree: Path, change: str = "") -> Package:
    """Read the package, with a text of package.yaml replaced: ``OLD -> NEW``."""
    file = tree / "packages/bert-k8s/package.yaml"
    old, _, new = change.partition(" -> ")
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    return packages.read(workspace.read(tree), "bert-k8s")


def test_a_use_case_stands_at_its_name_and_storage(tree: Path) -> None:
    found = {item.path: item for item in read(tree).use_cases}
    assert sorted(found) == ["look/inside", "many/claim", "one/claim", "one/export"]
    assert found["one/export"].parts == ("bases/job", "overlays/programs/zoo", "overlays/storage/export")
    assert found["look/inside"].parts == ("bases/look",)
    assert [patch.target for patch in found["many/claim"].patches] == [None, {"kind": "Job"}]


def test_the_nearer_value_wins_and_names_come_by_themselves(tree: Path) -> None:
    found = {item.path: {name: value.text for name, value in item.setters.items()} for item in read(tree).use_cases}
    assert found["one/claim"] == {"RUN_NAME": "one", "MODEL_NAME": "bert", "WORKERS": "3", "STEPS": "1"}
    assert found["many/claim"] == {"RUN_NAME": "shards", "MODEL_NAME": "bert", "WORKERS": "8", "STEPS": "2"}
    assert found["look/inside"]["RUN_NAME"] == "inside"


#: A package's use cases with an order, as package.yaml has them; ``one`` and ``many`` share the storage ``claim``.
ORDERED = """
  look/inside: {base: look}
  one: {base: job, storage: [claim, export], after: [look/inside, many, fill]}
  many: {base: job, storage: [claim], after: [look/inside]}
  fill: {base: look, storage: [export]}
  see: {base: job, storage: [export], after: [fill]}
"""


def ordered(tree: Path, text: str) -> Package:
    (tree / "packages/bert-k8s/package.yaml").write_text(f"{PACKAGE.partition('useCases:')[0]}useCases:{text}")
    return read(tree)


def test_what_runs_before_a_use_case_has_its_storage_or_none_and_is_in_the_order_of_work(tree: Path) -> None:
    found = {item.path: item.after for item in ordered(tree, ORDERED).use_cases if item.after}
    assert found == {
        "one/claim": ("look/inside", "many/claim"),
        "one/export": ("look/inside", "fill/export"),
        "many/claim": ("look/inside",),
        "see/export": ("fill/export",),
    }


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            "after: [fill]} -> after: [fil]}",
            "11:47: useCases.see.after: there is no other use case 'fil' (did you mean 'fill'?)",
        ),
        (
            "inside: {base -> inside: {after: [look/inside], base",
            "7:25: useCases.look/inside.after: there is no other use case 'look/inside'",
        ),
    ],
)
def test_an_order_that_cannot_be_kept_is_refused_once(tree: Path, change: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        ordered(tree, ORDERED.replace(*change.split(" -> ")))
    found = [str(problem).removeprefix(f"{tree}/packages/bert-k8s/package.yaml:") for problem in caught.value.problems]
    assert found == [expected]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            "[claim, export] -> [clam, export]",
            "7:30: useCases.one.storage: no folder 'clam' in overlays/storage/ (did you mean 'claim'?)",
        ),
        ("[claim, export] -> [claim, claim]", "7:30: useCases.one.storage: names 'claim' twice (name it once)"),
        ("[zoo] -> [zo]", "7:57: useCases.one.programs: no folder 'zo' in "),
        ("{base: look} -> {base: lok}", "13:23: useCases.look/inside.base: no folder 'lok' in "),
        ("{base: look} -> {storage: [claim]}", "13:16: useCases.look/inside.base: is missing"),
        ("{base: look} -> {base: look, option: x}", "13:29: useCases.look/inside.option: is not a known key"),
        ("[patches/a.yaml, -> [patches/b.yaml,", "11:15: useCases.many.patches: no file 'patches/b.yaml'"),
        ("target: {kind: Job} -> target: {kin: Job}", "11:63: useCases.many.patches.target.kin: is not a known key"),
        ("look/inside -> options/x", "13:14: useCases.options/x: options is the folder of the options"),
        ("look/inside -> one/claim/x", "1:1: useCases: one/claim/x lies inside another use case"),
        (
            "look/inside -> Cron_Job",
            "13:13: useCases.Cron_Job: must be lower case words, joined by dashes and slashes (did you mean 'cron-",
        ),
        (
            "mode: training -> mode: @training",
            "3:93: found character that cannot start any token (put the value in quotes)",
        ),
        ("useCases: -> useCases:\n\t", "7:1: found character that cannot start any token (indent by spaces)"),
        (
            "useCases: -> useCases:\n one: {}",
            "8:3: did not find expected key (indent it as the lines that it belongs to)",
        ),
        ("useCases: -> model: {}\nuseCases:", "6:1: key 'model' occurs twice in one mapping (keep one of them)"),
        ("one process in each worker -> ''", "5:16: moved.SLOTS: is empty"),
        ("mode: training -> modes: training", "3:87: model.modes: is not a known key (did you mean 'mode'?)"),
        ("mode: training -> mode: ~", "3:93: model.mode: is empty"),
        ("useCases: -> useCase:", "6:1: useCase: is not a known key (did you mean 'useCases'?)"),
        (
            "useCases: -> rules: [{rule: A > 1, message: more}]\nuseCases:",
            "6:8: rules: does not stand here (rules stand in a Krmfile: in that of the package",
        ),
    ],
)
def test_a_fault_is_named_by_its_place(tree: Path, change: str, expected: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tree, change)
    found = [str(problem).removeprefix(f"{tree}/packages/bert-k8s/package.yaml:") for problem in raised.value.problems]
    assert any(problem.startswith(expected) for problem in found), found
    assert not any("''" in problem for problem in found), "a name that is missing is told once"
    assert len(found) == 1 or "useCase:" not in change, "and so is a key that is misspelled"


@pytest.mark.parametrize(
    ("required", "expected"),
    [
        ("{operator: O, definitions: [os]}", "requires.definitions: 'os' is not of the form of rayjobs.ray.io"),
        ("{operator: O}", "requires: does not say what the operator brings (definitions: [rayjobs.ray.io], or"),
        ("{operator: O, offers: [Resource p], link: http://o}", "requires.link: 'http://o' is not of the form of"),
        ("{secret: s}", "requires.keys: is missing (say what the Secret has to hold: keys: [token])"),
        ("{secret: s, keys: [k], oldest: '1'}", "requires.oldest: is not a known key"),
        ("{kubernetes: v1}", "requires.kubernetes: 'v1' is not of the form of 1.31"),
        ("{description: d}", "requires: needs one of operator, secret, kubernetes, and has none"),
    ],
)
def test_what_a_cluster_must_have_is_one_thing_in_its_form(tree: Path, required: str, expected: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tree, f"useCases: -> requires: [{required}]\nuseCases:")
    assert expected in str(raised.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("kind: Workspace -> kind: Package", "2:7: kind: must be Library or Workspace, not 'Package'"),
        ("prefix: p\n -> ", "1:1: prefix: is missing"),
        ("prefix: p -> prefix: ../p", "4:9: prefix: '../p' must be words joined by slashes"),
        ("license: LICENSE -> license: LICENCE", "5:10: license: no file 'LICENCE'"),
        ("name: tiny -> name: tiny\nmoved: {OLD: }", "4:14: moved.OLD: is empty"),
        ("name: tiny -> name: tiny\nchannel: https://me:secret@example.com", "is not the address of a channel"),
        ("kind: Workspace\nname: tiny -> kind: Library\nname: Tiny", "name: 'Tiny' must be lower case words"),
    ],
)
def test_a_fault_of_the_workspace_is_named_by_its_place(tree: Path, change: str, expected: str) -> None:
    tiny.replace(tree / "packyard.yaml", *change.split(" -> "))
    with pytest.raises(InputError) as raised:
        workspace.read(tree)
    assert expected in str(raised.value)
