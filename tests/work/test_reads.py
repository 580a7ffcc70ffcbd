from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import workspaces
from packyard.build.assemble import assemble
from packyard.digest import Digest
from packyard.errors import InputError, PackyardError
from packyard.source import workspace
from packyard.work import reads as reading
from packyard.work.reads import Observed, Reads, Shared, SourcePath
from packyard.yaml.sharing import Sharing
from running import environment


def seen(path: Path) -> object:
    """Whatever a path answers, or that it fails."""
    try:
        return [path.is_file(), path.is_dir(), path.exists(), path.is_symlink(), path.read_bytes()]
    except (OSError, PackyardError):
        return "failed"


def plain(answer: object) -> object:
    return sorted(map(str, answer)) if isinstance(answer, list) else answer


#: What can be asked of a path; and what changes the answer, in a folder with a file "file", a folder "folder", a link.
QUESTIONS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "bytes": (lambda root: (root / "file").read_bytes(), lambda root: (root / "file").write_bytes(b"other")),
    "text": (lambda root: (root / "file").read_text("utf-8"), lambda root: (root / "file").write_bytes(b"other")),
    "is_file": (lambda root: (root / "file").is_file(), lambda root: (root / "file").unlink()),
    "is_file new": (lambda root: (root / "new").is_file(), lambda root: (root / "new").touch()),
    "is_dir": (lambda root: (root / "folder").is_dir(), lambda root: (root / "folder").rename(root / "gone")),
    "exists": (lambda root: (root / "new").exists(), lambda root: (root / "new").mkdir()),
    "is_symlink": (lambda root: (root / "link").is_symlink(), lambda root: (root / "link").unlink()),
    "mode": (lambda root: (root / "file").stat().st_mode, lambda root: (root / "file").chmod(0o755)),
    "resolve": (
        lambda root: (root / "link").resolve(),
        lambda root: [(root / "link").unlink(), (root / "link").symlink_to("folder")],
    ),
    "through a link": (
        lambda root: (root / "link").read_bytes(),
        lambda root: [(root / "link").unlink(), (root / "link").symlink_to("folder/below")],
    ),
    "iterdir": (lambda root: list((root / "folder").iterdir()), lambda root: (root / "folder/new").touch()),
    "glob": (lambda root: list(root.glob("*/b*")), lambda root: (root / "folder/below").unlink()),
    "rglob": (lambda root: list(root.rglob("*")), lambda root: (root / "folder/new").touch()),
    "dots": (lambda root: (root / "folder/../file").read_bytes(), lambda root: (root / "file").write_bytes(b"other")),
    "failed": (lambda root: seen(root / "new"), lambda root: (root / "new").touch()),
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
    ask, change = QUESTIONS[question]
    with Reads(root) as reads:
        answer = ask(reads.root_dir)
    assert plain(answer) == plain(ask(root)), "a source path answers as a path does"
    assert reads.facts
    assert Observed(root).agrees(reads.facts)
    change(root)
    assert not Observed(root).agrees(reads.facts)


@pytest.mark.parametrize("question", QUESTIONS)
def test_facts_hold_wherever_the_sources_lie(question: str, root: Path, tmp_path: Path) -> None:
    with Reads(root) as reads:
        QUESTIONS[question][0](reads.root_dir)
    moved = tmp_path / "elsewhere" / "deeper"
    moved.parent.mkdir()
    root.rename(moved)
    assert Observed(moved).agrees(reads.facts)


def test_facts_hold_from_another_working_directory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root.parent)
    with Reads(Path("root")) as reads:
        (reads.root_dir / "file").read_bytes()
    monkeypatch.chdir(root)
    assert Observed(Path()).agrees(reads.facts)
    assert [name for _, name, _ in reads.facts] == ["file"]


def test_a_file_is_read_once_so_that_a_task_sees_one_state_of_it(root: Path) -> None:
    with Reads(root) as reads:
        (reads.root_dir / "file").read_bytes()
        (root / "file").write_bytes(b"other")
        assert (reads.root_dir / "file").read_bytes() == b"one"
    assert not reads.torn
    assert not Observed(root).agrees(reads.facts)


