"""The root of a channel, under attack: each case of `rooted` is judged as its name says.

The list is that of https://theupdateframework.github.io/specification/latest/#goals-to-protect-against-specific-attacks
and more: rollback, fast-forward, freeze, mix-and-match, key compromise with a threshold, stolen and revoked keys.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packyard.sharing.publishing.refresh import refresh

import reading
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError
from packyard.sharing.index import head
from packyard.sharing.index.access import Publisher
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import TooLongError
from packyard.sharing.trust import root
from sharing import rooted

FILES = Path(__file__).parents[1] / "cases" / "trust"


@pytest.mark.parametrize("name", rooted.CASES)
def test_attack(name: str, tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "channel")
    case = rooted.CASES[name](store)
    if not case.says:
        assert rooted.judged(store, case).number == case.head
        return
    with pytest.raises(IntegrityError) as caught:
        rooted.judged(store, case)
    assert re.search(case.says, str(caught.value)), caught.value


def test_a_root_without_end_is_not_read(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "channel")
    pinned = rooted.put(store, rooted.made())
    store.put(root.key(2), b" " * (root.LIMIT + 1))
    with pytest.raises(TooLongError, match=f"is larger than {root.LIMIT} bytes"):
        rooted.trusted(store, pinned)


@pytest.mark.parametrize("number", [50, 64, 10**12 - 1])
def test_a_head_that_a_stolen_key_wrote_far_ahead_is_undone(tmp_path: Path, number: int) -> None:
    store = DirectoryStore(tmp_path / "channel")
    pinned = rooted.put(store, rooted.made(heads=rooted.role("ci", "ci-2")))
    for _ in range(2):
        rooted.add(store, "ci-2")
    pointer = store.get(head.POINTER)
    history = {each: Digest.of(b"") for each in head.links(number)}
    rooted.add(store, "ci", number=number, history=history)
    rooted.revoke(store, "ci")

    def undo() -> int:
        keys = [rooted.KEYS["ci-2"]]
        return refresh(store, by=Publisher(keys=keys, trusted=rooted.trusted(store, pinned)), number=2).number

    with pytest.raises(IntegrityError, match=r"is missing \(.* remove theirs below index/heads/ and index/head"):
        undo()
    (store.root_dir / head.key(number)).unlink()
    (store.root_dir / head.POINTER).unlink()
    assert undo() == 3
    assert head.latest(store, rooted.trusted(store, pinned)).number == 3
    assert store.get(head.POINTER) != pointer


def test_the_files_for_other_implementations_are_those_of_the_cases(tmp_path: Path) -> None:
    assert sorted(each.name for each in rooted.write(tmp_path)) == sorted(each.name for each in FILES.iterdir())
    assert reading.files(tmp_path) == reading.files(FILES)


def test_the_page_of_attacks_lists_every_case_and_nothing_that_is_not_tried() -> None:
    page = (FILES.parents[2] / "docs/attacks.md").read_text()
    assert set(re.findall(r"`cases/trust/(.+?)`", page)) == set(rooted.CASES)
    tests = FILES.parents[1]
    files = {name: file.read_text() for file in tests.glob("*/**/test_*.py") for name in named(file, tests)}
    listed = re.findall(r"^\| (.+?) \| holds \| `(.+)` \|$", page, re.MULTILINE)
    assert len(listed) + len(rooted.CASES) >= 60
    assert [each for each, file in listed if f"def test_{each.replace(' ', '_')}(" not in files[file]] == []


def named(file: Path, tests: Path) -> list[str]:
    """Return how the page calls a file of tests."""
    whole = f"tests/{file.relative_to(tests).as_posix()}"
    return [whole, file.name] if "sharing" in file.parts else [whole]
