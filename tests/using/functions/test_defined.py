"""apply-setters on what a Krmfile defines: one of the list, or of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import tiny
from packyard.core.errors import InputError
from packyard.using.functions import function
from packyard.using.functions.function import FunctionOutput
from packyard.using.setters.change import change_setters
from using.functions.resourcelists import resource_list

KRMFILE = """\
# The parameters.
apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.WORKERS:
      type: integer
      minimum: 1
      x-k8s-cli: {setter: {name: WORKERS, value: "2"}}
    io.k8s.cli.setters.ARGS:
      type: array
      x-k8s-cli: {setter: {name: ARGS, listValues: ["a"]}}
    io.k8s.cli.setters.TAG: # of the image
      x-k8s-cli:
        setter:
          name: TAG
          value: "1.7"
          required: true
    io.k8s.cli.substitutions.IMAGE:
      x-k8s-cli:
        substitution:
          name: IMAGE
          pattern: nginx:${TAG}
          values: [{marker: "${TAG}", ref: '#/definitions/io.k8s.cli.setters.TAG'}]
rules:
- rule: WORKERS <= 8 || TAG == "big"
  message: more than 8 workers need the tag big
"""
OBJECTS = """\
# What runs.
apiVersion: example.com/v1
kind: Thing
metadata:
  name: x
spec:
  replicas: 2 # {"$openapi":"WORKERS"}
  image: nginx:1.7 # {"$openapi":"IMAGE"}
  args: # {"$openapi":"ARGS"}
  - a
  other: kept # a note
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: c
data:
  TAG: "1.7" # {"$openapi":"TAG"}
  app: web # kpt-set: ${app}
