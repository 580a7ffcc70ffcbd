"""Command lines that are run in a folder: refused ones leave every byte."""

from pathlib import Path

import reading
import tiny


def refused(folder: Path, *words: object, cwd: Path | None = None) -> str:
    """Run a command line that has to be refused, and return what it says; nothing is printed, and no file changes."""
    before = reading.files(folder)
    found = tiny.packyard(*words, cwd=cwd or folder)
    assert (found.returncode, found.stdout) == (1, ""), found
    assert "Traceback" not in found.stderr
    assert reading.files(folder) == before
    return found.stderr
