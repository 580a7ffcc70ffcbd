"""A test for each row of a table in docs/from-kustomize-cfg.md, "Creating, deleting and annotating": each runs both."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from running import inside
from served import Served

KRMFILE = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n"
COMMENT = '# {"$openapi":"n"}'
VERSION_1 = '# {"type":"string","x-kustomize":{"setter":{"name":"p","value":"asm"}}}'
DEFINED = (
    KRMFILE
    + "openAPI:\n  definitions:\n    io.k8s.cli.setters.n:\n      x-k8s-cli:\n        setter:\n"
    + "          name: n\n          value: a\n"
)


class Side:
    """One program, in a folder of its own."""

    def __init__(self, program: Callable[..., subprocess.CompletedProcess[str]], folder: Path) -> None:
        self.program = program
        self.folder = folder

    def cfg(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.program("cfg", *words, cwd=self.folder)

    def read(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()


@pytest.fixture
def theirs(served3: Served, tmp_path: Path) -> Side:
    (tmp_path / "theirs").mkdir()
    return Side(served3, tmp_path / "theirs")


@pytest.fixture
def ours(tmp_path: Path) -> Side:
    (tmp_path / "ours").mkdir()
    return Side(inside, tmp_path / "ours")


def write(sides: tuple[Side, Side], **files: str) -> None:
    for side in sides:
        for name, text in files.items():
            path = name if name == "Krmfile" or "/" in name else f"{name}.yaml"
            file = side.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())


def test_a_note_behind_a_field_moves_above_it_where_3_8_7_drops_it(theirs: Side, ours: Side) -> None:
    write((theirs, ours), Krmfile=KRMFILE, r="spec:\n  a: v # why v\n  l:\n  - v # first\n  - k: v # in an item\n")
    for side in (theirs, ours):
        assert side.cfg("create-setter", ".", "n", "v").returncode == 0
    assert "why v" not in theirs.read("r.yaml")
    assert ours.read("r.yaml") == (
        f"spec:\n  # why v\n  a: v {COMMENT}\n  l:\n  # first\n  - v {COMMENT}\n  # in an item\n  - k: v {COMMENT}\n"
    )
    assert "set 3 field(s)" in theirs_set(theirs, ours)


def theirs_set(theirs: Side, ours: Side, name: str = "n") -> str:
    """Let the real program set the setter in the files that we wrote, and say what it prints."""
    return Side(theirs.program, ours.folder).cfg("set", ".", name, "changed").stdout


def test_a_note_inside_brackets_is_refused_where_it_cannot_move(theirs: Side, ours: Side) -> None:
    text = "a: {k: v, # why v\n  l: w}\n"
    write((theirs, ours), Krmfile=KRMFILE, r=text)
    assert theirs.cfg("create-setter", ".", "n", "v").returncode == 0
    done = ours.cfg("create-setter", ".", "n", "v")
    assert done.returncode == 1
    assert "r.yaml:1:8: no comment can be put above this field" in done.stderr
    assert (ours.read("r.yaml"), ours.read("Krmfile")) == (text, KRMFILE)


def test_a_flow_list_gets_its_comment_above_where_3_8_7_breaks_the_file(theirs: Side, ours: Side) -> None:
    write((theirs, ours), Krmfile=KRMFILE, r="spec:\n  l: [a, b]\n")
    for side in (theirs, ours):
        assert side.cfg("create-setter", ".", "n", "--type", "array", "--field", "l").returncode == 0
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(theirs.read("r.yaml"))
    assert ours.read("r.yaml") == f"spec:\n  {COMMENT}\n  l: [a, b]\n"
    assert "set 1 field(s)" in theirs_set(theirs, ours)


def test_a_block_scalar_gets_its_comment_above_where_3_8_7_writes_it_into_the_text(theirs: Side, ours: Side) -> None:
    write((theirs, ours), Krmfile=KRMFILE, r="a: |-\n  v\nb:\n- >-\n  v\n")
    for side in (theirs, ours):
        assert side.cfg("create-setter", ".", "n", "v").returncode == 0
    assert yaml.safe_load(theirs.read("r.yaml"))["a"] == "v" + COMMENT
    assert ours.read("r.yaml") == f"{COMMENT}\na: |-\n  v\nb:\n{COMMENT}\n- >-\n  v\n"
    assert "set 2 field(s)" in theirs_set(theirs, ours)


def test_a_block_scalar_below_a_comment_is_refused(theirs: Side, ours: Side) -> None:
    text = "# why\na: |-\n  v\n"
    write((theirs, ours), Krmfile=KRMFILE, r=text)
    assert theirs.cfg("create-setter", ".", "n", "v").returncode == 0
    done = ours.cfg("create-setter", ".", "n", "v")
    assert done.returncode == 1
    assert "r.yaml:2:4" in done.stderr
    assert ours.read("r.yaml") == text


def test_a_path_to_a_list_means_its_items_where_3_8_7_makes_a_setter_of_nothing(theirs: Side, ours: Side) -> None:
    write((theirs, ours), Krmfile=KRMFILE, r="l:\n- a\n- b\n")
    for side in (theirs, ours):
        assert side.cfg("create-setter", ".", "n", "a", "--field", "l").returncode == 0
        assert side.cfg("set", ".", "n", "changed").returncode == 0
    assert yaml.safe_load(theirs.read("r.yaml")) == {"l": ["a", "b"]}
    assert ours.read("r.yaml") == f"l:\n- changed {COMMENT}\n- b\n"


def test_a_list_of_more_than_values_is_refused_where_3_8_7_would_set_it_to_values(theirs: Side, ours: Side) -> None:
    text = "l:\n- name: a\n"
    write((theirs, ours), Krmfile=KRMFILE, r=text)
    words = ("create-setter", ".", "n", "--type", "array", "--field", "l")
    assert theirs.cfg(*words).returncode == 0
    assert yaml.safe_load(theirs.read("Krmfile"))["openAPI"]["definitions"]["io.k8s.cli.setters.n"]["x-k8s-cli"][
        "setter"
    ]["listValues"] == [""]
    done = ours.cfg(*words)
    assert done.returncode == 1
    assert "r.yaml:2:1: the list holds more than plain values" in done.stderr
    assert ours.read("r.yaml") == text


def test_packages_below_are_left_alone_where_3_8_7_marks_their_fields(theirs: Side, ours: Side) -> None:
    write((theirs, ours), Krmfile=KRMFILE, r="a: v\n", **{"p/Krmfile": KRMFILE, "p/s.yaml": "a: v\n"})
    for side in (theirs, ours):
        assert side.cfg("create-setter", ".", "n", "v").returncode == 0
    assert COMMENT in theirs.read("p/s.yaml")
    assert "n" not in theirs.read("p/Krmfile").removeprefix(KRMFILE)
    assert ours.read("p/s.yaml") == "a: v\n"


def test_nothing_is_defined_where_3_8_7_fails_half_way(theirs: Side, ours: Side) -> None:
    write((theirs, ours), Krmfile=KRMFILE, r="a: v\n")
    for side in (theirs, ours):
        done = side.cfg("create-subst", ".", "s", "--field-value", "v", "--pattern", "${a}:${b}")
        assert done.returncode == 1
        assert "unable to derive values for markers" in done.stderr
    assert "substitutions.s" in theirs.read("Krmfile")
    assert ours.read("Krmfile") == KRMFILE


def test_one_package_that_cannot_be_read_stops_all_where_3_8_7_changes_those_before(theirs: Side, ours: Side) -> None:
    files = {"a/Krmfile": KRMFILE, "a/r.yaml": "a: v\n", "b/Krmfile": "openAPI: x\n", "b/r.yaml": "a: v\n"}
    write((theirs, ours), **files)
    for side in (theirs, ours):
        assert side.cfg("create-setter", ".", "n", "v", "-R").returncode == 1
    assert COMMENT in theirs.read("a/r.yaml")
    assert {path: ours.read(path) for path in files} == files


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("create-setter", ".", "n", "v", "--type", "text"), 'invalid schema: type "text" is not supported'),
        (("create-subst", ".", "s", "--field-value", "v", "--pattern", "${a}:${b}"), "unable to derive values"),
    ],
)
def test_a_wrong_command_is_an_error_said_once_where_3_8_7_exits_with_0(
    theirs: Side, ours: Side, words: tuple[str, ...], fault: str
) -> None:
    write((theirs, ours), **{"a/Krmfile": KRMFILE, "a/r.yaml": "a: v\n", "b/Krmfile": KRMFILE, "b/r.yaml": "a: v\n"})
    done = [side.cfg(*words, "-R") for side in (theirs, ours)]
    assert (done[0].returncode, done[0].stdout.count(fault)) == (0, 2)
    assert (done[1].returncode, done[1].stderr.count(fault)) == (1, 1)
    assert ours.read("a/Krmfile") == KRMFILE


@pytest.mark.parametrize("name", ["a/b", "50%25"])
def test_a_name_that_no_comment_can_refer_to_is_refused(theirs: Side, ours: Side, name: str) -> None:
    write((theirs, ours), Krmfile=KRMFILE, r="a: v\n")
    assert theirs.cfg("create-setter", ".", name, "v").returncode == 0
    assert "set 0 field(s)" in theirs.cfg("set", ".", name, "w").stdout
    done = ours.cfg("create-setter", ".", name, "v")
    assert done.returncode == 1
    assert f"no comment can refer to the name {name!r}" in done.stderr
    assert (ours.read("r.yaml"), ours.read("Krmfile")) == ("a: v\n", KRMFILE)


@pytest.mark.parametrize("value", ["0", "r.yaml"])
def test_a_value_that_no_field_has_is_said_where_3_8_7_finds_it_in_its_own_annotations(
    theirs: Side, ours: Side, value: str
) -> None:
    write((theirs, ours), Krmfile=KRMFILE, r="a: v\n")
    assert "doesn't match any field" not in theirs.cfg("create-setter", ".", "n", value).stdout
    assert "doesn't match any field" in ours.cfg("create-setter", ".", "n", value).stdout


def test_neither_value_nor_path_is_an_error_alone_where_3_8_7_claims_to_create(theirs: Side, ours: Side) -> None:
    write((theirs, ours), Krmfile=KRMFILE, r="a: v\n")
    done = [side.cfg("create-setter", ".", "n", "") for side in (theirs, ours)]
    assert [side.returncode for side in done] == [1, 1]
    assert [side.stderr for side in done] == ["Error: must specify either fieldName or fieldValue\n"] * 2
    assert "but creating setter definition" in done[0].stdout
    assert done[1].stdout == "./\n"


@pytest.mark.parametrize("empty", ["openAPI:\n", "openAPI: null\nx: 1\n", "openAPI:\n  definitions: ~ # none\n"])
def test_a_krmfile_with_a_null_gets_the_definition_where_3_8_7_drops_it(theirs: Side, ours: Side, empty: str) -> None:
    write((theirs, ours), Krmfile=KRMFILE + empty, r="a: v\n")
    for side in (theirs, ours):
        assert 'created setter "n"' in side.cfg("create-setter", ".", "n", "v").stdout
    assert "setters.n" not in theirs.read("Krmfile")
    assert "set 1 field(s)" in theirs_set(theirs, ours)


def test_a_file_without_the_value_need_not_be_yaml(theirs: Side, ours: Side) -> None:
    write((theirs, ours), Krmfile=KRMFILE, r="a: v5\n", t="a: [{{ .x }}\n")
    assert theirs.cfg("create-setter", ".", "n", "v5").returncode == 1
    assert ours.cfg("create-setter", ".", "n", "v5").returncode == 0
    assert ours.read("r.yaml") == f"a: v5 {COMMENT}\n"


def test_other_files_and_lines_keep_their_bytes_where_3_8_7_writes_all_anew(theirs: Side, ours: Side) -> None:
    text = "# Licence\n---\na:   v\r\n\n\nb:  [1,2]   # x\n--- # second\nc: v"
    write((theirs, ours), Krmfile=KRMFILE, r=text, s="x:   1\n")
    for side in (theirs, ours):
        assert side.cfg("create-setter", ".", "n", "v").returncode == 0
    assert theirs.read("s.yaml") == "x: 1\n"
    assert ours.read("s.yaml") == "x:   1\n"
    assert ours.read("r.yaml") == text.replace("v", f"v {COMMENT}")


def test_deleting_is_offered_where_3_8_7_prints_help(theirs: Side, ours: Side) -> None:
    text = f"a: v {COMMENT}\n{COMMENT}\nb: v # note\nc: [v] {COMMENT}\n# note\n{COMMENT}\nd: v\n"
    write((theirs, ours), Krmfile=DEFINED, r=text)
    for side in (theirs, ours):
        assert side.cfg("delete-setter", ".", "n").returncode == 0
    assert theirs.read("r.yaml") == text
    assert ours.read("r.yaml") == "a: v\nb: v # note\nc: [v]\n# note\nd: v\n"
    assert ours.read("Krmfile") == KRMFILE


def test_an_annotation_keeps_its_comment_where_3_8_7_drops_it(theirs: Side, ours: Side) -> None:
    write((theirs, ours), r="metadata:\n  annotations:\n    a: x # why x\n")
    for side in (theirs, ours):
        assert side.cfg("annotate", ".", "--kv", "a=z").returncode == 0
    assert "why x" not in theirs.read("r.yaml")
    assert ours.read("r.yaml") == "metadata:\n  annotations:\n    a: z # why x\n"


def test_annotating_json_leaves_json(theirs: Side, ours: Side) -> None:
    write((theirs, ours), r='{"kind": "A"}\n')
    for side in (theirs, ours):
        assert side.cfg("annotate", ".", "--kv", "a=b").returncode == 0
    assert theirs.read("r.yaml") == '{"kind": "A", metadata: {annotations: {a: \'b\'}}}\n'
    assert ours.read("r.yaml") == '{"kind": "A", "metadata": {"annotations": {"a": "b"}}}\n'


def test_a_document_that_is_no_mapping_is_not_annotated_where_3_8_7_stops(theirs: Side, ours: Side) -> None:
    write((theirs, ours), r="- a\n---\nkind: A\n")
    assert theirs.cfg("annotate", ".", "--kv", "a=b").returncode == 1
    assert ours.cfg("annotate", ".", "--kv", "a=b").returncode == 0
    assert ours.read("r.yaml") == "- a\n---\nkind: A\nmetadata:\n  annotations:\n    a: 'b'\n"


def test_a_setter_of_a_krmfile_is_set_where_3_8_7_sees_version_1_alone(theirs: Side, ours: Side) -> None:
    write((theirs, ours), Krmfile=DEFINED, r=f"a: a {COMMENT}\nb: asm {VERSION_1}\n")
    assert theirs.cfg("set", ".", "n", "x").stdout == "set 0 fields\n"
    assert 'set 1 field(s) of setter "n"' in ours.cfg("set", ".", "n", "x").stdout
    assert ours.cfg("set", ".", "p", "z").stdout == "set 1 fields\n"
    assert ours.read("r.yaml") == f"a: x {COMMENT}\nb: z {VERSION_1.replace('asm', 'z')}\n"


def test_version_1_without_a_type_is_read_where_3_8_7_crashes(theirs: Side, ours: Side) -> None:
    text = 'a: b # {"x-kustomize":{"setter":{"name":"p","value":"b"}}}\n'
    write((theirs, ours), r=text)
    assert theirs.cfg("set", ".", "p", "c").returncode == 2
    assert ours.cfg("set", ".", "p", "c").stdout == "set 1 fields\n"
    assert ours.read("r.yaml") == 'a: c # {"type":"","x-kustomize":{"setter":{"name":"p","value":"c"}}}\n'


def test_version_1_set_to_nothing_stays_text_where_3_8_7_leaves_a_null(theirs: Side, ours: Side) -> None:
    write((theirs, ours), r=f"a: asm {VERSION_1.replace('string', '')}\n")
    for side in (theirs, ours):
        assert side.cfg("set", ".", "p", "").stdout == "set 1 fields\n"
    assert yaml.safe_load(theirs.read("r.yaml")) == {"a": None}
    assert yaml.safe_load(ours.read("r.yaml")) == {"a": ""}


def test_a_forgotten_value_is_said_where_3_8_7_prints_an_empty_table(theirs: Side, ours: Side) -> None:
    write((theirs, ours), Krmfile=DEFINED, r=f"a: a {COMMENT}\n")
    done = [side.cfg("set", ".", "n") for side in (theirs, ours)]
    assert [side.returncode for side in done] == [1, 1]
    assert done[0].stderr == ""
    assert "value must be provided" in done[1].stderr
