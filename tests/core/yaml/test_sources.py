from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from catalogue import workspaces
from packyard.core.digest import Digest
from packyard.core.errors import InputError, PackyardError
from packyard.core.work.memo import Memo
from packyard.core.yaml.sources import Observed, Sources
from packyard.writing.build.assemble import assemble
from packyard.writing.source import workspace
from sample import SEED, WHOLE
from tiny import environment

Ask = Callable[[Sources], object]


def seen(sources: Sources, path: str) -> object:
    """Whatever a path answers, or that it fails."""
    try:
        return [sources.is_file(path), sources.is_folder(path), sources.exists(path), sources.is_link(path),
                sources.read(path)]  # fmt: skip
    except (OSError, PackyardError):
        return "failed"


#: Questions, their answers in a folder with a file "file", a folder "folder" and a link, and what changes the answers.
QUESTIONS: dict[str, tuple[Ask, object, Callable[[Path], object]]] = {
    "bytes": (lambda it: it.read("file"), b"one", lambda root: (root / "file").write_bytes(b"other")),
    "text": (lambda it: it.text("file").text, "one", lambda root: (root / "file").write_bytes(b"other")),
    "documents": (lambda it: len(it.documents("file")), 1, lambda root: (root / "file").write_bytes(b"other")),
    "is_file": (lambda it: it.is_file("file"), True, lambda root: (root / "file").unlink()),
    "is_file new": (lambda it: it.is_file("new"), False, lambda root: (root / "new").touch()),
    "is_folder": (lambda it: it.is_folder("folder"), True, lambda root: (root / "folder").rename(root / "gone")),
    "exists": (lambda it: it.exists("new"), False, lambda root: (root / "new").mkdir()),
    "is_link": (lambda it: it.is_link("link"), True, lambda root: (root / "link").unlink()),
    "is_executable": (lambda it: it.is_executable("file"), False, lambda root: (root / "file").chmod(0o755)),
    "resolve": (
        lambda it: it.resolve("link"),
        "file",
        lambda root: [(root / "link").unlink(), (root / "link").symlink_to("folder")],
    ),
    "through a link": (
        lambda it: it.read("link"),
        b"one",
        lambda root: [(root / "link").unlink(), (root / "link").symlink_to("folder/below")],
    ),
    "list": (lambda it: it.list("folder"), ["folder/below"], lambda root: (root / "folder/new").touch()),
    "list nothing": (lambda it: it.list("new"), [], lambda root: [(root / "new").mkdir(), (root / "new/a").touch()]),
    "list by a pattern": (
        lambda it: it.list("", "*/b*"),
        ["folder/below"],
        lambda root: (root / "folder/below").unlink(),
    ),
    "list all": (
        lambda it: it.list("", "**/*"),
        ["file", "folder", "folder/below", "link"],
        lambda root: (root / "folder/new").touch(),
    ),
    "dots": (lambda it: it.read("folder/../file"), b"one", lambda root: (root / "file").write_bytes(b"other")),
    "failed": (lambda it: seen(it, "new"), "failed", lambda root: (root / "new").touch()),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "folder").mkdir(parents=True)
    (tmp_path / "root" / "file").write_bytes(b"one")
    (tmp_path / "root" / "folder" / "below").write_bytes(b"two")
    (tmp_path / "root" / "link").symlink_to("file")
    return tmp_path / "root"


@pytest.mark.parametrize("question", QUESTIONS)
def test_facts_hold_until_an_answer_is_another(question: str, root: Path) -> None:
    ask, expected, change = QUESTIONS[question]
    sources = Sources(root)
    assert ask(sources) == expected
    assert sources.facts
    assert Observed(root).agrees(sources.facts)
    change(root)
    assert not Observed(root).agrees(sources.facts)


def both(sources: Sources) -> tuple[bytes, bool]:
    """Ask for two things, one of them within the other."""
    return sources.once("both", lambda: (sources.read("file"), sources.once("new", lambda: sources.exists("new"))))


