"""A command that is asked to end leaves no program, no worker, no draft and no temporary folder behind."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import reading
import real

_PACKAGE = real.REPOSITORY / "tests/trees/bert/bases/single-node"
_STAGING = """\
import pathlib, sys, time
from packyard.core.files import inplace
stage = inplace.stage
def slow(*args, **kwargs):
    staged = stage(*args, **kwargs)
    pathlib.Path(sys.argv[1]).touch()
    time.sleep(0.5 if sys.argv[2] == "on" else 60)
    return staged
inplace.stage = slow
from packyard.cli.main import main
sys.exit(main(sys.argv[3:]))
"""
_SET = ("set", "{}", "WORKERS=7")
_CFG = ("cfg", "set", "{}", "WORKERS", "7")


@pytest.mark.parametrize("verb", [_SET, _CFG], ids=["set", "cfg set"])
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_verb_that_changes_files_leaves_no_draft(tmp_path: Path, by: signal.Signals, verb: tuple[str, ...]) -> None:
    with _setting(tmp_path, verb, "wait") as packyard:
        packyard.send_signal(by)
        _, said = packyard.communicate(timeout=300)
    assert (packyard.returncode, said.decode()) == (130, "interrupted\n")
    assert reading.files(tmp_path / "package") == reading.files(_PACKAGE)


def test_a_terminal_that_is_closed_does_not_end_what_nohup_started(tmp_path: Path) -> None:
    with _setting(tmp_path, _SET, "on", "sh", "-c", 'trap "" HUP; exec "$@"', "sh") as packyard:
        packyard.send_signal(signal.SIGHUP)
        assert packyard.wait(60) == 0
    changed = reading.files(tmp_path / "package")
    assert b"parallelism: 7" in changed["job.yaml"]
    assert changed.keys() == reading.files(_PACKAGE).keys()


@contextmanager
def _setting(folder: Path, verb: tuple[str, ...], how: str, *before: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield packyard while it stages a changed file, which takes long, or, if it goes ``on``, half a second."""
    package = shutil.copytree(_PACKAGE, folder / "package")
    words = [word.format(package) for word in verb]
    command = [*before, sys.executable, "-c", _STAGING, str(folder / "begun"), how, *words]
    with subprocess.Popen(
        command,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # also where nohup started these tests
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as packyard:
        until = time.monotonic() + 60
        while not (folder / "begun").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        yield packyard
