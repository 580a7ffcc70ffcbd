"""A package in kpt's spelling, set by our own verbs: the values of its pipeline and its fields, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from packyard.errors import InputError
from packyard.files.tree import Tree
from packyard.setters.change import change_setters
from packyard.setters.listing import list_setters
from packyard.setters.packages import read_package

KPTFILE = b"""\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
    name: example
pipeline:
    mutators:
        - image: gcr.io/kpt-fn/apply-setters:v0.2
          configMap:
              app:   web      # the name
              tag:   "1.7"
              zones: |
                - a
                - b
        - image: gcr.io/kpt-fn/apply-setters:v0.2
          configPath: setters.yaml
        - image: gcr.io/kpt-fn/set-labels:v0.1
          configMap: {app: web}
"""
SETTERS = b"""\
apiVersion: v1
kind: ConfigMap
metadata: {name: setters, annotations: {config.kubernetes.io/local-config: "true"}}
data: {replicas: "3", host: web.example.com}
"""
RESOURCES = b"""\
\xef\xbb\xbf# A comment.\r
apiVersion: apps/v1\r
kind: Deployment\r
metadata:\r
    name:   web   # kpt-set: ${app}\r
    labels: {"app":web,   "tier":front}\r
spec:\r
    replicas: 3 # kpt-set: ${replicas}\r
    image: "web:1.7" # kpt-set: ${app}:${tag}\r
\r
    hosts: # kpt-set: ${hosts}\r
        # the first\r
        - x # one\r
        - 'y'\r
    text: |- # kpt-set: ${host}\r
        web.example.com\r
\r
    zones: [a,  b] # kpt-set: ${zones}\r
    last: ${app} # kpt-set ${app}"""
NESTED = b"kind: Zone\nname: web # kpt-set: ${app}\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for path, data in {
        "Kptfile": KPTFILE,
        "setters.yaml": SETTERS,
        "r.yaml": RESOURCES,
        "sub/Kptfile": b"apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: sub}\n",
        "sub/zone.yml": NESTED,
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    return tmp_path


def files(directory: Path) -> dict[str, bytes]:
    found = sorted(file for file in directory.rglob("*") if file.is_file())
    return {file.relative_to(directory).as_posix(): file.read_bytes() for file in found}


def judge(package: Path, replaced: dict[str, list[tuple[bytes, bytes]]], **values: str | list[str]) -> None:
    """Set values, and expect nothing but these bytes to be replaced."""
    expected = files(package)
    for path, pairs in replaced.items():
        for old, new in pairs:
            assert expected[path].count(old) == 1, old
            expected[path] = expected[path].replace(old, new)
    change_setters(package, {name: [text] if isinstance(text, str) else text for name, text in values.items()})
    assert files(package) == expected


def test_sets_the_pipelines_value_and_every_field_also_of_packages_below(package: Path) -> None:
    judge(
        package,
        {
            "Kptfile": [(b"web      #", b"shop      #")],
            "r.yaml": [(b"name:   web ", b"name:   shop "), (b'"web:1.7"', b'"shop:1.7"')],
            "sub/zone.yml": [(b"web", b"shop")],
        },
        app="shop",
    )


def test_sets_the_value_in_the_file_of_a_config_path(package: Path) -> None:
    judge(
        package,
        {
            "setters.yaml": [(b'"3"', b'"5"'), (b"web.example.com", b"shop.example.com")],
            "r.yaml": [(b"replicas: 3", b"replicas: 5"), (b"web.example.com", b"shop.example.com")],
        },
        replicas="5",
        host="shop.example.com",
    )


def test_sets_a_setter_that_only_comments_know(package: Path) -> None:
    old = b"# the first\r\n        - x # one\r\n        - 'y'\r\n"
    judge(package, {"r.yaml": [(old, b'- p\r\n        - "q"\r\n')]}, hosts='[p, "q"]')
    judge(package, {"r.yaml": [(b"- p\r\n        - \"q\"\r\n", b"- p\r\n")]}, hosts="[p]")  # fmt: skip


