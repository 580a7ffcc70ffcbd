"""packyard import of use cases that are edited copies: what is composed equals what was imported, also once it is set.

`lost.txt` has what the pages of what was lost list. With PACKYARD_WRITE=1, the test writes it, for you to read.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import reading
import tiny
from real import Served
from writing.authoring import imported
from writing.authoring.imported import Imported

LOST = Path(__file__).with_name("lost.txt")
NAMES = ("unet", "ranker", "detector")
USE_CASES = [
    (name, file.parent.relative_to(tiny.TREES / "copies" / name).as_posix())
    for name in NAMES
    for file in sorted((tiny.TREES / "copies" / name).rglob("Krmfile"))
]
#: Setters that no field uses: setting them did nothing.
DEAD = {
    ("unet", "many-nodes/claim"): {"SIZE"},
    ("unet", "one-node/claim"): {"WORKERS"},
    ("ranker", "one-node/claim"): {"NFS_PATH", "NFS_SERVER", "SCRIPT"},
    ("ranker", "one-node/nfs"): {"SCRIPT"},
    ("ranker", "train-and-serve/claim"): {"CLAIM_NAME"},
}
#: Setters that changed a text which they did not yield before, so that the field is bound no more.
TORN = {("ranker", "one-node/claim"): {"HOME_DIR"}, ("ranker", "one-node/nfs"): {"HOME_DIR"}}

each_use_case = pytest.mark.parametrize("use_case", USE_CASES, ids="/".join)


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """Import them all into one workspace."""
    files = {
        name: {path: imported.texts(tiny.TREES / "copies" / name / path) for of, path in USE_CASES if of == name}
        for name in NAMES
    }
    return imported.import_all(tmp_path_factory.mktemp("copies"), files)


def changed(use_case: tuple[str, str], setters: dict[str, tuple[object, ...]]) -> list[tuple[str, str]]:
    """Return the setters that change what they changed before, each with a value."""
    gone = DEAD.get(use_case, set()) | TORN.get(use_case, set())
    return [
        (name, "7" if kind in ("integer", "number") else f"new-{name.lower()}")
        for name, (_, kind, _) in setters.items()
        if name not in gone
    ]


@each_use_case
def test_a_use_case_composes_to_the_objects_that_were_there(copies: Imported, use_case: tuple[str, str]) -> None:
    before, after = (imported.texts(each[use_case]) for each in (copies.before, copies.composed))
    assert imported.objects(after) == imported.objects(before)


@each_use_case
def test_setters_stay_with_description_type_and_value(copies: Imported, use_case: tuple[str, str]) -> None:
    before, after = (imported.setters(each[use_case]) for each in (copies.before, copies.composed))
    assert after == {name: facts for name, facts in before.items() if name not in DEAD.get(use_case, ())}


@each_use_case
def test_setting_a_value_has_the_effect_that_it_had(copies: Imported, use_case: tuple[str, str]) -> None:
    setters = imported.setters(copies.composed[use_case])
    for name, value in changed(use_case, setters):
        before, after = (imported.set_value(each[use_case], name, value) for each in (copies.before, copies.composed))
        assert before == after, f"{name} {value}"
        assert before != imported.objects(imported.texts(copies.before[use_case])), name


@each_use_case
def test_kustomize_builds_what_is_composed_as_it_built_what_was_imported(
    copies: Imported, served5: Served, use_case: tuple[str, str]
) -> None:
    assert reading.built(served5, copies.composed[use_case]) == reading.built(served5, copies.before[use_case])


def test_what_was_lost_or_is_doubtful_is_listed_by_its_place(copies: Imported) -> None:
    lines = [line for name in NAMES for line in copies.list_lost(name).splitlines()]
    found = "".join(f"{line}\n" for line in lines if line.startswith(("#", "- [ ] "))).replace(f"{copies.root}/", "")
    if os.environ.get("PACKYARD_WRITE"):
        LOST.write_text(found)
    assert found == LOST.read_text()
