"""Folding an option in and taking it out, case by case: what is spliced where, and what is refused and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.errors import ConflictError, InputError
from packyard.files.history import History
from packyard.setters.change import change_setters
from packyard.source.enabling.change import disable, enable

KRMFILE = """\
apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.NAME:
      x-k8s-cli:
        setter:
          name: NAME
          value: a
"""
OPTION_KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.SECONDS:
      type: integer
      x-k8s-cli:
        setter:
          name: SECONDS
          value: "7"
rules:
- rule: SECONDS > 0
  message: A sleep takes time.
"""
JOB = """\
# A job.
apiVersion: batch/v1
kind: Job
metadata:
  name: a # {"$openapi":"NAME"}
spec:
  completions: 3 # of many
  list: []
  template:
    spec:
      containers:
      - name: main
        command: [a, a] # {"$openapi":"NAME"}
      - name: a # {"$openapi":"NAME"}
        args:
        - x
          # the end
      volumes:
        - name: one
        - name: two

      last: |
        text"""
KUSTOMIZATION = "kind: Kustomization\nresources:\n- job.yaml\n"


def use_case(folder: Path, **operations: str) -> Path:
    """Write a use case with an option for each list of operations."""
    for name, text in {"Krmfile": KRMFILE, "job.yaml": JOB, "kustomization.yaml": KUSTOMIZATION}.items():
        (folder / name).write_text(text, "utf-8")
    for name, text in operations.items():
        option = folder / "options" / name
        option.mkdir(parents=True)
        patches = "patches:\n- path: job.json6902\n  target: {group: batch, kind: Job}\n"
        (option / "kustomization.yaml").write_text(f"# Says\n# {name}.\nkind: Component\n{patches}", "utf-8")
        (option / "job.json6902").write_text(text, "utf-8")
    return folder


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_bytes().decode() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("operation", "old", "new"),
    [
        ("{op: add, path: /spec/list/-, value: {b: c}}", "list: []\n", "list:\n  - b: c\n"),
        ("{op: add, path: /spec/new, value: {b: [c]}}", "text", "text\n  new:\n    b:\n    - c"),
        ("{op: add, path: /spec/completions, value: 4}", "completions: 3 # of many", "completions: 4"),
        ("{op: replace, path: /spec/completions, value: {b: c}}", "completions: 3 # of many", "completions:\n    b: c"),
        ("{op: replace, path: /spec/template/spec/containers/0/command, value: [c]}",
         'command: [a, a] # {"$openapi":"NAME"}', "command:\n        - c"),
        ("{op: replace, path: /spec/template/spec/last, value: x}", "last: |\n        text", "last: x"),
        ("{op: replace, path: /spec/template/spec/containers/1/name, value: x}",
         '- name: a # {"$openapi":"NAME"}\n        args', "- name: x\n        args"),
        ("{op: replace, path: /spec/template/spec/volumes/0, value: x}", "- name: one", "- x"),
        ("{op: add, path: /spec/template/spec/volumes/-, value: x}", "- name: two", "- name: two\n        - x"),
        ("{op: add, path: /spec/template/spec/volumes/0, value: x}", "- name: one", "- x\n        - name: one"),
        ("{op: add, path: /spec/template/spec/containers/1/args/-, value: z}", "- x\n", "- x\n        - z\n"),
        ("{op: remove, path: /spec/template/spec/volumes/0}", "        - name: one\n", ""),
        ("{op: remove, path: /spec/template/spec/containers/0}",
         '      - name: main\n        command: [a, a] # {"$openapi":"NAME"}\n', ""),
        ("{op: remove, path: /spec/completions}", "  completions: 3 # of many\n", ""),
        ("{op: remove, path: /spec/template/spec/last}", "\n\n      last: |\n        text", ""),
    ],
)  # fmt: skip
def test_an_operation_is_a_splice_and_its_way_back(
    operation: str, old: str, new: str, newline: str, tmp_path: Path
) -> None:
    folder = use_case(tmp_path, this=f"- {operation}\n")
    (folder / "job.yaml").write_bytes(JOB.replace("\n", newline).encode())
    before = content(folder)
    enable(folder, "this")
    assert JOB.count(old) == 1
    assert content(folder)["job.yaml"] == JOB.replace(old, new).replace("\n", newline)
    disable(folder, "this")
    assert content(folder) == before


SLEEP = """\
- op: replace
  path: /metadata/name
  value: b
- op: add
  path: /spec/seconds
  value: 1 # {"$openapi":"SECONDS"}
"""


def with_setter(folder: Path) -> Path:
    (use_case(folder, this=SLEEP) / "options/this/Krmfile.option").write_text(OPTION_KRMFILE, "utf-8")
    return folder


