"""A test for each row of a table in docs/from-kustomize-cfg.md, "Setting and listing": each runs both."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from running import inside
from served import Served

HEADER = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"


def setter(name: str, value: str, extra: str = "") -> str:
    return (
        f"    io.k8s.cli.setters.{name}:\n{extra}      x-k8s-cli:\n        setter:\n"
        f'          name: {name}\n          value: "{value}"\n'
    )


def substitution(name: str, pattern: str, **refs: str) -> str:
    values = "".join(
        f"          - marker: ${{{marker}}}\n            ref: '#/definitions/io.k8s.cli.{kind}.{marker}'\n"
        for marker, kind in refs.items()
    )
    return (
        f"    io.k8s.cli.substitutions.{name}:\n      x-k8s-cli:\n        substitution:\n"
        f"          name: {name}\n          pattern: {pattern}\n          values:\n{values}"
    )


@dataclass(frozen=True)
class Side:
    """One program, in a folder of its own."""

    program: Callable[..., subprocess.CompletedProcess[str]]
    folder: Path

    def set(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.program("cfg", "set", *words, cwd=self.folder)

    def list(self) -> str:
        done = self.program("cfg", "list-setters", ".", cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()


@dataclass(frozen=True)
class Both:
    """The same files in front of both programs."""

    theirs: Side
    ours: Side

    def write(self, path: str, text: str) -> None:
        for side in (self.theirs, self.ours):
            file = side.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())


@pytest.fixture
def both(served3: Served, tmp_path: Path) -> Both:
    sides = []
    for name, program in (("theirs", served3), ("ours", inside)):
        (tmp_path / name).mkdir()
        sides.append(Side(program, tmp_path / name))
    return Both(*sides)


def test_a_file_keeps_its_bytes_where_3_8_7_writes_it_anew(both: Both) -> None:
    text = '# Licence.\r\n---\r\na:   1  # two blanks\r\n\r\n\r\nb: old # {"$openapi":"V"}\r\n--- # second\r\nc: 1\r\n'
    both.write("Krmfile", HEADER + setter("V", "old"))
    both.write("r.yaml", text)
    assert both.theirs.set(".", "V", "new").returncode == 0
    assert both.ours.set(".", "V", "new").returncode == 0
    assert both.ours.read("r.yaml") == text.replace("b: old", "b: new").encode()
    assert b"\r\n" not in both.theirs.read("r.yaml")
    assert b"c: 1" not in both.theirs.read("r.yaml")


def test_quoted_text_stays_text_under_an_integer_setter_where_3_8_7_makes_it_a_number(both: Both) -> None:
    both.write("Krmfile", HEADER + setter("V", "0", "      type: integer\n"))
    both.write("r.yaml", 'apiVersion: v1\nkind: ConfigMap\ndata:\n  ID: "0" # {"$openapi":"V"}\n')
    both.theirs.set(".", "V", "1000")
    both.ours.set(".", "V", "1000")
    assert b"ID: 1000 #" in both.theirs.read("r.yaml")
    assert b'ID: "1000" #' in both.ours.read("r.yaml")


def test_text_over_a_number_gets_no_wrong_tag(both: Both) -> None:
    both.write("Krmfile", HEADER + setter("V", "3"))
    both.write("r.yaml", 'x: 3 # {"$openapi":"V"}\n')
    both.theirs.set(".", "V", "abc")
    both.ours.set(".", "V", "abc")
    assert both.theirs.read("r.yaml").startswith(b"x: !!int abc #")
    assert both.ours.read("r.yaml").startswith(b"x: abc #")


def test_text_that_other_readers_take_for_something_else_is_quoted(both: Both) -> None:
    both.write("Krmfile", HEADER + setter("V", "old"))
    both.write("r.yaml", 'x: old # {"$openapi":"V"}\n')
    both.theirs.set(".", "V", "yes")
    both.ours.set(".", "V", "yes")
    assert both.theirs.read("r.yaml").startswith(b"x: yes #")
    assert both.ours.read("r.yaml").startswith(b"x: 'yes' #")
    both.ours.set(".", "V", "old")
    assert both.ours.read("r.yaml").startswith(b"x: old #")


@pytest.mark.parametrize("value", ["a: b", "*x", "%x", "foo:"])
def test_values_are_not_pasted_into_yaml_to_check_them(both: Both, value: str) -> None:
    both.write("Krmfile", HEADER + setter("V", "old"))
    both.write("r.yaml", 'x: old # {"$openapi":"V"}\n')
    assert both.theirs.set(".", "V", value).returncode == 1
    assert both.ours.set(".", "V", value).returncode == 0
    assert both.ours.read("r.yaml").startswith(f"x: '{value}' #".encode())


def test_one_package_that_refuses_a_value_keeps_the_others_from_changing(both: Both) -> None:
    both.write("a/Krmfile", HEADER + setter("V", "old"))
    both.write("b/Krmfile", HEADER + setter("V", "1", "      type: integer\n"))
    for folder in ("a", "b"):
        both.write(f"{folder}/r.yaml", 'x: 1 # {"$openapi":"V"}\n')
    before = both.ours.read("a/r.yaml")
    assert both.theirs.set(".", "V", "abc", "-R").returncode == 0
    assert both.theirs.read("a/r.yaml") != before
    done = both.ours.set(".", "V", "abc", "-R")
    assert done.returncode == 1
    assert "b/Krmfile:5: V in body must be of type integer" in done.stderr
    assert both.ours.read("a/r.yaml") == before


def test_a_value_is_checked_even_if_no_field_has_it(both: Both) -> None:
    both.write("Krmfile", HEADER + setter("V", "1", "      type: integer\n"))
    both.write("r.yaml", "x: 1\n")
    before = both.ours.read("Krmfile")
    assert both.theirs.set(".", "V", "abc").returncode == 0
    assert both.ours.set(".", "V", "abc").returncode == 1
    assert both.theirs.read("Krmfile") != before
    assert both.ours.read("Krmfile") == before


def test_files_without_setters_may_be_anything(both: Both) -> None:
    both.write("Krmfile", HEADER + setter("V", "old"))
    both.write("r.yaml", 'x: old # {"$openapi":"V"}\n')
    both.write("charts/t.yaml", "{{- if .Values.on }}\nx: {{ .Values.x }}\n{{- end }}\n")
    both.write("list.yaml", "- a\n- b\n")
    assert both.theirs.set(".", "V", "new").returncode == 1
    assert both.ours.set(".", "V", "new").returncode == 0
    assert both.ours.read("r.yaml").startswith(b"x: new #")


def test_a_shared_substitution_is_no_cycle(both: Both) -> None:
    inner = substitution("D", "${V}!", V="setters")
    outer = substitution("B", "${D}b", D="substitutions") + substitution("C", "${D}c", D="substitutions")
    top = substitution("A", "${B}${C}", B="substitutions", C="substitutions")
    both.write("Krmfile", HEADER + setter("V", "o") + inner + outer + top)
    both.write("r.yaml", 'x: o!bo!c # {"$openapi":"A"}\n')
    done = both.theirs.set(".", "V", "n")
    assert done.returncode == 1
    assert "cyclic substitution detected" in done.stderr
    assert both.ours.set(".", "V", "n").returncode == 0
    assert both.ours.read("r.yaml").startswith(b"x: n!bn!c #")


def test_a_list_that_an_alias_repeats_is_refused(both: Both) -> None:
    text = 'l: &x # {"$openapi":"V"}\n- a\nm: *x\n'
    both.write("Krmfile", HEADER + setter("V", "", "      type: array\n").replace('value: ""', "listValues: [a]"))
    both.write("r.yaml", text)
    assert both.theirs.set(".", "V", "new").returncode == 0
    assert both.ours.set(".", "V", "new").returncode == 1
    assert both.ours.read("r.yaml") == text.encode()


def test_an_item_that_stays_in_a_list_keeps_its_comments(both: Both) -> None:
    listed = setter("V", "", "      type: array\n").replace('value: ""', "listValues: [a, b]")
    both.write("Krmfile", HEADER + listed)
    both.write("r.yaml", 'l: # {"$openapi":"V"}\n- a # first\n- b # second\n')
    both.theirs.set(".", "V", "a", "c")
    both.ours.set(".", "V", "a", "c")
    assert both.theirs.read("r.yaml") == b'l: # {"$openapi":"V"}\n- "a"\n- "c"\n'
    assert both.ours.read("r.yaml") == b'l: # {"$openapi":"V"}\n- a # first\n- "c"\n'


def test_null_is_no_value_and_no_value_is_not_set(both: Both) -> None:
    required = setter("V", "", "      type: integer\n      nullable: true\n") + "          required: true\n"
    both.write("Krmfile", HEADER + required)
    both.write("r.yaml", 'x: "" # {"$openapi":"V"}\n')
    assert both.ours.set(".", "V", "null").returncode == 1
    assert both.ours.set(".", "V", "").returncode == 0
    assert both.theirs.set(".", "V", "").returncode == 0
    assert b"isSet" in both.theirs.read("Krmfile")
    assert b"isSet" not in both.ours.read("Krmfile")
    assert both.theirs.set(".", "V", "null").returncode == 0


@pytest.mark.parametrize(
    ("keywords", "value", "theirs", "ours"),
    [
        ("type: number\n      maximum: 3", ".nan", 0, 1),
        ("type: integer", "866655683.23", 0, 1),
        ("type: number\n      multipleOf: 0.1", "3", 2, 0),
    ],
)
def test_numbers_are_compared_as_decimals(both: Both, keywords: str, value: str, theirs: int, ours: int) -> None:
    both.write("Krmfile", HEADER + setter("V", "1", f"      {keywords}\n"))
    both.write("r.yaml", 'x: 1 # {"$openapi":"V"}\n')
    assert both.theirs.set(".", "V", value).returncode == theirs
    assert both.ours.set(".", "V", value).returncode == ours


def test_patterns_and_substitutions_have_bounds(both: Both) -> None:
    names = [f"S{number}" for number in range(102)]
    chain = substitution("S0", "${V}", V="setters")
    for one, other in pairwise(names):
        chain += substitution(other, f"${{{one}}}", **{one: "substitutions"})
    both.write("Krmfile", HEADER + setter("V", "o") + chain)
    both.write("r.yaml", 'x: o # {"$openapi":"S101"}\n')
    assert both.theirs.set(".", "V", "n").returncode == 0
    assert "holds more than 99 others" in both.ours.set(".", "V", "n").stderr
    both.write("Krmfile", HEADER + setter("V", "o", f"      pattern: {'a?' * 3000}\n"))
    both.write("r.yaml", 'x: o # {"$openapi":"V"}\n')
    assert both.theirs.set(".", "V", "n").returncode == 0
    assert "expression too large" in both.ours.set(".", "V", "n").stderr


def test_comments_of_kpt_0_x_are_setters_too(both: Both) -> None:
    both.write("Krmfile", HEADER + setter("V", "old"))
    both.write("r.yaml", 'x: old # {"$kpt-set":"V"}\n')
    assert both.theirs.set(".", "V", "new").stdout.splitlines()[-1].startswith("set 0 field(s)")
    assert both.ours.set(".", "V", "new").returncode == 0
    assert both.ours.read("r.yaml").startswith(b"x: new #")


def test_an_empty_list_is_set(both: Both) -> None:
    definition = "    io.k8s.cli.setters.V:\n      type: array\n      x-k8s-cli: {setter: {name: V, listValues: [a]}}\n"
    both.write("Krmfile", HEADER + definition)
    both.write("r.yaml", 'x: [] # {"$openapi":"V"}\n')
    assert both.theirs.set(".", "V", "b").stdout.splitlines()[-1].startswith("set 0 field(s)")
    assert both.ours.set(".", "V", "b").stdout.splitlines()[-1].startswith("set 1 field(s)")
    assert both.theirs.read("r.yaml").startswith(b"x: [] #")
    assert yaml.safe_load(both.ours.read("r.yaml")) == {"x": ["b"]}


def test_a_definition_may_have_a_number_without_quotes(both: Both) -> None:
    both.write("Krmfile", HEADER + setter("V", "old") + setter("W", "3").replace('"3"', "3"))
    both.write("r.yaml", 'x: old # {"$openapi":"V"}\ny: 3 # {"$openapi":"W"}\n')
    done = both.theirs.set(".", "V", "new")
    assert done.returncode == 1
    assert "json: cannot unmarshal number" in done.stderr
    assert both.ours.set(".", "V", "new").returncode == 0
    assert both.ours.read("r.yaml").startswith(b"x: new #")


def test_a_setter_is_listed_by_the_name_that_set_takes(both: Both) -> None:
    both.write("Krmfile", HEADER + setter("V", "old").replace("name: V", "name: W"))
    both.write("r.yaml", "x: old\n")
    for side, name in ((both.theirs, "W"), (both.ours, "V")):
        assert side.list().splitlines()[-1].split()[:2] == [name, "old"]


def test_a_link_that_leads_out_is_refused(both: Both) -> None:
    both.write("package/Krmfile", HEADER + setter("V", "old"))
    both.write("outside.yaml", 'x: old # {"$openapi":"V"}\n')
    for side in (both.theirs, both.ours):
        (side.folder / "package/link.yaml").symlink_to("../outside.yaml")
    assert both.theirs.set("package", "V", "new").returncode == 0
    assert both.theirs.read("outside.yaml").startswith(b"x: new #")
    assert both.ours.set("package", "V", "new").returncode == 1
    assert both.ours.read("outside.yaml").startswith(b"x: old #")
