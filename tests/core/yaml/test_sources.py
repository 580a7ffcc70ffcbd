import os
from collections.abc import Callable
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import InputError
from packyard.core.work.memo import Memo
from packyard.core.yaml.sources import Sources


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "folder").mkdir(parents=True)
    (tmp_path / "root" / "file").write_bytes(b"one")
    (tmp_path / "root" / "folder" / "below").write_bytes(b"two")
    (tmp_path / "root" / "link").symlink_to("file")
    return tmp_path / "root"


def test_a_file_is_read_once_and_is_an_input_of_all_that_was_made_of_it(root: Path) -> None:
    memo = Memo()
    first, second = Sources(root, memo), Sources(root, memo)
    assert first.once("made", lambda: first.once("inner", lambda: first.read("file"))) == b"one"
    (root / "file").write_bytes(b"other")
    assert first.read("file") == b"one"
    assert second.once("made", lambda: b"new") == b"one"
    assert first.inputs == second.inputs == {"file": Digest.of(b"one")}


#: Ways out of a folder with a link "out" to a folder beside it, in which there is a file "secret" and a folder.
OUTSIDE: dict[str, Callable[[Path], str]] = {
    "dots": lambda _: "../outside/secret",
    "dots through a folder": lambda _: "folder/../../outside/secret",
    "absolute": lambda root: str(root.parent / "outside/secret"),
    "a linked file": lambda _: "leak",
    "a linked folder": lambda _: "out/secret",
    "a chain of links": lambda _: "chain",
    "the folder above": lambda _: "..",
    "what is not there": lambda _: "out/new",
}


@pytest.fixture
def outside(root: Path) -> Path:
    (root.parent / "outside" / "folder").mkdir(parents=True)
    (root.parent / "outside" / "secret").write_bytes(b"secret")
    (root / "out").symlink_to("../outside")
    (root / "leak").symlink_to("../outside/secret")
    (root / "chain").symlink_to("folder/../leak")
    return root.parent / "outside"


@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize("way", OUTSIDE)
def test_whoever_asks_learns_nothing_of_what_is_outside_of_the_root(way: str, root: Path) -> None:
    sources, path = Sources(root), OUTSIDE[way](root)
    for ask in (
        *(sources.read, sources.text, sources.documents, sources.exists, sources.is_file, sources.is_folder),
        *(sources.is_link, sources.is_executable, sources.resolve, sources.list),
        lambda path: sources.list(path, "**/*"),
    ):
        with pytest.raises(InputError, match=r"leads to .*, outside of the workspace"):
            ask(path)
    assert not sources.inputs


def test_what_is_no_regular_file_is_named_and_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "pipe")
    sources = Sources(root)
    for name, problem in {
        "pipe": "is not a regular file",
        "folder": "is not a regular file",
        "new": "no such file",
    }.items():
        with pytest.raises(InputError, match=f"{name}: {problem}"):
            sources.read(name)
