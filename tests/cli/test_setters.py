"""`packyard setters --set --output yaml` prints the user's values, in the format that `set --values` reads."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import reading
from packyard.core.bundle.manifest import Manifest, ShippedUseCase
from packyard.core.digest import Digest
from packyard.core.errors import PackyardError
from packyard.using.setters import valuesfile
from sample import tries
from tiny import COMMAND, done, environment, packyard, refused, write

DEFINITION = """\
    io.k8s.cli.setters.{name}:
      x-k8s-cli: {{setter: {{name: {name}, value: ""}}}}
"""
LIST = """\
    io.k8s.cli.setters.LIST:
      type: array
      x-k8s-cli: {setter: {name: LIST, listValues: [x]}}
"""
HEAD = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"
ODD = {
    "A": "1.10",
    "B": "null",
    "D": " blank ends ",
    "E": "line\nbreak\n",
    "F": "quotes \" and ' and \\",
    "I": "\x1b\x9b\u2028\u202e\ufeff",
    "J": "Größe 数 👍",
    "P": "",
}
FIELDS = "".join(f'{name.lower()}: "" # {{"$openapi":"{name}"}}\n' for name in ODD)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "pkg"
    definitions = "".join(DEFINITION.format(name=name) for name in ODD)
    write(root / "Krmfile", HEAD + definitions + LIST)
    (root / "x.yaml").write_text(FIELDS + 'list: # {"$openapi":"LIST"}\n- x\n')
    return root


def values(package: Path) -> str:
    return done("setters", package, "--set", "-o", "yaml")


def test_what_was_set_can_be_set_elsewhere(package: Path) -> None:
    before = reading.files(package)
    assert values(package) == "{}\n"
    done("set", package, *(f"{name}={text}" for name, text in ODD.items()), "LIST=a b", "LIST=1", "LIST=null")
    given = values(package)
    assert yaml.safe_load(given) == {**ODD, "LIST": ["a b", "1", "null"]}
    after = reading.files(package)
    for name, data in before.items():
        (package / name).write_bytes(data)
    command = [*COMMAND, "set", str(package), "--values", "-"]
    subprocess.run(command, input=given.encode(), env=environment(), check=True, capture_output=True)
    assert reading.files(package) == after


def test_one_name_with_two_values_is_refused(package: Path) -> None:
    other = package.parent / "other"
    write(other / "Krmfile", HEAD + DEFINITION.format(name="A"))
    (other / "x.yaml").write_text('a: "" # {"$openapi":"A"}\n')
    done("set", package.parent, "A=1", "-R")
    assert values(package.parent) == 'A: "1"\n'
    done("set", other, "A=2")
    assert "A is '1', and '2' at" in refused("setters", package.parent, "--set", "-o", "yaml")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
GIVEN = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), TEXTS | st.lists(TEXTS)
)


@settings(max_examples=tries(200))
@given(GIVEN)
def test_a_values_file_reads_as_what_was_written(values: dict[str, str | list[str]]) -> None:
    text = valuesfile.write(values)
    expected = {name: [given] if isinstance(given, str) else given or [""] for name, given in values.items()}
    try:
        parsed = valuesfile.parse(text.encode(), "values")
    except PackyardError as error:
        raise AssertionError(f"{error}: {text!r}") from error
    assert {name: [*item] or [""] for name, item in parsed.by_name.items()} == expected
    assert yaml.safe_load(text) == values


def test_says_what_each_use_case_is_for(package: Path) -> None:
    case = ShippedUseCase(setters={}, description="Holds settings.")
    described = Manifest(
        name="p", version="1", model={}, use_cases={"pkg": case}, files={"pkg/x.yaml": Digest.of(b"")}
    ).to_bytes()
    (package.parent / "packyard.json").write_bytes(described)
    assert done("setters", package).startswith("Holds settings.\nNAME")
    assert "Holds" not in done("setters", package, "--set")
    required = DEFINITION.format(name="A").replace('""', '"", required: true')
    write(package.parent / "other/Krmfile", HEAD + required)
    lines = [line.split() for line in done("setters", package.parent).splitlines()]
    assert lines == [["USE", "CASE", "TO", "BE", "SET"], ["pkg"], ["other", "A"]]
    named = f"{package.parent}/pkg"  # which is not all that is here, whatever packyard.json says
    assert packyard("setters", package.parent, "--set").stderr == f"packyard setters {named} lists those of one\n"
    assert f"(name one: packyard render {named})" in refused("render", package.parent)
    (row,) = json.loads(done("setters", package, "-o", "json"))
    assert row["description"] == "Holds settings."
    (package.parent / "packyard.json").write_text("{")
    assert done("setters", package).startswith("NAME")
