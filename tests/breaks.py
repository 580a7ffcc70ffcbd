"""Whether `make test` finds what it should: each break of ``breaks/`` is made in a copy, and its tests are run there.

    python tests/breaks.py [NAME…]        all, or those named

A break is a mistake as a change of the code may make it: a patch of ``builder/``. Its text above the diff says what is
wrong then, and behind ``Found by:`` which files find it. Of these, what `make test` selects is run first; where that
finds nothing, all of `make test`; and where that does not either, what the nightly has of these files. Without the
break each run has to pass. No more than ``NIGHTLY`` breaks may be found by the nightly alone.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).with_suffix("")
_FOUND_BY = re.compile(r"^Found by: (.+)$", re.MULTILINE)
_FAILED = re.compile(r"^FAILED (.+?)(?: - .*)?$", re.MULTILINE)
_PASSED, _FAILURES, _NO_TESTS = 0, 1, 5  # exit codes of pytest
#: How many breaks `make test` may leave to the nightly.
NIGHTLY = 2
#: All of `make test`, but for the test that every patch still applies, which none does where it is applied.
_ALL = ("--dist", "loadgroup", "-n", str(os.cpu_count()), "--ignore", "tests/test_breaks.py")


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


def judge(patch: Path, root: Path) -> tuple[str, str]:
    """Return which run of tests finds a break, or nothing, and what that says."""
    named = tuple(found_by(patch))
    if fault := apply(patch, "--check", root=root):
        return "", f"does not apply: {fault}"
    said = ""
    for run, words in {"its tests": named, "make test": _ALL, "the nightly": ("--part", "all", *named)}.items():
        code, said = _without_break(words, root)
        if code not in (_PASSED, _NO_TESTS):
            return "", f"its tests do not pass without it: {_last(said)}"
        apply(patch, root=root)
        code, said = _pytest(words, root)
        apply(patch, "--reverse", root=root)
        failed = _FAILED.search(said)
        if code == _FAILURES and failed:
            return run, f"found by {failed[1]}"
        if code not in (_PASSED, _NO_TESTS):
            break
    return "", f"NOT FOUND: pytest ended with {code}: {_last(said)}"


@cache
def _without_break(words: Sequence[str], root: Path) -> tuple[int, str]:
    return _pytest(words, root)


def _pytest(words: Sequence[str], root: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *words]
    env = {**os.environ, "PYTHONPATH": str(root / "builder")}  # goes before the package that is installed
    done = subprocess.run(command, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def _last(said: str) -> str:
    return next((line for line in reversed(said.splitlines()) if line.strip()), "nothing was said")


def main(names: Sequence[str]) -> int:
    """Judge breaks, and return 0 if all are found, and not too many by the nightly alone."""
    known = find()
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no break {', '.join(unknown)} in {FOLDER}")
    runs = []
    with tempfile.TemporaryDirectory(prefix="packyard-breaks-") as folder:
        copy(Path(folder))
        for name in names or known:
            run, said = judge(known[name], Path(folder))
            print(f"{name}: {said}{', of the nightly' if run == 'the nightly' else ''}", flush=True)
            runs.append(run)
    late, lost = runs.count("the nightly"), runs.count("")
    print(f"{len(runs) - late - lost} of {len(runs)} breaks are found by make test, {late} by the nightly alone")
    return int(bool(lost) or late > NIGHTLY)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
