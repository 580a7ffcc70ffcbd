"""Where a setter comment binds a field: our answer beside the real program's, place by place."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from core.files.krmfiles import one_setter
from real import Kustomize
from tiny import done, write

pytestmark = pytest.mark.oracle

KRMFILE = one_setter("foo", '"1"')
HEADER = "apiVersion: example.com/v1\nkind: Sample\n"

#: A document's body; C stands for the comment.
PLACES = {
    "behind a value": "x: 3 C\n",
    "above a key": "C\nx: 3\n",
    "above a key whose value has a note": "C\nx: 3 # note\n",
    "above, with a line above it": "# n\nC\nx: 3\n",
    "above, with a line below it": "C\n# n\nx: 3\n",
    "above, with a blank line below": "C\n\nx: 3\n",
    "above, with a blank line above": "a: 1\n\nC\nx: 3\n",
    "above a nested key": "a:\n  C\n  x: 3\n",
    "above a nested key, not indented": "a:\nC\n  x: 3\n",
    "above a key, indented deeper": "a:\n  y: 1\n    C\nx: 3\n",
    "below a nested key": "a:\n  y: 1\n  C\nx: 3\n",
    "behind the key of a list": "l: C\n- a\n- b\n",
    "behind the key of a mapping": "m: C\n  a: 1\n",
    "behind a flow list": "l: [a, b] C\n",
    "behind nested flow lists": "l: [[a], b] C\n",
    "behind a flow mapping": "m: {a: 1} C\n",
    "behind an empty flow list": "l: [] C\n",
    "behind an item": "l:\n- a C\n- b\n",
    "above an item": "l:\n- a\nC\n- b\n",
    "above the first item": "l:\nC\n- a\n- b\n",
    "above an item with a note": "l:\n- a\nC\n- b # note\n",
    "above an item that is a mapping": "l:\nC\n- b: 2\n  c: 3\n",
    "above an item that is a list": "l:\nC\n- - a\n  - b\n",
    "behind a dash": "l:\n- C\n  b: 2\n",
    "behind a value inside a flow mapping": "m: {a: 1, C\n  b: 2}\n",
    "behind a value inside a flow list": "l: [a, C\n  b]\n",
    "above a value inside a flow list": "l: [\n  C\n  a,\n  b]\n",
    "behind the header of a block scalar": "x: | C\n  text\ny: 1\n",
    "below a block scalar": "x: |\n  text\nC\ny: 1\n",
    "behind quoted text of two lines": 'x: "a\n  b" C\n',
    "behind plain text of two lines": "x: a\n  b C\n",
    "between a key and its value": "x:\n  C\n  abc\n",
    "behind a key without value": "y: C\nz: 1\n",
    "behind an anchor": "v: &a 1 C\nw: *a\n",
    "behind an alias": "v: &a 1\nw: *a C\n",
    "at the end": "a: 1\nC\n",
    "above a list": "C\nl:\n- a\n",
    "above a mapping": "C\nm:\n  a: 1\n",
    "in a second document": f"a: 1\n---\n{HEADER}C\nx: 3\n",
    "behind a separator": f"a: 1\n--- C\n{HEADER}x: 3\n",
    "behind text with a hash": "x: a#b C\n",
}

#: A document's body for a setter of lists.
LIST_PLACES = {
    "behind the key": "l: C\n- a\n",
    "behind the key of several items": "l: C\n- a\n- b\n- c\nz: 1\n",
    "above the key of several items": "C\nl:\n  - a\n  - {b: 1}\n  - c: 1\n    d: 2\nz: 1\n",
    "above the key": "C\nl:\n- a\n",
    "above a key with a note": "C\nl: # note\n- a\n",
    "behind the key, another one above": '# {"$openapi":"other"}\nl: C\n- a\n',
    "above the key, another one behind": 'C\nl: # {"$openapi":"other"}\n- a\n',
    "above a flow list": "C\nl: [a]\n",
    "above an empty flow list": "C\nl: []\n",
    "behind the dash above a list": "m:\n- C\n  l:\n  - a\n",
    "above an item that begins with a list": "m:\nC\n- l:\n  - a\n",
    "above an item that begins with a list that has a note": "m:\nC\n- l: # note\n  - a\n",
    "above an item that begins with a flow list": "m:\nC\n- l: [a]\n",
}

#: Spellings of the comment itself.
SPELLINGS = [
    '# {"$openapi":"foo"}',
    '#{"$openapi":"foo"}',
    '## { "$openapi" : "foo" }',
    '# {"$openapi":"foo","x":"y"}',
    '# {"$openapi":"foo","x":1}',
    '# {"$openapi":["foo"]}',
    '# {"$openapi":"foo"} note',
    '# note {"$openapi":"foo"}',
    "# {'$openapi':'foo'}",
    '# {"$openAPI":"foo"}',
    '# {"$openapi":"io.k8s.cli.setters.foo"}',
    '# {"$openapi":"bar"}',
    '# {"$ref":"#/definitions/io.k8s.cli.setters.foo"}',
    '# {"$ref":"#/definitions/io.k8s.cli.setters.foo","type":"string"}',
    '# {"$ref":"io.k8s.cli.setters.foo"}',
]


#: Where the two lines of kustomize that users set values with do not agree; we are with 3.8.7.
ONLY_3_8_7 = {"above an item that is a mapping", "above an item that is a list", "behind the header of a block scalar"}

LIST_KRMFILE = one_setter("foo", "[a]", "type: array").replace("value:", "listValues:")


def judge(real_set: Callable[..., str], tmp_path: Path, texts: Mapping[str, str], krmfile: str = KRMFILE) -> None:
    """Set what texts say in files beside each other: to start the real program takes longer than all of them."""
    for side in ("theirs", "ours"):
        folder = tmp_path / side
        write(folder / "Krmfile", krmfile)
        for number, text in enumerate(texts.values()):
            (folder / f"{number}.yaml").write_text(text, "utf-8")
    said = [
        real_set("cfg", "set", ".", "foo", "99", cwd=tmp_path / "theirs"),
        done("cfg", "set", tmp_path / "ours", "foo", "99"),
    ]
    theirs, ours = (
        {
            name: list(yaml.load_all((tmp_path / side / f"{number}.yaml").read_text("utf-8"), yaml.CBaseLoader))
            for number, name in enumerate(texts)
        }
        for side in ("theirs", "ours")
    )
    assert ours == theirs
    counts = [text.split("set ")[1].split()[0] for text in said]
    assert counts[1] == counts[0]


def placed(places: Mapping[str, str]) -> dict[str, str]:
    return {name: HEADER + place.replace("C\n", SPELLINGS[0] + "\n") for name, place in places.items()}


def test_a_comment_binds_where_the_real_program_lets_it(kustomize3: Kustomize, tmp_path: Path) -> None:
    judge(kustomize3.done, tmp_path, placed(PLACES))


def test_a_comment_binds_where_kustomize_4_5_4_lets_it(kustomize4: Kustomize, tmp_path: Path) -> None:
    places = {name: place for name, place in PLACES.items() if name not in ONLY_3_8_7}
    judge(kustomize4.done, tmp_path, placed(places))


def test_a_comment_binds_a_list_where_the_real_program_lets_it(kustomize3: Kustomize, tmp_path: Path) -> None:
    judge(kustomize3.done, tmp_path, placed(LIST_PLACES), LIST_KRMFILE)


def test_a_comment_is_read_as_the_real_program_reads_it(kustomize3: Kustomize, tmp_path: Path) -> None:
    judge(kustomize3.done, tmp_path, {spelling: f"{HEADER}x: 3 {spelling}\n" for spelling in SPELLINGS})
