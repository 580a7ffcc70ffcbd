"""A command that is asked to end leaves no program, no worker, no draft and no temporary folder behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import faults
import reading
import real
import tiny

_PACKAGE = real.REPOSITORY / "tests/trees/bert/bases/single-node"
_KUSTOMIZE = """\
#!/bin/sh
case $PWD in */in/in) touch {folder}/begun; cat <>{folder}/never ;; esac
exit 1
"""
_FRAGMENT = "Try it:\n\n```sh\nkustomize build p/u\n```\n"


@contextmanager
def _typing(folder: Path, *before: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield packyard while it types the commands of a README, the first of which does not end."""
    root = tiny.workspace(folder / "zoo")
    tiny.write(root / "packages/p/docs/40-try.md", _FRAGMENT)
    tiny.write(folder / "kustomize", _KUSTOMIZE.format(folder=folder))
    (folder / "kustomize").chmod(0o755)
    os.mkfifo(folder / "never")
    (folder / "tmp").mkdir()
    env = {**os.environ, "TMPDIR": str(folder / "tmp"), "PATH": f"{folder}:{os.environ['PATH']}"}
    command = [*before, *tiny.COMMAND, "test", "p", "--workspace", str(root)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as packyard:
        try:
            until = time.monotonic() + 60
            while not (folder / "begun").exists():
                assert time.monotonic() < until
                time.sleep(0.05)
            yield packyard
        finally:
            packyard.send_signal(signal.SIGINT)


@pytest.mark.nightly
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_the_commands_of_a_readme_end_with_packyard(tmp_path: Path, by: signal.Signals) -> None:
    with _typing(tmp_path) as packyard:
        packyard.send_signal(by)
        _, said = packyard.communicate(timeout=300)
    assert (packyard.returncode, said.decode().splitlines()[-1]) == (130, "interrupted")
    assert list((tmp_path / "tmp").iterdir()) == []
    faults.until_nobody_reads(tmp_path / "never")


@pytest.mark.nightly
def test_a_request_to_end_that_the_caller_ignores_is_ignored(tmp_path: Path) -> None:
    with _typing(tmp_path, "sh", "-c", 'trap "" TERM; exec "$@"', "sh") as packyard:
        packyard.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            packyard.wait(1)


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
