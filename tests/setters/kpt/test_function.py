"""A function's standard input that is no ResourceList, or a wrong one: refused by line, and nothing is printed."""

from __future__ import annotations

import pytest

from packyard.errors import InputError
from packyard.setters.kpt import function

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"


@pytest.mark.parametrize("name", function.FUNCTIONS)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "standard input is no ResourceList"),
        ("- a\n", "standard input is no ResourceList"),
        ("kind: List\nitems: []\n", "standard input is no ResourceList"),
        (HEAD + "---\na: b\n", "standard input is no ResourceList"),
        (HEAD + "items: [\n", "ResourceList:4:1: "),
        (HEAD + "items: [a]\n", "ResourceList:3:9: an item is no object"),
        (HEAD + "items: {a: b}\n", "ResourceList:3:8: items is no list"),
        (HEAD + "items: []\nfunctionConfig: [a]\n", "ResourceList:4:17: functionConfig is no object"),
        (HEAD + "functionConfig:\n  data: a\n", "ResourceList:4:9: the configuration's data is no mapping"),
        (HEAD + "items: [1]\nfunctionConfig: 2\n", "an item is no object\nResourceList:4:17: functionConfig is no"),
        (HEAD + "a: " + "[" * 300, "ResourceList:3:203: nested deeper than 200 levels"),
        (HEAD + "a: \0\n", "ResourceList:3:4: control characters"),
    ],
)
def test_refuses_what_is_no_resource_list(name: str, text: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        function.run(name, text.encode())
    assert says in str(refused.value)


@pytest.mark.parametrize("rest", ["", "items:\n", "items: []\nfunctionConfig: null\n", "functionConfig:\n  data:\n"])
def test_what_is_missing_or_null_is_empty(rest: str) -> None:
    outcome = function.run("apply-setters", (HEAD + rest).encode())
    assert outcome.output.decode().startswith(HEAD + rest)
    assert not outcome.failed


def test_list_setters_refuses_fields_that_no_kptfile_has() -> None:
    """By the lines of the object as it came, in kpt's words."""
    text = """\
items:
- apiVersion: kpt.dev/v1
  kind: Kptfile
  metadata:
    annotations:
      config.kubernetes.io/path: Kptfile
  pipelines:
    mutators: []
  status: {}
  foo: bar
"""
    outcome = function.run("list-setters", (HEAD + text).encode())
    assert outcome.failed
    assert [result.message for result in outcome.results] == [
        "failed to list setters: unable to read Kptfile: please make sure the package has a valid 'v1' Kptfile: "
        "yaml: unmarshal errors:\n"
        "  line 6: field pipelines not found in type v1.KptFile\n"
        "  line 9: field foo not found in type v1.KptFile"
    ]
    older = (HEAD + text).replace("kpt.dev/v1", "kpt.dev/v1alpha1")
    assert not function.run("list-setters", older.encode()).failed