def test_an_empty_list_is_written_in_brackets_with_its_comment_behind(package: Path) -> None:
    old = b"hosts: # kpt-set: ${hosts}\r\n        # the first\r\n        - x # one\r\n        - 'y'\r\n"
    judge(package, {"r.yaml": [(old, b"hosts: [] # kpt-set: ${hosts}\r\n")]}, hosts="")
    judge(package, {"r.yaml": [(b"hosts: []", b"hosts: [z]")]}, hosts="[z]")


def test_several_texts_are_a_list_and_keep_the_form_of_the_pipelines_value(package: Path) -> None:
    judge(
        package,
        {
            "Kptfile": [(b"- a\n                - b\n", b"- c\n                - 'd, e'\n")],
            "r.yaml": [(b"[a,  b]", b"[c, 'd, e']")],
        },
        zones=["c", "d, e"],
    )


def test_text_stays_text_where_kpt_would_let_it_become_a_number(package: Path) -> None:
    judge(
        package,
        {
            "Kptfile": [(b"web      #", b"'5'      #")],
            "r.yaml": [(b"name:   web ", b"name:   '5' "), (b'"web:1.7"', b'"5:1.7"')],
            "sub/zone.yml": [(b"web", b"'5'")],
        },
        app="5",
    )


def test_setting_a_value_back_restores_the_bytes(package: Path) -> None:
    before = files(package)
    values = {"app": "5", "tag": "x y", "replicas": "7", "host": "a # b"}
    change_setters(package, {name: [text] for name, text in values.items()})
    assert files(package) != before
    change_setters(package, {"app": ["web"], "tag": ["1.7"], "replicas": ["3"], "host": ["web.example.com"]})
    assert files(package) == before


def test_a_plan_writes_nothing(package: Path) -> None:
    before = files(package)
    (change,) = change_setters(package, {"app": ["shop"]}, dry_run=True)
    assert change.plan.counts == {"app": 3}
    assert files(package) == before


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"ap": ["x"]}, r'Kptfile: setter "ap" is not found \(did you mean \'app\'\?\)'),
        ({"zones": ["a"]}, r'r\.yaml:18:12: input to array setter must be an array of values, but found "a"'),
        ({"zones": ["[a"]}, r'input to array setter must be an array of values, but found "\[a"'),
    ],
)
def test_refuses_and_writes_nothing(package: Path, values: dict[str, list[str]], problem: str) -> None:
    before = files(package)
    with pytest.raises(InputError, match=problem):
        change_setters(package, {"tag": ["2"], **values})
    assert files(package) == before


def test_refuses_a_setter_that_is_given_to_some_objects_only(package: Path) -> None:
    selective = KPTFILE.replace(
        b"          configPath", b"          selectors: [{kind: Deployment}]\n          configPath"
    )
    (package / "Kptfile").write_bytes(selective)
    with pytest.raises(InputError, match=r"setters\.yaml:4:18: setter 'replicas' is given to some objects only"):
        change_setters(package, {"replicas": ["5"]})


def test_an_empty_value_of_a_list_is_listed_as_one(package: Path) -> None:
    change_setters(package, {"zones": [""]})
    rows = {row.setter.name: row.setter for row in list_setters(read_package(Tree(package), ""))}
    assert (rows["zones"].value, rows["zones"].type) == ("", "array")


def test_lists_setters_with_the_pipelines_values_and_those_of_fields(package: Path) -> None:
    rows = list_setters(read_package(Tree(package), ""))
    found = [(row.setter, row.count) for row in rows]
    assert [(each.name, each.value, each.type, count, Path(each.file).name, each.line) for each, count in found] == [
        ("app", "web", "string", 3, "Kptfile", 9),
        ("host", "web.example.com", "string", 1, "setters.yaml", 4),
        ("hosts", "[x, y]", "array", 1, "r.yaml", 11),
        ("replicas", "3", "integer", 1, "setters.yaml", 4),
        ("tag", "1.7", "string", 1, "Kptfile", 10),
        ("zones", "[a, b]", "array", 1, "Kptfile", 11),
    ]