"""
FILES = {"Krmfile": KRMFILE, "sub/r.yaml": OBJECTS}


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        tiny.write(folder / path, text)
    return folder


def config(**values: str) -> str:
    return "data:\n" + "".join(f"  {name}: {value}\n" for name, value in values.items())


def apply(folder: Path | None = None, files: dict[str, str] = FILES, **values: str) -> FunctionOutput:
    return function.run("apply-setters", resource_list(files, config(**values)), folder)


def messages(outcome: FunctionOutput) -> list[str]:
    return [result.message for result in outcome.results]


def as_files(outcome: FunctionOutput) -> dict[str, str]:
    """Return the documents of the list as texts by their files, without what an orchestrator writes to each."""
    found: dict[str, list[str]] = {}
    for part in outcome.output.decode().partition("\nfunctionConfig")[0].split("\n- ")[1:]:
        lines = [line.removeprefix("  ") for line in part.rstrip("\n").split("\n")]
        path = next(line.split(": ")[1].strip("'") for line in lines if "config.kubernetes.io/path" in line)
        own = [line for line in lines if "config.kubernetes.io/" not in line and "  annotations:" not in line]
        found.setdefault(path, []).append("\n".join(own) + "\n")
    return {path: "---\n".join(texts) for path, texts in found.items()}


VALUES = [
    {"WORKERS": "4"},
    {"WORKERS": "'4'", "TAG": "'1.10'"},
    {"ARGS": "'[b, \"c d\"]'"},
    {"ARGS": "[b, c d]"},
    {"ARGS": "b"},
    {"ARGS": "''"},
    {"TAG": "big", "WORKERS": "9"},
]
SET = [
    {"WORKERS": ["4"]},
    {"WORKERS": ["4"], "TAG": ["1.10"]},
    *[{"ARGS": ["b", "c d"]}] * 2,
    {"ARGS": ["b"]},
    {"ARGS": []},
    {"TAG": ["big"], "WORKERS": ["9"]},
]


@pytest.mark.parametrize(("values", "as_set"), [*zip(VALUES, SET, strict=True)], ids=map(str, VALUES))
def test_the_list_has_the_bytes_that_set_leaves(
    values: dict[str, str], as_set: dict[str, list[str]], tmp_path: Path
) -> None:
    write(tmp_path, FILES)
    outcome = apply(tmp_path, {"sub/r.yaml": OBJECTS}, **values)
    assert not outcome.failed, messages(outcome)
    change_setters(tmp_path, as_set)
    found = as_files(outcome)
    assert found["sub/r.yaml"] == (tmp_path / "sub/r.yaml").read_text()
    assert found["Krmfile"] == (tmp_path / "Krmfile").read_text() + "metadata:\n  name: krmfile\n"


def test_a_krmfile_in_the_list_is_recorded_in_there(tmp_path: Path) -> None:
    named = KRMFILE.replace("openAPI:", "metadata:\n  name: own\nopenAPI:", 1)
    listed = resource_list({"sub/Krmfile.yaml": named, "sub/r.yaml": OBJECTS}, config(WORKERS="4"))
    outcome = function.run("apply-setters", listed)
    assert not outcome.failed, messages(outcome)
    write(tmp_path, {"Krmfile": named, "r.yaml": OBJECTS})
    change_setters(tmp_path, {"WORKERS": ["4"]})
    found = as_files(outcome)
    assert found["sub/Krmfile.yaml"] == (tmp_path / "Krmfile").read_text()
    assert found["sub/r.yaml"] == (tmp_path / "r.yaml").read_text()


def test_the_results_name_object_field_and_file(tmp_path: Path) -> None:
    outcome = apply(write(tmp_path, FILES), {"sub/r.yaml": OBJECTS}, TAG="2")
    documents = [result.document() for result in outcome.results]
    assert documents == [
        {
            "message": 'set field value to "nginx:2"',
            "severity": "info",
            "resourceRef": {"apiVersion": "example.com/v1", "kind": "Thing", "name": "x"},
            "field": {"path": "spec.image", "currentValue": "nginx:1.7", "proposedValue": "nginx:2"},
            "file": {"path": "sub/r.yaml", "index": 0},
        },
        {
            "message": 'set field value to "2"',
            "severity": "info",
            "resourceRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "c"},
            "field": {"path": "data.TAG", "currentValue": "1.7", "proposedValue": "2"},
            "file": {"path": "sub/r.yaml", "index": 1},
        },
        {"message": 'TAG is "2" in 2 fields', "severity": "info", "file": {"path": "Krmfile", "index": 0}},
    ]


def test_a_comment_behind_the_header_of_a_block_scalar_is_refused_as_set_refuses_it(tmp_path: Path) -> None:
    """One of kpt's binds the block, as in kpt's function."""
    behind = OBJECTS.replace("  other: kept", '  text: |- # {"$openapi":"IMAGE"}\n    nginx:1.7\n  other: kept')
    write(tmp_path, {**FILES, "sub/r.yaml": behind})
    refused = apply(tmp_path, {"sub/r.yaml": behind}, TAG="2")
    with pytest.raises(InputError) as caught:
        change_setters(tmp_path, {"TAG": ["2"]})
    (problem,) = caught.value.problems
    assert refused.failed
    assert messages(refused) == [f"{problem.message} ({problem.hint})"]
    assert as_files(refused) == {"sub/r.yaml": behind}
    assert not apply(tmp_path, {"sub/r.yaml": behind}, WORKERS="4").failed
    kept = OBJECTS.replace("  app: web #", "  app: |- #").replace("${app}\n", "${app}\n    web\n")
    found = as_files(apply(tmp_path, {"sub/r.yaml": kept}, app="shop"))["sub/r.yaml"]
    assert found == kept.replace("    web\n", "    shop\n")


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"WORKERS": "'0'"}, ["WORKERS takes a whole number of at least 1, not '0'"]),
        ({"WORKERS": "9"}, ["more than 8 workers need the tag big"]),
        ({"WORKER": "3"}, ["setter \"WORKER\" is not found (did you mean 'WORKERS'?)"]),
        ({"WORKERS": "3", "ap": "x"}, ['setter "ap" is not found']),
        ({"x": "1", "y": "2"}, ['setter "x" is not found', 'setter "y" is not found']),
    ],
)
def test_what_set_refuses_is_refused_and_nothing_is_set(
    values: dict[str, str], says: list[str], tmp_path: Path
) -> None:
    outcome = apply(write(tmp_path, FILES), {"sub/r.yaml": OBJECTS}, **values)
    assert outcome.failed
    assert all(result.severity == "error" for result in outcome.results)
    assert len(outcome.results) == len(says)
    assert all(said in message for said, message in zip(says, messages(outcome), strict=True)), messages(outcome)
    assert as_files(outcome) == {"sub/r.yaml": OBJECTS}


def test_a_setter_that_has_fields_in_objects_that_are_not_in_the_list_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "other.yaml": OBJECTS.replace("name: x", "name: y")})
    outcome = apply(tmp_path, {"sub/r.yaml": OBJECTS}, WORKERS="4")
    assert outcome.failed
    assert messages(outcome)[0].startswith("WORKERS also sets 1 field of objects that are not in the list (")


def test_comments_without_a_krmfile_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    listed = {"sub/r.yaml": OBJECTS}
    for folder, files, says in (
        (None, {}, "the comments of these objects refer to a Krmfile, and "),
        ("other", {"Krmfile": KRMFILE}, "other has no file sub/r.yaml"),
        ("none", listed, "none has none"),
    ):
        outcome = apply(folder and write(tmp_path / folder, files), listed, WORKERS="4")
        assert outcome.failed
        assert says in messages(outcome)[0]
    monkeypatch.chdir(write(tmp_path / "one", FILES))
    assert not apply(None, listed, WORKERS="4").failed


def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "inner/x.yaml": "a: b\n"})
    outcome = apply(tmp_path / "inner", {"../sub/r.yaml": OBJECTS}, WORKERS="4")
    assert outcome.failed
    assert "leads out" in messages(outcome)[0]


def test_each_package_below_the_folder_has_its_own_krmfile(tmp_path: Path) -> None:
    other = OBJECTS.replace("name: x", "name: y")
    write(tmp_path / "a", FILES)
    write(tmp_path / "b", {"Krmfile": KRMFILE, "r.yaml": other})
    outcome = apply(tmp_path, {"a/sub/r.yaml": OBJECTS, "b/r.yaml": other}, WORKERS="4")
    assert not outcome.failed, messages(outcome)
    change_setters(tmp_path, {"WORKERS": ["4"]}, recursive=True)
    found = as_files(outcome)
    assert found["b/r.yaml"] == (tmp_path / "b/r.yaml").read_text()
    assert found["a/Krmfile"].startswith((tmp_path / "a/Krmfile").read_text())
    assert len(found) == 4


def test_a_krmfile_of_any_form_can_be_put_into_the_list(tmp_path: Path) -> None:
    for krmfile in (
        "---\n" + KRMFILE,
        "\ufeff" + KRMFILE,
        KRMFILE.replace("\n", "\r\n"),
        KRMFILE + "# end\n",
        KRMFILE.rstrip("\n"),
        KRMFILE.replace("message: more than", "message: |-\n    more\n\n    than"),
        KRMFILE + "metadata: {labels: {a: b}}\n",
        KRMFILE + "metadata:\n  name: x\n  annotations:\n    a: b\n",
    ):
        (tmp_path / "sub").mkdir(exist_ok=True)
        (tmp_path / "Krmfile").write_bytes(krmfile.encode())
        (tmp_path / "sub/r.yaml").write_text(OBJECTS)
        outcome = apply(tmp_path, {"sub/r.yaml": OBJECTS}, WORKERS="4")
        assert not outcome.failed, messages(outcome)
        items = yaml.safe_load(outcome.output)["items"]
        assert [item["kind"] for item in items] == ["Krmfile", "Thing", "ConfigMap"]
        setter = items[0]["openAPI"]["definitions"]["io.k8s.cli.setters.WORKERS"]["x-k8s-cli"]["setter"]
        assert setter == {"name": "WORKERS", "value": "4", "isSet": True}
        assert items[0]["metadata"]["annotations"]["internal.config.kubernetes.io/path"] == "Krmfile"
