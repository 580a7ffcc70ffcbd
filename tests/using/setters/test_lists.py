"""Lists in both spellings and in every form: what is set is there, whole, and setting what is shown changes nothing."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import reading
import tiny
from sample import tries

KPT, KRM = "# kpt-set: ${L}", '# {"$openapi":"L"}'
HEAD = "apiVersion: example.org/v1\nkind: Example\nmetadata:\n  name: e\nspec:\n"
#: A list of texts in each form; C stands for the comment that binds it.
FORMS = {
    "block": "  l: C\n  - a\n  - b\n",
    "one item": "  l: C\n  - a\n",
    "indented": "  l: C\n    -   a\n    -   b\n",
    "comments": "  l: C\n  # about a\n  - a # one\n\n  # about b\n  - b # two\n  # end\n",
    "quotes": "  l: C\n  - \"a\"\n  - 'b'\n  - ''\n  - a\n",
    "anchors": "  m: &x b\n  l: C\n  - &y a\n  - *x\n",
    "block scalars": "  l: C\n  - |\n    one\n    two\n\n  - >-\n    one\n    line\n",
    "brackets": "  l: [a, 'b'] C\n",
    "brackets on lines": "  l: [\n    a,\n    b] C\n",
    "empty": "  l: [] C\n",
    "no line break at the end": "  l: C\n  - a\n  - b",
}
#: Lists of more than texts.
MORE = {
    "mappings": "  l: C\n  - uri: http://a # one\n    name: r\n  - {uri: 'http://b', name: s}\n",
    "mappings in brackets": "  l: [{uri: 'http://a', name: r}] C\n",
    "lists": "  l: C\n  - - a\n    - b\n  - [c, d]\n",
    "types": "  l: C\n  - 8080\n  - '8080'\n  - true\n  - 'true'\n  - ~\n  -\n  - 1.5\n",
}
ITEMS = ["a", "b", "", "8080", "true", "~", "a, b", "it's", "- x", "k: v", "[z]", "#", " a", "yes"]
VALUES = st.lists(st.sampled_from(ITEMS), max_size=7)
ANY_VALUES = st.lists(
    st.sampled_from([*ITEMS, 8080, True, None, {"uri": "http://a", "name": "r"}, ["x", 1]]), max_size=7
)


def kpt_files(form: str, *, crlf: bool = False, given_as: str = "flow") -> dict[str, bytes]:
    text = HEAD + {**FORMS, **MORE}[form].replace("C", KPT)
    listed = yaml.safe_load(text)["spec"]["l"]
    block = "|\n" + "".join(f"        - {json.dumps(item)}\n" for item in listed) if listed else '""'
    value = {"flow": json.dumps(json.dumps(listed)), "block": block, "": ""}[given_as]
    function = "pipeline:\n  mutators:\n  - image: gcr.io/kpt-fn/apply-setters:v0.2\n    configMap:\n      L: "
    kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n" + (
        f"{function}{value}\n" if value else ""
    )
    files = {"e.yaml": text, "Kptfile": kptfile}
    return {path: (text.replace("\n", "\r\n") if crlf else text).encode() for path, text in files.items()}


def krm_files(form: str, *, crlf: bool = False) -> dict[str, bytes]:
    text = HEAD + FORMS[form].replace("C", KRM)
    listed = json.dumps(yaml.safe_load(text)["spec"]["l"])
    setter = f"x-k8s-cli:\n        setter:\n          name: L\n          listValues: {listed}\n          isSet: true\n"
    definitions = f"openAPI:\n  definitions:\n    io.k8s.cli.setters.L:\n      type: array\n      {setter}"
    files = {"e.yaml": text, "Krmfile": f"apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n{definitions}"}
    return {path: (text.replace("\n", "\r\n") if crlf else text).encode() for path, text in files.items()}


@contextmanager
def written(files: dict[str, bytes]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        tiny.write_all(Path(folder, "package"), files)
        yield Path(folder, "package")


def words(way: str, folder: Path, listed: Sequence[object], *, kpt: bool) -> list[object]:
    """Return a command that sets the list."""
    if way == "values":
        value = json.dumps(listed) if kpt else listed
        (folder.parent / f"{folder.name}.values").write_text(yaml.safe_dump({"L": value}, allow_unicode=True))
        return ["set", folder, "--values", folder.parent / f"{folder.name}.values"]
    command = ["cfg", "set"] if way == "cfg" else ["set"]
    if kpt:
        return [*command, folder, *(["L", json.dumps(listed)] if way == "cfg" else [f"L={json.dumps(listed)}"])]
    return [*command, folder, "L", "--", *listed]


def holds(folder: Path) -> list[object]:
    listed = yaml.safe_load((folder / "e.yaml").read_bytes())["spec"]["l"]
    assert isinstance(listed, list)
    return listed


def sets_what_it_shows(folder: Path) -> None:
    before = reading.files(folder)
    code, out, error = tiny.run("setters", folder, "-o", "yaml")
    assert code == 0, error
    shown = yaml.safe_load(out)["L"]
    listed = (yaml.safe_load(shown) or []) if isinstance(shown, str) else shown  # as in a pipeline
    assert listed in (holds(folder), [])
    values = folder.parent / f"{folder.name}.shown"
    values.write_text(out)
    assert tiny.run("set", folder, "--values", values)[0] == 0
    assert reading.files(folder) == before


def is_set(folder: Path, listed: list[object], way: str, *, kpt: bool) -> None:
    """Set a list, read it, set what is shown, and undo it."""
    before = reading.files(folder)
    code, _, error = tiny.run(*words(way, folder, listed, kpt=kpt))
    assert code == 0, error
    assert holds(folder) == listed
    changed = reading.files(folder)
    sets_what_it_shows(folder)
    if kpt and b"configMap" in changed["Kptfile"]:
        recorded = yaml.safe_load(changed["Kptfile"])["pipeline"]["mutators"][0]["configMap"]["L"]
        assert (yaml.safe_load(recorded) or []) == listed
    if changed != before:
        assert tiny.run("undo", folder)[0] == 0
        assert reading.files(folder) == before


@pytest.mark.parametrize("form", [*FORMS, *MORE])
@settings(max_examples=tries(20))
@given(st.data())
def test_a_list_of_kpt_is_whole_by_every_way(form: str, data: st.DataObject) -> None:
    given_as, crlf = data.draw(st.sampled_from(["flow", "block", ""])), data.draw(st.booleans())
    listed, way = data.draw(ANY_VALUES), data.draw(st.sampled_from(["set", "cfg", "values"]))
    with written(kpt_files(form, crlf=crlf, given_as=given_as)) as folder:
        sets_what_it_shows(folder)
        for each in (holds(folder), [*holds(folder), "n", "o", "p"], listed):
            is_set(folder, each, way, kpt=True)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=tries(20))
@given(st.data())
def test_a_list_of_a_krmfile_is_whole_by_every_way(form: str, data: st.DataObject) -> None:
    listed, way = (
        data.draw(VALUES.filter(lambda texts: texts != [""])),
        data.draw(st.sampled_from(["set", "cfg", "values"])),
    )
    with written(krm_files(form, crlf=data.draw(st.booleans()))) as folder:
        sets_what_it_shows(folder)
        for each in ([*holds(folder), "n", "o", "p"], listed or ["q"]):
            is_set(folder, each, way, kpt=False)
        is_set(folder, [], "values", kpt=False)
