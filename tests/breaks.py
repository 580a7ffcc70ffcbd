"""Whether tests find what they should: each break of ``breaks/`` is made in a copy, and the tests for it are run.

    python tests/breaks.py [NAME…]        all, or those named

A break is a mistake as a change of the code may make it: a patch of ``builder/``. Its text above the diff says what is
wrong then, and behind ``Found by:`` what pytest is told to run; without the break that has to pass.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).with_suffix("")
_FOUND_BY = re.compile(r"^Found by: (.+)$", re.MULTILINE)
_FAILED = re.compile(r"^FAILED (.+?)(?: - .*)?$", re.MULTILINE)
_PASSED, _FAILURES = 0, 1  # exit codes of pytest


def find() -> dict[str, Path]:
    """Return the patches of all breaks by their names, sorted."""
    return {file.stem: file for file in sorted(FOLDER.glob("*.patch"))}


def found_by(patch: Path) -> list[str]:
    """Return the words for pytest that a patch names: paths, and maybe ``-k``."""
    found = _FOUND_BY.search(patch.read_text("utf-8"))
    return shlex.split(found[1]) if found else []


def apply(patch: Path, *flags: str, root: Path = REPOSITORY) -> str:
    """Apply a patch, and return why it does not apply, if so."""
    command = ["git", "apply", "--recount", *flags, str(patch)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True).stderr.strip()


def copy(into: Path) -> None:
    """Copy what git tracks here, or would add, as it is now, beside the same real programs."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=REPOSITORY, capture_output=True, check=True, text=True).stdout.split("\0")
    for name in names:
        if name and os.path.lexists(REPOSITORY / name):
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, into / name, follow_symlinks=False)
    (into / ".tools").symlink_to(REPOSITORY / ".tools")


def judge(patch: Path, root: Path) -> tuple[bool, str]:
    """Return whether the tests that a patch names find it, and what they say."""
    code, said = _pytest(found_by(patch), root)
    if code != _PASSED:
        return False, f"its tests do not pass without it: {_last(said)}"
    if fault := apply(patch, root=root):
        return False, f"does not apply: {fault}"
    code, said = _pytest(found_by(patch), root)
    apply(patch, "--reverse", root=root)
    failed = _FAILED.search(said)
    if code == _FAILURES and failed:
        return True, f"found by {failed[1]}"
    return False, f"NOT FOUND: pytest ended with {code}: {_last(said)}"


def _pytest(words: Sequence[str], root: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *words]
    env = {**os.environ, "PYTHONPATH": str(root / "builder")}  # goes before the package that is installed
    done = subprocess.run(command, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def _last(said: str) -> str:
    return next((line for line in reversed(said.splitlines()) if line.strip()), "nothing was said")


def main(names: Sequence[str]) -> int:
    """Judge breaks, and return 0 if all are found."""
    known = find()
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no break {', '.join(unknown)} in {FOLDER}")
    count = 0
    with tempfile.TemporaryDirectory(prefix="packyard-breaks-") as folder:
        copy(Path(folder))
        for name in names or known:
            is_found, said = judge(known[name], Path(folder))
            print(f"{name}: {said}", flush=True)
            count += is_found
    print(f"{count} of {len(names or known)} breaks are found")
    return int(count < len(names or known))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
