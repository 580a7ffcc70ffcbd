"""Each system call of a change fails once, and is killed once: files are old or new, and the next command completes it.

On files of every kind, and with an edit of somebody's between the kill and the next command, which has to survive. A
sample of the places; all of them with PACKYARD_FUZZ, as in `make fuzz`.
"""

import ctypes
import errno
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import real
from core.files.krmfiles import FIELD, FILES, make_package
from faults import SOMEBODY, WRITING, Faulty, Outcome, become, forked, leftovers, recover
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.core.files.undo import History
from packyard.using.setting import set_values

WHOLE = bool(os.environ.get("PACKYARD_FUZZ"))
PLACES = 2  # of each kind, command and way, where not all are tried
ERRORS = (errno.ENOSPC, errno.EIO, errno.EPERM, errno.EACCES, errno.EROFS)
MINE = b"# mine\n"


class Case:
    """A package with files of one kind, and how a process comes to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "package"

    def make(self) -> None:
        """Make the package anew."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o755)
        make_package(self.root)
        (self.folder / "packyard/steps").mkdir(parents=True)
        self.arrange()

    def arrange(self) -> None:
        """Let the files be of the kind."""

    def enter(self) -> None:
        """Prepare the process."""

    def files(self) -> dict[str, Path]:
        """Return where the bytes of each file are."""
        names = sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file())
        return {name: self.root / name for name in names if ".packyard-" not in name}

    def log(self, title: str = "") -> StepLog:
        """Return the step log of the process."""
        return StepLog(self.folder / "packyard/steps", title)

    def content(self) -> dict[str, bytes]:
        return {name: file.read_bytes() for name, file in self.files().items()}

    def run(self, command: Callable[["Case"], object], faulty: Faulty | None = None) -> Outcome:
        def entered() -> None:
            self.enter()
            command(self)

        return forked(entered, faulty)


class Linked(Case):
    """One file has a name outside of the package too, and another is a link to a file that does not end in .yaml."""

    def arrange(self) -> None:
        (self.folder / "other.txt").hardlink_to(self.root / "one.yaml")
        (self.root / "two.yaml").rename(self.root / "two.txt")
        (self.root / "two.yaml").symlink_to("two.txt")


class Noted(Case):
    """One file has extended attributes, a mode of its own, and bytes of more than one block of a disk."""

    def arrange(self) -> None:
        file = self.root / "sub/three.yaml"
        file.write_text(FIELD + "# text\n" * 3000, "utf-8")
        try:
            os.setxattr(file, "user.note", b"x")
        except OSError:
            pytest.skip("this file system has no extended attributes")
        file.chmod(0o640)