def test_is_torn_where_an_answer_changed_in_between(root: Path) -> None:
    with Reads(root) as reads:
        assert (reads.root_dir / "file").exists()
        assert not reads.torn
        (root / "file").unlink()
        assert not (reads.root_dir / "file").exists()
    assert reads.torn


def both(reads: Reads) -> tuple[bytes, bool]:
    """Ask for two things, one of them within the other."""

    def has_new() -> bool:
        return (reads.root_dir / "new").exists()

    def make() -> tuple[bytes, bool]:
        return (reads.root_dir / "file").read_bytes(), reading.once("new", has_new)

    return reading.once("both", make)


def test_what_was_made_once_rests_on_the_same_facts_for_every_task_of_a_run(root: Path) -> None:
    shared = Shared()
    noted = []
    for _ in range(3):
        with Reads(root, shared) as reads:
            assert both(reads) == both(reads) == (b"one", False)
            assert reading.once("new", lambda: True) is False, "it is made once"
        noted.append(sorted(reads.facts))
        assert not reads.torn
    with Reads(root) as reads:
        both(reads)
    assert noted == [sorted(reads.facts)] * 3
    assert len(noted[0]) == 2


def test_a_run_goes_by_what_its_first_task_saw_and_says_so(root: Path) -> None:
    shared = Shared()
    with Reads(root, shared) as first:
        both(first)
    (root / "file").write_bytes(b"other")
    with Reads(root, shared) as second:
        assert both(second) == (b"one", False)
        assert (second.root_dir / "file").read_bytes() == b"one", "a task sees one state of a file"
    assert second.facts == first.facts
    assert not Observed(root).agrees(second.facts)
    with Reads(root) as third:
        assert both(third) == (b"other", False)


def test_is_torn_where_a_task_saw_another_state_than_the_run(root: Path) -> None:
    shared = Shared()
    with Reads(root, shared) as first:
        both(first)
    (root / "new").touch()
    with Reads(root, shared) as second:
        assert (second.root_dir / "new").exists()
        both(second)
    assert second.torn
    with Reads(root) as third:
        third.once("new", lambda: [(third.root_dir / "new").exists(), (root / "new").unlink()])
        third.once("new again", lambda: (third.root_dir / "new").exists())
    assert third.torn


def test_what_failed_is_not_made_once_but_its_facts_count(root: Path) -> None:
    shared = Shared()
    for _ in range(2):
        with Reads(root, shared) as reads, pytest.raises(InputError, match="new: is not a regular file"):
            reads.once("new", (reads.root_dir / "new").read_bytes)
        assert [(question, name) for question, name, _ in reads.facts] == [("bytes", "new")]


def test_forgets_what_was_made_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_LIMIT", 2)
    made: list[str] = []
    with Reads(root) as reads:
        for name in "abcab":
            reads.once(name, lambda name=name: made.append(name))
    assert made == list("abcab")


