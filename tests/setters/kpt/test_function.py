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
