"""Sets in YAML of every form: just the values that are set change, with their own comments, or the set is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import FrameType

import pytest
import yaml

from packyard.errors import InputError
from packyard.setters.change import change_setters
from packyard.setters.kpt.function import run
from packyard.yaml.document import parse_text
from packyard.yaml.node import MappingNode, Source

HEADER = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"
A, B = '# {"$openapi":"A"}', '# {"$openapi":"B"}'
ONE = f"{HEADER}    io.k8s.cli.setters.A:\n      x-k8s-cli:\n        setter:\n          name: A\n          value: '1'\n"
OTHER = '    io.k8s.cli.setters.B: {x-k8s-cli: {setter: {name: B, value: "1"}}}\n'
LISTED = (
    ONE.replace("      x-k8s", "      type: array\n      x-k8s").replace("value: '1'", "listValues: [a, b]") + OTHER
)


def package(folder: Path, krmfile: str, text: str) -> Path:
    (folder / "Krmfile").write_bytes(krmfile.encode())
    (folder / "r.yaml").write_bytes(text.encode())
    return folder


def after(folder: Path, **values: str | list[str]) -> str:
    """Set values, and return the resource."""
    texts = {name: [given] if isinstance(given, str) else given for name, given in values.items()}
    change_setters(folder, texts)
    for name in ("Krmfile", "r.yaml"):
        list(yaml.compose_all((folder / name).read_bytes()))  # which also says where an alias leads nowhere
    return (folder / "r.yaml").read_bytes().decode()


def refused(folder: Path, place: str, **values: list[str]) -> None:
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(InputError, match=place):
        change_setters(folder, values)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


# Keys without a value.


def test_a_kpt_comment_behind_a_key_without_a_value_binds_nothing(tmp_path: Path) -> None:
    (tmp_path / "Kptfile").write_text(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\n"
        "pipeline: {mutators: [{image: apply-setters, configMap: {app: ''}}]}\n",
        "utf-8",
    )
    text = 'name: # kpt-set: ${app}\nl:\n- # kpt-set: a-${app}\nother: "" # kpt-set: ${app}\n'
    (tmp_path / "r.yaml").write_text(text, "utf-8")
    change_setters(tmp_path, {"app": ["foo"]})
    assert (tmp_path / "r.yaml").read_text("utf-8") == text.replace('""', '"foo"')


def test_apply_setters_leaves_a_key_without_a_value_alone() -> None:
    items = "items:\n- apiVersion: v1\n  kind: X\n  name: # kpt-set: ${app}\n  l:\n  - # kpt-set: a-${app}\n"
    config = "functionConfig: {apiVersion: v1, kind: ConfigMap, data: {app: foo}}\n"
    output = run("apply-setters", f"kind: ResourceList\n{items}{config}".encode()).output.decode()
    assert items in output
    list(yaml.compose_all(output))


@pytest.mark.parametrize(("field", "new"), [("a: ", "a: 2 "), ("l:\n- ", "l:\n- 2 "), ("l:\n  -   ", "l:\n  - 2   ")])
def test_a_field_without_a_value_gets_one_behind_a_blank(tmp_path: Path, field: str, new: str) -> None:
    made = after(package(tmp_path, ONE, f"{field}{A}\nb: 1\n"), A="2")
    assert yaml.load(made, yaml.CBaseLoader) == yaml.load(f"{new}\nb: 1\n", yaml.CBaseLoader)
    assert made.count(A) == 1


# Lists.


@pytest.mark.parametrize("end", ["", "\n", "\nafter: 1\n", "\n---\nb: 1\n", "\n\n\nafter: 1\n", "\n# end\n"])
@pytest.mark.parametrize("block", ["|", ">", "|-", "|+", "|2"])
def test_a_list_that_ends_in_a_block_scalar_is_followed_by_a_line_of_its_own(
    tmp_path: Path, block: str, end: str
) -> None:
    made = after(package(tmp_path, LISTED, f"args: {A}\n- -c\n- {block}\n  script{end}"), A=["p", "q"])
    assert made == f'args: {A}\n- "p"\n- "q"{end}'


@pytest.mark.parametrize("front", ["&x", "!!seq", "!own", "&x !!seq"])
def test_a_list_with_an_anchor_or_a_tag_is_refused_by_its_line(tmp_path: Path, front: str) -> None:
    text = f"z: 1\nargs: {front} {A}\n- a\n" + ("b: *x\n" if "&" in front else "")
    refused(package(tmp_path, LISTED, text), r"r\.yaml:2:7: a list with an anchor or a tag", A=["p", "q"])


def test_aliases_of_a_scalar_follow_it_and_are_counted(tmp_path: Path) -> None:
    text = f"a: &x 1 {A}\nb: [*x, *x]\n---\nd: &x 4\ne: *x\nf: &y 1 {A}\n"
    (change,) = change_setters(package(tmp_path, ONE, text), {"A": ["2"]}, dry_run=True)
    assert [(field.path, field.aliases) for field in change.plan.changes] == [("a", 2), ("f", 0)]
    assert change.plan.counts == {"A": 2}
    assert after(tmp_path, A="2") == text.replace(f"1 {A}", f"2 {A}")
    shown = subprocess.run(
        [sys.executable, "-m", "packyard.cli.main", "set", str(tmp_path), "A=5"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "a: 2 -> 5, and so in 2 places that repeat it\n" in shown.stdout


def test_an_item_goes_with_its_comments_and_one_that_stays_keeps_its_line(tmp_path: Path) -> None:
    text = f"args: {A}\n- a # first\n  # more of a\n# about b\n- b {B}\n# end\n"
    assert after(package(tmp_path, LISTED, text), A=["p", "q"]) == f'args: {A}\n- "p"\n- "q"\n# end\n'
    assert after(tmp_path, B="z") == f'args: {A}\n- "p"\n- "q"\n# end\n'
    package(tmp_path, LISTED, text)
    assert after(tmp_path, A=["b"]) == f"args: {A}\n# about b\n- b {B}\n# end\n"
    package(tmp_path, LISTED, text)
    made = after(tmp_path, A=["x", "a", "y", "b", "z"])
    assert made == f'args: {A}\n- "x"\n- a # first\n  # more of a\n- "y"\n# about b\n- b {B}\n- "z"\n# end\n'
    assert after(tmp_path, A=["a", "b"]) == text


def test_an_items_comment_never_binds_another_item(tmp_path: Path) -> None:
    made = after(package(tmp_path, LISTED, f"args: {A}\n- a\n- b {B}\n"), A=["p", "q", "r"])
    assert made == f'args: {A}\n- "p"\n- "q"\n- "r"\n'
    assert after(tmp_path, B="z") == made


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_as_many_items_as_can_stay_keep_their_lines(tmp_path: Path, newline: str) -> None:
    lines = ["v:", f"  args: {A}", "  - a # a", "  - 'b' # b", "  - 1 # a number", "  - {k: v} # more", "  - a # again"]
    text = newline.join([*lines, "  after: 1"])
    made = after(package(tmp_path, LISTED, text), A=["b", "1", "a"])
    kept = ["v:", f"  args: {A}", "  - 'b' # b", '  - "1"', "  - a # again", "  after: 1"]
    assert made == newline.join(kept)


def test_a_list_with_comments_inside_brackets_is_written_anew_if_no_item_stays(tmp_path: Path) -> None:
    text = f"{A}\nargs: [a, # first\n  b, # second\n]\n# end\n"
    refused(package(tmp_path, LISTED, text), r"r\.yaml:2:7: items of a list in brackets", A=["a", "p"])
    assert after(tmp_path, A=["p", "q"]) == f'{A}\nargs: ["p", "q"]\n# end\n'


def test_a_list_of_many_items_takes_time_in_proportion(tmp_path: Path) -> None:
    text = f"args: {A}\n" + "".join(f"- i{number} # {number}\n" for number in range(3000))
    made = after(package(tmp_path, LISTED, text), A=[f"i{number}" for number in range(1, 6000, 2)])
    assert made.count("#") == 1501


# Definitions.


def test_listed_values_that_end_in_a_block_scalar_get_a_line_each(tmp_path: Path) -> None:
    krmfile = LISTED.replace("listValues: [a, b]", "listValues:\n          - |\n            x\n          isSet: true")
    after(package(tmp_path, krmfile, f"a: [a] {A}\n"), A=["p", "q"])
    text = (tmp_path / "Krmfile").read_text("utf-8")
    assert text == krmfile.replace("- |\n            x", '- "p"\n          - "q"')


@pytest.mark.parametrize(
    ("definition", "line"),
    [
        ("      x-k8s-cli:\n        setter:\n          name: A\n          value: &v '1'\n      default: *v\n", 9),
        ("      x-k8s-cli: &d\n        setter:\n          name: A\n          value: '1'\n      x-more: *d\n", 6),
        ("      x-k8s-cli:\n        setter: &d\n          name: A\n          value: '1'\n      x-more: *d\n", 7),
    ],
)
def test_an_anchor_that_an_alias_uses_is_refused_by_its_line(tmp_path: Path, definition: str, line: int) -> None:
    krmfile = f"{HEADER}    io.k8s.cli.setters.A:\n{definition}"
    refused(package(tmp_path, krmfile, f"a: 1 {A}\n"), rf"Krmfile:{line}:\d+: .*anchor", A=["2"])


@pytest.mark.parametrize("front", ["&v ", "!!str ", "&v !!str "])
def test_an_anchor_that_nothing_uses_and_a_tag_stay_in_a_definition(tmp_path: Path, front: str) -> None:
    krmfile = ONE.replace("value: '1'", f"value: {front}'1'")
    after(package(tmp_path, krmfile, f"a: 1 {A}\n"), A="2")
    assert f"          value: {front}'2'\n          isSet: true\n" in (tmp_path / "Krmfile").read_text("utf-8")


def test_an_entry_below_a_complex_key_is_refused_by_its_line(tmp_path: Path) -> None:
    krmfile = ONE.replace(
        "          name: A\n          value: '1'", "          ? value\n          : '1'\n          name: A"
    )
    refused(package(tmp_path, krmfile, f"a: 1 {A}\n"), r"Krmfile:8:\d+: nothing can be added", A=["2"])
    refused(package(tmp_path, ONE, f"? k {A}\n"), r"r\.yaml:\d+:\d+: no value can be put", A=["2"])
    assert after(package(tmp_path, ONE, f"? k\n: 1 {A}\n"), A="2") == f"? k\n: 2 {A}\n"


def test_a_comment_above_an_entry_goes_with_it(tmp_path: Path) -> None:
    krmfile = ONE + "          # who it was\n          setBy: me # that is\n          isSet: true # really\n"
    after(package(tmp_path, krmfile, f"a: 1 {A}\n"), A="2")
    assert (tmp_path / "Krmfile").read_text("utf-8") == ONE.replace("'1'", "'2'") + "          isSet: true # really\n"


# Sizes.


def test_a_block_of_many_blank_lines_takes_time_in_proportion(tmp_path: Path) -> None:
    blank = "\n" * 200_000
    command = [sys.executable, "-m", "packyard.cli.main", "set", str(tmp_path), "A=2"]
    package(tmp_path, ONE, f"data:\n  {A}\n  a: |\n    x{blank}    y\n")
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert (tmp_path / "r.yaml").read_text("utf-8") == f"data:\n  {A}\n  a: |-\n    2\n"
    assert len(done.stdout) < 500  # values are shown shortened


def test_many_fields_in_a_mapping_without_a_kind_take_work_in_proportion(tmp_path: Path) -> None:
    def lines_run(number: int) -> int:
        package(tmp_path, ONE, "".join(f"a{field}: 1 {A}\n" for field in range(number)))
        count = 0

        def trace(_frame: FrameType, event: str, _argument: object) -> object:
            nonlocal count
            count += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            change_setters(tmp_path, {"A": ["2"]})
        finally:
            sys.settrace(before)
        assert (tmp_path / "r.yaml").read_text("utf-8").count(": 2 #") == number
        return count

    assert lines_run(1000) < 15 * lines_run(100)  # ten times is in proportion, a hundred times would be the square


def test_a_key_of_many_is_found_by_an_index_that_knows_of_changes() -> None:
    root = parse_text(Source("r.yaml", "".join(f"k{number}: {number}\n" for number in range(100)) + "k1: again\n"))[
        0
    ].root
    assert isinstance(root, MappingNode)
    assert [root.text(name, "none") for name in ("k0", "k1", "k99", "more")] == ["0", "1", "99", "none"]
    entry = root.entries.pop(5)
    assert root.entry("k5") is None
    root.entries.append(entry)
    assert root.entry("k5") is entry
    root.entries = root.entries[50:]
    assert root.entry("k7") is None
    assert root.text("k99") == "99"