def test_fields_have_the_values_that_the_krmfiles_say(tmp_path: Path) -> None:
    folder = with_setter(tmp_path)
    before = content(folder)
    enable(folder, "this")
    assert '\n  seconds: 7 # {"$openapi":"SECONDS"}' in content(folder)["job.yaml"]
    with pytest.raises(InputError, match="A sleep takes time"):
        change_setters(folder, {"SECONDS": ["0"]})
    change_setters(folder, {"SECONDS": ["9"], "NAME": ["c"]})
    disable(folder, "this")
    after = content(folder)
    assert after["job.yaml"] == before["job.yaml"].replace("name: a #", "name: c #").replace("[a, a]", "[c, c]")
    assert after["Krmfile"] == before["Krmfile"].replace("value: a\n", "value: c\n          isSet: true\n")


def test_a_rule_that_the_values_here_break_is_refused_by_its_line(tmp_path: Path) -> None:
    folder = with_setter(tmp_path)
    option = folder / "options/this/Krmfile.option"
    option.write_text(OPTION_KRMFILE.replace("SECONDS > 0", 'SECONDS > 0 && NAME != "c"'), "utf-8")
    change_setters(folder, {"NAME": ["c"]})
    before = content(folder)
    with pytest.raises(InputError, match=r"Krmfile\.option:10:9: A sleep takes time \(.*; SECONDS is 7, NAME is c\)"):
        enable(folder, "this", dry_run=True)
    with pytest.raises(InputError, match="A sleep takes time"):
        enable(folder, "this")
    assert content(folder) == before
    change_setters(folder, {"NAME": ["d"]})
    enable(folder, "this")


def test_all_that_an_option_has_against_the_values_here_is_said_at_once(tmp_path: Path) -> None:
    folder = with_setter(tmp_path)
    (folder / "options/other").mkdir()
    (folder / "options/other/kustomization.yaml").write_text("# Other.\nkind: Component\n", "utf-8")
    strict = OPTION_KRMFILE.replace("type: integer", "type: integer\n      maximum: 8")
    (folder / "options/other/Krmfile.option").write_text(strict.replace("SECONDS > 0", "SECONDS < 9"), "utf-8")
    enable(folder, "this")
    change_setters(folder, {"SECONDS": ["9"]})
    before = content(folder)
    with pytest.raises(InputError) as refused:
        enable(folder, "other")
    assert [(problem.line, problem.message) for problem in refused.value.problems] == [
        (3, "SECONDS takes a whole number of at most 8, not '9'"),
        (11, "A sleep takes time"),
    ]
    assert "SECONDS is '9'" in refused.value.problems[0].hint
    assert content(folder) == before
    change_setters(folder, {"SECONDS": ["8"]})
    enable(folder, "other")


def test_a_required_value_that_is_not_set_waits(tmp_path: Path) -> None:
    folder = with_setter(tmp_path)
    required = OPTION_KRMFILE.replace('value: "7"', 'value: ""\n          required: true')
    (folder / "options/this/Krmfile.option").write_text(required, "utf-8")
    enable(folder, "this")
    with pytest.raises(InputError, match="A sleep takes time"):
        change_setters(folder, {"SECONDS": ["0"]})


def test_a_rule_that_cannot_be_read_or_names_nothing_is_refused_by_its_line(tmp_path: Path) -> None:
    folder = with_setter(tmp_path)
    option = folder / "options/this/Krmfile.option"
    for rule, message in (("SECONDS >", "is expected"), ("SECONDS > MORE", "there is no setter MORE")):
        option.write_text(OPTION_KRMFILE.replace("SECONDS > 0", rule), "utf-8")
        with pytest.raises(InputError, match=rf"Krmfile\.option:10:\d+: .*{message}"):
            enable(folder, "this")


def test_what_was_changed_by_hand_is_refused_by_its_line(tmp_path: Path) -> None:
    folder = use_case(tmp_path, this="- {op: add, path: /spec/list/-, value: {b: c, d: [e]}}\n")
    enable(folder, "this")
    job = folder / "job.yaml"
    job.write_text(job.read_text("utf-8").replace("- e", "- f"), "utf-8")
    before = content(folder)
    with pytest.raises(InputError, match=r"job\.yaml:11:\d+: /spec/list/- is not as the option put it there"):
        disable(folder, "this")
    assert content(folder) == before


