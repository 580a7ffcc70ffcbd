"""The files of a library in a git repository at a commit.

Nothing of the repository is run: it is fetched into an empty repository without hooks, by the protocols that are
allowed, and its files are written as they are stored, past filters and attributes. A commit is named by its digest, so
that git gives that one or none.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packyard.bundle.archive import LIMITS, Member
from packyard.errors import InputError, Problem, UnavailableError
from packyard.source.library import CONTENT
from packyard.source.library_entry import PROTOCOLS, Entry
from packyard.source.revision import git

_CONFIGURATION = (
    *("-c", "transfer.fsckObjects=true", "-c", "protocol.version=2", "-c", "submodule.recurse=false"),
    *("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60"),  # bytes a second, seconds
)
_ALL = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_MODES = {"100644": False, "100755": True}


def read(entry: Entry) -> list[Member]:
    """Fetch a repository, and return the files of the library at its root, as they are at the commit of the entry."""
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        repository = Path(folder, "repository.git")
        _run(entry, repository, "init", "--quiet", "--bare", "--template=")
        _fetch(entry, repository)
        return list(_members(entry, repository))


def _fetch(entry: Entry, repository: Path) -> None:
    """Fetch the commit alone, or everything from a server that gives no commits."""
    words = (*_CONFIGURATION, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
    address = ("--", entry.git)
    if _git(repository, *words, "--depth=1", *address, entry.commit).returncode:
        _run(entry, repository, *words, *address, *_ALL)
    if _git(repository, "cat-file", "-e", f"{entry.commit}^{{commit}}").returncode:
        raise InputError(entry.problem(f"has no commit {entry.commit} in {entry.git}", "correct `commit`"))


def _members(entry: Entry, repository: Path) -> Iterator[Member]:
    listed = _run(entry, repository, "ls-tree", "-r", "-l", "-z", "--full-tree", entry.commit, "--", *CONTENT)
    found = [line.partition("\t") for line in listed.decode("utf-8", "surrogateescape").split("\0") if line]
    total = 0
    for fields, _, path in found:
        mode, kind, blob, size = fields.split()
        if mode not in _MODES or kind != "blob":
            raise InputError(entry.problem(f"has {path!r}, which is not a file", "a library has files and folders"))
        total += int(size)
        if total > LIMITS.total_size or int(size) > LIMITS.file_size or len(found) > LIMITS.entries:
            raise InputError(entry.problem("is too large for a library"))
        yield Member(path=path, data=_run(entry, repository, "cat-file", "blob", blob), executable=_MODES[mode])


def _run(entry: Entry, repository: Path, *words: str) -> bytes:
    done = _git(repository, *words)
    if done.returncode:
        reason = " ".join(done.stderr.decode("utf-8", "replace").split()) or f"exit code {done.returncode}"
        raise UnavailableError(Problem(f"the library {entry.name} cannot be fetched from {entry.git}: {reason}",
                                       file=entry.file, line=entry.line))  # fmt: skip
    return done.stdout


def _git(repository: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    allowed = {"GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS), "GIT_TERMINAL_PROMPT": "0"}
    return git(repository.parent, f"--git-dir={repository}", *words, **allowed)  # whatever GIT_DIR says