#: Ways out of a folder with a link "out" to a folder beside it, in which there is a file "secret" and a folder.
OUTSIDE: dict[str, Callable[[Path], object]] = {
    "dots": lambda root: root / "../outside/secret",
    "dots through a folder": lambda root: root / "folder/../../outside/secret",
    "absolute": lambda root: root / str(root.parent / "outside/secret"),
    "a linked file": lambda root: root / "leak",
    "a linked folder": lambda root: root / "out/secret",
    "a chain of links": lambda root: root / "chain",
    "the folder above": lambda root: root.parent,
    "what is not there": lambda root: root / "out/new",
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
    with Reads(root) as reads:
        path = OUTSIDE[way](reads.root_dir)
        assert isinstance(path, SourcePath)
        for ask in (
            *(path.read_bytes, path.exists, path.is_file, path.is_dir, path.is_symlink, path.stat, path.resolve),
            *(lambda: list(path.iterdir()), lambda: list(path.glob("*")), lambda: list(path.rglob("*"))),
        ):
            with pytest.raises(InputError, match=r"leads to .*, outside of the workspace"):
                ask()
    assert not Observed(root).agrees([("bytes", "leak", str(Digest.of(b"secret")))]), "a cache knows no more"


@pytest.mark.parametrize("path", ["file", "folder/below", "folder/../file", "link", "folder", "."])
def test_a_link_or_dots_that_stay_inside_are_followed(path: str, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").symlink_to(root)
    for start in (root, tmp_path / "elsewhere"):
        with Reads(start) as reads:
            assert (reads.root_dir / path).exists()
            assert (reads.root_dir / path).resolve() == (root / path).resolve()


def test_a_result_made_from_a_file_is_not_found_once_a_link_to_the_same_bytes_outside_took_its_place(
    root: Path, outside: Path
) -> None:
    with Reads(root) as reads:
        (reads.root_dir / "file").read_bytes()
    assert Observed(root).agrees(reads.facts)
    (outside / "copy").write_bytes((root / "file").read_bytes())
    (root / "file").unlink()
    (root / "file").symlink_to(outside / "copy")
    assert not Observed(root).agrees(reads.facts)


def test_what_is_no_regular_file_is_named_and_not_waited_for(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with Reads(root) as reads:
        for name in ("pipe", "folder", "new"):
            with pytest.raises(InputError, match=f"{name}: is not a regular file"):
                (reads.root_dir / name).read_bytes()


def test_names_that_are_no_text_are_noted_as_others_are(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/folder/\xff")).mkdir()
    with Reads(root) as reads:
        assert len(list((reads.root_dir / "folder").iterdir())) == 2
    assert Observed(root).agrees(reads.facts)


@pytest.mark.parametrize(
    "ask",
    [
        lambda path: path.open(),
        lambda path: path.write_bytes(b""),
        lambda path: path.lstat(),
        lambda path: path.read_text(),
        lambda path: path.unlink(),
    ],
)
def test_refuses_what_cannot_be_asked_again(ask: Callable[[Path], object], root: Path) -> None:
    with Reads(root) as reads, pytest.raises(NotImplementedError):
        ask(reads.root_dir / "file")


def test_a_path_made_from_a_source_path_is_one(root: Path) -> None:
    path = SourcePath(root)
    made = [path / "a", path.parent, path.with_name("x"), (path / "a").relative_to(path), path.resolve()]
    made += [*path.iterdir(), *path.glob("*"), *path.rglob("*"), pickle.loads(pickle.dumps(path)), path.absolute()]
    assert {type(item) for item in made} == {SourcePath}


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
from packyard.build.assemble import assemble
from packyard.digest import Digest
from packyard.errors import InputError, PackyardError
from packyard.source import workspace
from packyard.work.reads import Reads
sys.addaudithook(hook)
with Reads(root) as reads:
    names = workspace.read(reads.root_dir).package_names()
    for name in names:
        assemble(workspace.read(reads.root_dir), name, "1.0")
print(json.dumps([sorted(opened), sorted(listed), reads.facts]))
"""


def test_a_package_rests_on_the_same_facts_alone_and_in_a_run_with_others(tmp_path: Path) -> None:
    root = workspaces.copy(tmp_path / "copy", workspaces.names())
    shared = Shared()
    for name in workspaces.names():
        noted = []
        for run in (shared, Shared()):
            with Reads(root, run) as reads, Sharing():
                assemble(workspace.read(reads.root_dir), name, "1.0")
            noted.append(sorted(reads.facts))
        assert noted[0] == noted[1], name


def test_composing_reads_no_source_that_is_not_noted(tmp_path: Path) -> None:
    root = workspaces.copy(tmp_path.resolve() / "copy", workspaces.names())
    command = [sys.executable, "-c", AUDITED, str(root)]
    process = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    opened, listed, facts = json.loads(process.stdout)
    assert len(opened) > 20
    noted = {str((root / name).resolve().relative_to(root)) for question, name, _ in facts if question == "bytes"}
    assert set(opened) == noted
    globbed = [name for question, name, _ in facts if question.startswith("glob")]
    assert all(any(f"{folder}/".startswith(f"{name}/") for name in globbed) for folder in listed), listed