def test_a_file_that_was_changed_by_hand_is_refused(tmp_path: Path) -> None:
    folder = use_case(tmp_path, this="[]\n")
    component = folder / "options/this/kustomization.yaml"
    component.write_text("kind: Component\nresources:\n- more.yaml\n", "utf-8")
    (component.parent / "more.yaml").write_text("kind: A\nb: c\n", "utf-8")
    before = content(folder)
    enable(folder, "this")
    assert content(folder)["kustomization.yaml"] == KUSTOMIZATION + "- more.yaml\n"
    (folder / "more.yaml").write_text("kind: A\nb: d\n", "utf-8")
    with pytest.raises(InputError, match=r"more\.yaml:2:4: is not as option 'this' put it there"):
        disable(folder, "this")
    (folder / "more.yaml").write_text("kind: A\nb: c\n", "utf-8")
    disable(folder, "this")
    assert content(folder) == before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("{op: replace, path: /spec/completions, value: 4}", "{op: remove, path: /spec/completions}"),
        ("{op: add, path: /spec/new, value: {a: b}}", "{op: add, path: /spec/new/c, value: d}"),
        ("{op: replace, path: /spec/list, value: [a]}", "{op: add, path: /spec/list/-, value: d}"),
        ("{op: add, path: /spec/template/spec/volumes/0, value: a}",
         "{op: replace, path: /spec/template/spec/volumes/1/name, value: d}"),
        ("{op: remove, path: /spec/list}", "{op: remove, path: /spec/completions}"),
    ],
)  # fmt: skip
def test_two_options_that_touch_one_place_are_refused(one: str, other: str, tmp_path: Path) -> None:
    folder = use_case(tmp_path, one=f"- {one}\n", other=f"- {other}\n")
    enable(folder, "one")
    before = content(folder)
    with pytest.raises((ConflictError, InputError), match="could not be taken out without the other"):
        enable(folder, "other")
    assert content(folder) == before


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("{op: move, from: /a, path: /b}", "move cannot be folded in"),
        ("{op: add, path: /nowhere/a, value: 1}", "there is no list or mapping at /nowhere"),
        ("{op: replace, path: /spec/nothing, value: 1}", r"path /spec/nothing does not exist in .*job\.yaml"),
        ("{op: add, path: /spec/template/spec/containers/0/command/-, value: c}", "between brackets"),
        ("{op: test, path: /spec/completions, value: 5}", "test failed"),
    ],
)
def test_what_cannot_be_folded_in_is_refused_by_its_line(operation: str, message: str, tmp_path: Path) -> None:
    folder = use_case(tmp_path, this=f"- {operation}\n")
    before = content(folder)
    with pytest.raises(InputError, match=message) as caught:
        enable(folder, "this")
    assert all(problem.line for problem in caught.value.problems)
    assert content(folder) == before


def test_a_setter_of_the_same_name_is_in_the_way(tmp_path: Path) -> None:
    folder = with_setter(tmp_path)
    (folder / "Krmfile").write_text(KRMFILE.replace("NAME", "SECONDS"), "utf-8")
    with pytest.raises(ConflictError, match=r"Krmfile:5.*SECONDS is defined here already"):
        enable(folder, "this")


def test_undo_takes_back_files_that_came_and_files_that_went(tmp_path: Path) -> None:
    folder = with_file(tmp_path / "use-case")
    history = History(tmp_path / "history")

    def keep(before: dict[Path, bytes | None], after: dict[Path, bytes | None]) -> None:
        history.record(folder, "this", before, after)

    states = [content(folder)]
    for act in (enable, disable):
        act(folder, "this", keep=keep)
        states.append(content(folder))
    assert "more.yaml" in states[1]
    assert states[0] == states[2]
    history.undo(folder)
    assert content(folder) == states[1]
    history.undo(folder)
    assert content(folder) == states[0]


def with_file(folder: Path) -> Path:
    """Write a use case with an option that adds a file and replaces a value."""
    folder.mkdir()
    option = use_case(folder, this="- {op: replace, path: /spec/completions, value: 4}\n") / "options/this"
    with (option / "kustomization.yaml").open("a", encoding="utf-8") as stream:
        stream.write("resources:\n- more.yaml\n")
    (option / "more.yaml").write_text("kind: A\n", "utf-8")
    return folder


def test_a_file_that_came_later_is_not_one_that_the_option_changed(tmp_path: Path) -> None:
    folder = use_case(tmp_path, first="- {op: replace, path: /spec/completions, value: 4}\n", second="[]\n")
    component = folder / "options/second/kustomization.yaml"
    component.write_text("kind: Component\nresources:\n- more.yaml\n", "utf-8")
    (component.parent / "more.yaml").write_text("apiVersion: batch/v1\nkind: Job\nspec:\n  completions: 4\n", "utf-8")
    before = content(folder)
    enable(folder, "first")
    enable(folder, "second")
    disable(folder, "first")
    disable(folder, "second")
    assert content(folder) == before
    enable(folder, "second")
    with pytest.raises(ConflictError, match=r"more\.yaml, a file that option 'second' adds"):
        enable(folder, "first")
