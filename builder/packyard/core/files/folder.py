"""Folders that appear whole: written under another name beside their place, then renamed.

A writer locks what it writes as long as it lives, so that the next one finds what a killed writer left, and removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress

from packyard.core.files import atomic

_STARTING = 60.0  # seconds after which a writer that lives has locked its folder


def write(folder: str, files: Iterable[tuple[str, Iterable[bytes], int]]) -> None:
    """Make a folder of files, each a path, its bytes in pieces, and its mode (less the umask), in one step.

    Raises `OSError` where the name is taken, except by an empty folder.
    """
    _remove_left(folder)
    staged = atomic.beside(folder)
    lock = -1
    try:
        os.mkdir(staged, mode=0o755)
        lock = _locked(staged)
        folders = {staged}
        for path, pieces, mode in files:
            parents = path.split("/")[:-1]
            for length in range(1, len(parents) + 1):
                parent = "/".join([staged, *parents[:length]])
                if parent not in folders:
                    os.mkdir(parent, mode=0o755)
                    folders.add(parent)
            os.close(atomic.create(f"{staged}/{path}", pieces, mode=mode))
        os.rename(staged, folder)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    finally:
        if lock >= 0:
            os.close(lock)


def _remove_left(folder: str) -> None:
    """Remove what writers of this folder left that are dead: nobody locks it, and it is not of just now."""
    parent, name = os.path.split(folder)
    pattern = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError):
        for entry in [each for each in os.listdir(parent or os.curdir) if pattern.fullmatch(each)]:
            lock = _locked(os.path.join(parent, entry))
            if lock < 0:
                continue
            if os.fstat(lock).st_mtime < time.time() - _STARTING:
                shutil.rmtree(os.path.join(parent, entry), ignore_errors=True)
            os.close(lock)


def _locked(folder: str) -> int:
    """Return a folder open and locked, until it is closed or this process ends, or -1 where that is not possible."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return -1
    return handle
