"""packyard import of use cases that are edited copies: what is composed equals what was imported, also once it is set.

`lost.txt` has what the pages of what was lost list. With PACKYARD_WRITE=1, the test writes it, for you to read.
"""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

import reading
import tiny
from real import Kustomize
from writing.authoring import importing
from writing.authoring.importing import manifests, set_values, setters

LOST = Path(__file__).with_name("lost.txt")
PREFIX = "quickstart/mlops"
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


class Copies(NamedTuple):
    """What was imported into a workspace: the folders of use cases before and after, by package and path."""

    here: Path
    before: dict[tuple[str, str], Path]
    composed: dict[tuple[str, str], Path]


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    """Import them all into one workspace."""
    root = tmp_path_factory.mktemp("copies")
    copied = Copies(importing.workspace(root / "ws", PREFIX), {}, {})
    for name in NAMES:
        for path in (path for of, path in USE_CASES if of == name):
            folder = root / "zoo" / name / PREFIX / path
            copied.before[name, path] = Path(shutil.copytree(tiny.TREES / "copies" / name / path, folder))
        importing.run(copied.here, root / "zoo" / name)
        folders = importing.composed(copied.here, name, root / "composed" / name)
        copied.composed.update({(name, path): folder for path, folder in folders.items()})
    return copied


def changed(use_case: tuple[str, str], setters: dict[str, tuple[object, ...]]) -> list[tuple[str, str]]:
    """Return the setters that change what they changed before, each with a value."""
    gone = DEAD.get(use_case, set()) | TORN.get(use_case, set())
    return [
        (name, "7" if kind in ("integer", "number") else f"new-{name.lower()}")
        for name, (_, kind, _) in setters.items()
        if name not in gone
    ]


@each_use_case
def test_a_use_case_keeps_its_objects_its_setters_and_what_they_change(
    copies: Copies, use_case: tuple[str, str]
) -> None:
    before, after = copies.before[use_case], copies.composed[use_case]
    objects = manifests(before)
    assert manifests(after) == objects
    kept = {name: facts for name, facts in setters(before).items() if name not in DEAD.get(use_case, ())}
    assert setters(after) == kept
    for name, value in changed(use_case, kept):
        results = [set_values(folder, {name: [value]}) for folder in (before, after)]
        assert results[0] == results[1], f"{name} {value}"
        assert results[0] != objects, name


@each_use_case
def test_kustomize_builds_what_is_composed_as_it_built_what_was_imported(
    copies: Copies, kustomize5: Kustomize, use_case: tuple[str, str]
) -> None:
    assert reading.built(kustomize5, copies.composed[use_case]) == reading.built(kustomize5, copies.before[use_case])


def test_what_was_lost_or_is_doubtful_is_listed_by_its_place(copies: Copies) -> None:
    lines = [
        line for name in NAMES for line in (copies.here / "packages" / name / "import.md").read_text().splitlines()
    ]
    found = "".join(f"{line}\n" for line in lines if line.startswith(("#", "- [ ] "))).replace(
        f"{copies.here.parent}/", ""
    )
    if os.environ.get("PACKYARD_WRITE"):
        LOST.write_text(found)
    assert found == LOST.read_text()
