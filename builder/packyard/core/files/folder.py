"""Folders that appear whole: written under another name beside their place, then renamed.

What a killed writer left is removed by the first one that comes an hour later.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress

from packyard.core.files import atomic

_LEFT = 3600  # seconds after which no writer is at work any more


def write(folder: str, files: Iterable[tuple[str, Iterable[bytes], int]]) -> None:
    """Make a folder of files, each a path, its bytes in pieces, and its mode (less the umask), in one step.

    Raises `OSError` where the name is taken, except by an empty folder.
    """
    _remove_left(folder)
    staged = atomic.beside(folder)
    try:
        os.mkdir(staged, mode=0o755)
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


def _remove_left(folder: str) -> None:
    """Remove what writers of this folder left an hour ago or longer."""
    parent, name = os.path.split(folder)
    pattern = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError), os.scandir(parent or os.curdir) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name) and entry.stat(follow_symlinks=False).st_mtime < time.time() - _LEFT:
                shutil.rmtree(entry.path, ignore_errors=True)
