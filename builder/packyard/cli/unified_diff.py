"""Printing what changes in files as unified diffs, for `patch` and `git apply`."""

import difflib
import os
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from packyard.cli import colors, output, streams


def diffs(directory: Path, files: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
    """Print the changes in a directory as one diff, for `patch -p1` in the working directory.

    ``files`` maps paths, relative to the directory, to the bytes before and after. Where not all are below the working
    directory, the diff is for the folder that holds them all, and a message says so.
    """
    base = here = os.getcwd()  # noqa: PTH109  # plain paths, which need not exist
    whole = {os.path.abspath(directory / path): both for path, both in files.items()}  # noqa: PTH100  # without links
    if whole and os.path.commonpath([here, *whole]) != here:
        base = os.path.commonpath([os.path.abspath(directory), *map(os.path.dirname, whole)])  # noqa: PTH100
        output.note(f"the paths of this diff are relative to {base}: patch -p1 -d {base}")
    texts({os.path.relpath(file, base): both for file, both in whole.items()})


def texts(files: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
    """Print the changes of files, by paths below a folder that the reader knows, as one unified diff.

    It is printed byte for byte but for the colors of its lines on a terminal.
    """
    for path, (before, after) in sorted(files.items()):
        for text in _diff(before, after, path).decode("utf-8", "surrogateescape").splitlines(keepends=True):
            bare = text.rstrip("\n")
            style = next((style for begin, style in colors.DIFF if bare.startswith(begin)), "")
            streams.write((colors.painted(bare, style) + text[len(bare) :]).encode("utf-8", "surrogateescape"))


def _diff(before: bytes | None, after: bytes | None, path: str) -> bytes:
    """Return a unified diff for ``patch`` and ``git apply``; empty where nothing differs.

    The file is new without ``before``, and removed without ``after``.
    """
    new = b"/dev/null" if after is None else _quoted(f"b/{path}")
    old = b"/dev/null" if before is None else _quoted(f"a/{path}")
    ours, theirs = list(BytesIO(before or b"")), list(BytesIO(after or b""))  # their lines
    lines = difflib.diff_bytes(difflib.unified_diff, ours, theirs, old, new)
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)


def _quoted(name: str) -> bytes:
    """Return a file's name as git writes it: special characters quoted, a name with a space ended by a tab."""
    quoted = "".join(f"\\{ord(sign):03o}" if sign < " " or sign in '"\\\x7f' else sign for sign in name)
    whole = f'"{quoted}"' if quoted != name else f"{name}\t" if " " in name else name
    return whole.encode("utf-8", "surrogateescape")
