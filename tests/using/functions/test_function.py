"""A function's standard input that is no ResourceList, or a wrong one: refused by line, and nothing is printed."""

import pytest

from packyard.core.errors import InputError
from packyard.using.functions import function
from using.functions.resourcelists import HEAD, resource_list


@pytest.mark.parametrize("name", function.FUNCTIONS)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "standard input must be a ResourceList"),
        ("- a\n", "standard input must be a ResourceList"),
        ("kind: List\nitems: []\n", "standard input must be a ResourceList"),
        (HEAD + "---\na: b\n", "standard input must be a ResourceList"),
        (HEAD + "items: [\n", "ResourceList:4:1: "),
        (HEAD + "items: [a]\n", "ResourceList:3:9: an item must be an object"),
        (HEAD + "items: {a: b}\n", "ResourceList:3:8: items must be a list"),
        (HEAD + "items: []\nfunctionConfig: [a]\n", "ResourceList:4:17: functionConfig must be an object"),
        (HEAD + "functionConfig:\n  data: a\n", "ResourceList:4:9: the configuration's data must be a mapping"),
        (HEAD + "items: [1]\nfunctionConfig: 2\n", "an item must be an object\nResourceList:4:17: functionConfig must"),
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
    outcome = function.run("list-setters", (HEAD + rest).encode())
    assert outcome.output.decode().startswith(HEAD + rest)
    assert not outcome.failed
    outcome = function.run("apply-setters", (HEAD + rest).encode())
    assert outcome.output.decode().startswith(HEAD + rest)
    assert [result.message for result in outcome.results] == ["failed to apply setters: there are no values to set"]
    assert outcome.failed


def test_a_key_without_a_value_and_an_item_without_one_are_left_alone() -> None:
    items = "items:\n- a: # kpt-set: ${app}\n  l:\n  - # kpt-set: a-${app}\n  b: c\n"
    text = f"{HEAD}functionConfig:\n  data: {{app: new}}\n{items}"
    outcome = function.run("apply-setters", text.encode())
    assert outcome.output.decode().startswith(text)


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        ("a: b # kpt-set: ${tag}", "did you mean 'tag'?"),
        ("a: b # kpt-set: ${app}", "packyard fn list-setters lists the names"),
        ('a: b # {"$openapi":"tga"}', "packyard set DIR sets those of a Krmfile"),
    ],
)
def test_a_name_that_no_comment_of_kpt_has_is_refused_with_the_next_command(field: str, hint: str) -> None:
    outcome = function.run("apply-setters", f"{HEAD}functionConfig: {{data: {{tga: c}}}}\nitems:\n- {field}\n".encode())
    assert outcome.failed
    assert outcome.results[0].message == f'failed to apply setters: setter "tga" is not found ({hint})'


DATA = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: b # kpt-set: ${a}\n"
FIELD = "apiVersion: v1\nkind: Thing\nmetadata:\n  name: x\n"


@pytest.mark.parametrize(
    ("text", "values", "becomes"),
    [
        (f"{FIELD}l: [a] # kpt-set: ${{l}}\n", "l: '[b]'", "l: [b] # kpt-set: ${l}\n"),
        (f"{FIELD}l: # kpt-set: ${{l}}\n- a\n", 'l: "- b # note"', "- b\n"),
        (f"{FIELD}l: # kpt-set: ${{l}}\n- a\n", "l: [b, c]", "- b\n  - c\n"),
        (f"{FIELD}a: !!str b # kpt-set: ${{a}}\n", 'a: "5"', "a: !!str 5 # kpt-set"),
        (f"{FIELD}a: b # kpt-set: ${{a}}\nz: d # kpt-set: ${{b}}\n", "{a: '${b}', b: c}", "a: ${b} #"),
        (DATA, 'a: "5"', "a: '5' # kpt-set"),
    ],
)
def test_does_otherwise_than_kpts_function_where_that_does_harm(text: str, values: str, becomes: str) -> None:
    data = resource_list({"f.yaml": text}, f"data:\n  {values}\n")
    assert becomes in function.run("apply-setters", data).output.decode()


def test_what_fails_gives_the_items_as_they_came() -> None:
    data = resource_list({"f.yaml": f"{DATA}  c: d # kpt-set: ${{a}}-${{e}}\n"}, "data:\n  a: x\n")
    outcome = function.run("apply-setters", data)
    assert outcome.failed
    assert outcome.output.startswith(data)
