"""A command that is asked to end leaves no program, no worker and no temporary folder behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import commandline
import tiny

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
    command = [*before, *commandline.COMMAND, "test", "p", "--workspace", str(root)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as packyard:
        try:
            until = time.monotonic() + 60
            while not (folder / "begun").exists():
                assert time.monotonic() < until
                time.sleep(0.05)
            yield packyard
        finally:
            packyard.send_signal(signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_the_commands_of_a_readme_end_with_packyard(tmp_path: Path, by: signal.Signals) -> None:
    with _typing(tmp_path) as packyard:
        packyard.send_signal(by)
        _, said = packyard.communicate(timeout=60)
    assert (packyard.returncode, said.decode().splitlines()[-1]) == (130, "interrupted")
    assert list((tmp_path / "tmp").iterdir()) == []
    with pytest.raises(OSError, match="No such device"):  # nobody reads it any more
        os.open(tmp_path / "never", os.O_WRONLY | os.O_NONBLOCK)


@pytest.mark.slow
def test_a_request_to_end_that_the_caller_ignores_is_ignored(tmp_path: Path) -> None:
    with _typing(tmp_path, "sh", "-c", 'trap "" TERM; exec "$@"', "sh") as packyard:
        packyard.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            packyard.wait(1)