def test_is_torn_where_a_task_saw_another_state_than_the_run(root: Path) -> None:
    memo = Memo()
    both(Sources(root, memo))
    (root / "new").touch()
    second = Sources(root, memo)
    assert second.exists("new")
    both(second)
    assert second.torn
    third = Sources(root)
    third.once("new", lambda: [third.exists("new"), (root / "new").unlink()])
    third.once("new again", lambda: third.exists("new"))
    assert third.torn


def test_what_a_torn_task_made_is_made_again(root: Path) -> None:
    memo = Memo()
    first = Sources(root, memo)
    first.once("torn", lambda: [first.exists("file"), (root / "file").unlink(), first.exists("file")])
    assert first.torn
    second = Sources(root, memo)
    assert second.once("torn", lambda: second.exists("file")) is False
    assert not second.torn


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
    assert not Observed(root).agrees([("bytes", "leak", str(Digest.of(b"secret")))]), "a cache knows no more"


@pytest.mark.parametrize("path", ["file", "folder/below", "folder/../file", "link", "folder", ".", ""])
def test_a_link_or_dots_that_stay_inside_are_followed(path: str, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").symlink_to(root)
    for start in (root, tmp_path / "elsewhere"):
        sources = Sources(start)
        assert sources.exists(path)
        assert root / sources.resolve(path) == (root / path).resolve()


def test_an_absolute_path_below_the_root_is_followed_there_only(root: Path, tmp_path: Path) -> None:
    sources = Sources(root)
    assert sources.read(str(root / "file")) == b"one"
    assert Observed(root).agrees(sources.facts)
    root.rename(tmp_path / "moved")
    assert not Observed(tmp_path / "moved").agrees(sources.facts)


def test_a_result_made_from_a_file_is_not_found_once_a_link_to_the_same_bytes_outside_took_its_place(
    root: Path, outside: Path
) -> None:
    sources = Sources(root)
    sources.read("file")
    assert Observed(root).agrees(sources.facts)
    (outside / "copy").write_bytes((root / "file").read_bytes())
    (root / "file").unlink()
    (root / "file").symlink_to(outside / "copy")
    assert not Observed(root).agrees(sources.facts)


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


AUDITED = """
import json, os, sys
from pathlib import Path
root = Path(sys.argv[1])
opened, listed = set(), set()
def hook(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, os.PathLike)):
        path = os.path.realpath(arguments[0])
        if path.startswith(f"{root}/"):
            (opened if event == "open" else listed).add(path[len(str(root)) + 1:])
from packyard.writing.build.assemble import assemble
from packyard.core.digest import Digest
from packyard.core.errors import InputError, PackyardError
from packyard.writing.source import workspace
sys.addaudithook(hook)
here = workspace.read(root)
for name in here.package_names():
    assemble(here, name, "1.0")
print(json.dumps([sorted(opened), sorted(listed), here.sources.facts]))
"""


def sampled() -> list[str]:
    """Return packages of the catalogue: all in the nightly, otherwise three."""
    return workspaces.names() if WHOLE else random.Random(SEED).sample(workspaces.names(), 3)


@pytest.mark.nightly
def test_a_package_rests_on_the_same_facts_alone_and_in_a_run_with_others(tmp_path: Path) -> None:
    root = workspaces.copy(tmp_path / "copy", sampled())
    memo = Memo()
    for name in sampled():
        noted = []
        for run in (memo, Memo()):
            here = workspace.read(root, run)
            assemble(here, name, "1.0")
            noted.append(sorted(here.sources.facts))
        assert noted[0] == noted[1], name


@pytest.mark.nightly
def test_composing_reads_no_source_that_is_not_noted(tmp_path: Path) -> None:
    root = workspaces.copy(tmp_path.resolve() / "copy", sampled())
    command = [sys.executable, "-c", AUDITED, str(root)]
    process = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    opened, listed, facts = json.loads(process.stdout)
    assert len(opened) > 20
    noted = {str((root / name).resolve().relative_to(root)) for question, name, _ in facts if question == "bytes"}
    assert set(opened) == noted
    asked = [name for question, name, _ in facts if question.startswith("list")]
    assert all(any(f"{folder}/".startswith(f"{name}/") for name in asked) for folder in listed), listed