class Mounted(Case):
    """One file is mounted from elsewhere, and has bytes of more than one block of a disk."""

    def arrange(self) -> None:
        (self.folder / "mounted.yaml").write_text(FIELD + "# text\n" * 3000, "utf-8")

    def enter(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        private, bind = 0x44000, 0x1000
        for done in (
            libc.unshare(0x20000),
            libc.mount(b"none", b"/", None, private, None),
            libc.mount(bytes(self.folder / "mounted.yaml"), bytes(self.root / "two.yaml"), None, bind, None),
        ):
            assert not done, os.strerror(ctypes.get_errno())

    def files(self) -> dict[str, Path]:
        return {**super().files(), "two.yaml": self.folder / "mounted.yaml"}


class Foreign(Case):
    """The files are another user's, who lets all write."""

    def arrange(self) -> None:
        for folder in (self.root, self.root / "sub", self.folder / "packyard/steps"):
            os.chown(folder, SOMEBODY, SOMEBODY)
        for file in self.files().values():
            file.chmod(0o666)

    def enter(self) -> None:
        become(SOMEBODY)


class Closed(Foreign):
    """In one folder no file can be made."""

    def arrange(self) -> None:
        super().arrange()
        os.chown(self.root / "sub", 0, 0)


KINDS = {"plain": Case, "linked": Linked, "noted": Noted, "mounted": Mounted, "foreign": Foreign, "closed": Closed}


def set_to(value: str) -> Callable[[Case], object]:
    def command(case: Case) -> None:
        set_values(case.root, {"V": [value]}, log=case.log(value))

    return command


def undo(case: Case) -> None:
    history = History(case.log(), Tree(case.root), [case.root], lambda _path, _then, _now, back: back)
    history.take_back(next(history.shown(), None) or history.hindered())


def rearrange(case: Case) -> None:
    """Make a file, remove one, and change two."""
    tree = Tree(case.root)
    with tree.locked(case.log()):
        read = {name: tree.read(name) for name in FILES}
        changed = {name: data.replace(b": a", b": b") for name, data in read.items()}
        tree.write({**changed, "sub/three.yaml": None, "sub/new.yaml": FIELD.encode()})


COMMANDS: dict[str, Callable[[Case], object]] = {"set": set_to("b"), "undo": undo, "make and remove": rearrange}


def can(kind: str) -> bool:
    if kind not in ("mounted", "foreign", "closed"):
        return True
    command = [real.program("unshare"), "-m", "true"]
    return os.geteuid() == 0 and not subprocess.run(command, capture_output=True).returncode


@pytest.mark.nightly
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_change_that_fails_or_is_killed_at_any_call_leaves_old_or_new_files_and_a_second_one_completes(
    kind: str, command: str, open_dir: Path
) -> None:
    if not can(kind):
        pytest.skip("needs root and namespaces")
    case = KINDS[kind](open_dir / "case")
    dice = random.Random(f"{kind} {command} {os.environ.get('PACKYARD_FUZZ', '')}")

    def start() -> dict[str, bytes]:
        case.make()
        if command == "undo":
            assert case.run(set_to("b")).code == (1 if kind == "closed" else 0)
        return case.content()

    old = start()
    refused = kind == "closed"
    for way in ("fails", "dies", "dies before an edit"):
        names = () if WHOLE and way == "fails" else WRITING  # a look at a file changes nothing that a kill could leave
        whole = case.run(COMMANDS[command], Faulty(0, names=names))
        assert whole.code == (1 if refused else 0), whole.text
        new = case.content()
        assert (new == old) == refused
        places = range(1, whole.calls + 1)
        for at in places if WHOLE else sorted(dice.sample(places, min(PLACES, len(places)))):
            assert start() == old
            error = dice.choice(ERRORS) if way == "fails" else None
            outcome = case.run(COMMANDS[command], Faulty(at, error, names=names))
            told = f"{kind}, {command}, call {at} of {whole.calls} {way} ({error}): {outcome}"
            if way == "fails":
                assert outcome.code in (0, 1), told
                assert case.content() == (old if outcome.code else new), told
            else:
                assert outcome.code == (-9), told
            edited = dice.choice(sorted(case.files())) if way == "dies before an edit" else ""
            complete(case, told, [old, new], edited=edited)
        assert start() == old


def complete(case: Case, told: str, states: Sequence[dict[str, bytes]], *, edited: str = "") -> None:
    """One more command completes, with an edit that somebody made before it."""
    if edited:
        with case.files()[edited].open("ab") as file:
            file.write(MINE)
    if not isinstance(case, Closed):
        outcome = case.run(lambda case: go_on(case, states, edited))
        assert outcome.code == 0, f"{told}; then {outcome.text}"


def go_on(case: Case, states: Sequence[dict[str, bytes]], edited: str) -> None:
    looks = case.content()
    set_values(case.root, {"V": ["c"]}, dry_run=True)
    assert case.content() == looks
    recover(case.root, case.log())
    assert edited or case.content() in states
    assert not leftovers(case.root)
    before = case.content()
    set_to("c")(case)
    found = case.content()
    assert all(data.startswith(b"x: c ") for name, data in found.items() if name.endswith(".yaml"))
    assert not edited or edited not in found or found[edited].endswith(MINE)
    assert not leftovers(case.root)
    undo(case)
    assert case.content() == before