KRMFILE = b"""\
openAPI:
  definitions:
    io.k8s.cli.setters.app:
      x-k8s-cli:
        setter:
          name: app
          value: web
"""


def test_one_tree_may_use_both_spellings(package: Path) -> None:
    (package / "Krmfile").write_bytes(KRMFILE)
    (package / "old.yaml").write_bytes(
        b'a: web # {"$openapi":"app"}\nb: web # {"$kpt-set":"app"}\nc: web # kpt-set: ${app}\n'
    )
    judge(
        package,
        {
            "Kptfile": [(b"web      #", b"shop      #")],
            "Krmfile": [(b"value: web\n", b"value: shop\n          isSet: true\n")],
            "r.yaml": [(b"name:   web ", b"name:   shop "), (b'"web:1.7"', b'"shop:1.7"')],
            "old.yaml": [(b"a: web", b"a: shop"), (b"b: web", b"b: shop"), (b"c: web", b"c: shop")],
            "sub/zone.yml": [(b"web", b"shop")],
        },
        app="shop",
    )


def test_packages_below_are_set_with_theirs_in_one_run(package: Path) -> None:
    (package / "sub/Kptfile").write_bytes(KPTFILE)
    (package / "sub/setters.yaml").write_bytes(b'name: web # kpt-set: ${app}\ndata: {tag: "1.7"}\n')
    original = files(package)
    kept: dict[str, bytes] = {}

    def keep(before: Mapping[Path, bytes], after: Mapping[Path, bytes]) -> None:
        assert set(before) == set(after)
        kept.update({file.relative_to(package).as_posix(): data for file, data in before.items()})

    changes = change_setters(package, {"app": ["shop"], "tag": ["2"]}, recursive=True, keep=keep)
    assert [change.package for change in changes] == ["", "sub"]
    assert b"shop      #" in (package / "sub/Kptfile").read_bytes()
    assert (package / "sub/zone.yml").read_bytes() == NESTED.replace(b"web", b"shop")
    assert (package / "sub/setters.yaml").read_bytes() == b'name: shop # kpt-set: ${app}\ndata: {tag: "2"}\n'
    assert kept == {path: data for path, data in original.items() if files(package)[path] != data}


def test_a_kptfile_of_the_first_format_holds_definitions(tmp_path: Path) -> None:
    header = b"apiVersion: kpt.dev/v1alpha1\nkind: Kptfile\nmetadata: {name: old}\n"
    (tmp_path / "Kptfile").write_bytes(header + KRMFILE)
    ref = b'# {"$ref":"#/definitions/io.k8s.cli.setters.app"}'
    (tmp_path / "r.yaml").write_bytes(b'a: web # {"$kpt-set":"app"}\nb: web ' + ref + b"\n")
    judge(
        tmp_path,
        {
            "Kptfile": [(b"value: web\n", b"value: shop\n          isSet: true\n")],
            "r.yaml": [(b"a: web", b"a: shop"), (b"b: web", b"b: shop")],
        },
        app="shop",
    )


def test_two_packages_that_reach_one_file_both_write_it(package: Path) -> None:
    (package / "sub/Kptfile").unlink()
    (package / "sub/Krmfile").write_bytes(KRMFILE)
    (package / "sub/zone.yml").write_bytes(b'a: web # kpt-set: ${app}\nb: web # {"$openapi":"app"}\n')
    change_setters(package, {"app": ["shop"]}, recursive=True)
    assert (package / "sub/zone.yml").read_bytes() == b'a: shop # kpt-set: ${app}\nb: shop # {"$openapi":"app"}\n'
