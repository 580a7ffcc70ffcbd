"""The files of a library in a git repository at a commit, or at a tag.

Nothing of the repository is run: it is fetched into an empty repository without hooks, by the protocols that are
allowed, and its files are written as they are stored, past filters and attributes. A commit is named by its digest, so
that git gives that one or none.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packyard.core.bundle.archive import LIMITS, Member
from packyard.core.errors import InputError, UnavailableError
from packyard.core.files.git import command, environment
from packyard.core.work import process
from packyard.core.work.process import Done
from packyard.writing.source.library import CONTENT
from packyard.writing.source.library_entry import COMMIT, PROTOCOLS, Entry

_CONFIGURATION = (
    *("-c", "transfer.fsckObjects=true", "-c", "protocol.version=2", "-c", "submodule.recurse=false"),
    *("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60"),  # bytes a second, seconds
)
_SECONDS = 600  # for each call of git
_LISTED = 64 * 1024**2  # bytes of the list of files: trees that hold trees twice grow without end
_MOST = LIMITS.total_size + _LISTED  # bytes that are fetched, or read
_ALL = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_MODES = {"100644": False, "100755": True}


def read(entry: Entry, pinned: str = "") -> tuple[str, list[Member]]:
    """Fetch a repository, and return a commit with the files of the library at its root.

    It is the commit that is ``pinned``, or that of the entry, or of the tag that the entry names.
    """
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        repository = Path(folder, "repository.git")
        _run(entry, repository, "init", "--quiet", "--bare", "--template=")
        commit = pinned or entry.commit or _tagged(entry, repository)
        if not COMMIT.fullmatch(commit):
            raise InputError(entry.problem(f"is pinned at {commit[:80]!r}, which is no commit", "packyard update"))
        _fetch(entry, repository, commit)
        return commit, list(_members(entry, repository, commit))


def _tagged(entry: Entry, repository: Path) -> str:
    """Return the commit of a tag, which may move: packyard.lock pins the commit."""
    tag = f"refs/tags/{entry.tag}"
    listed = _run(entry, repository, *_CONFIGURATION, "ls-remote", "--quiet", "--", entry.git, tag, f"{tag}^{{}}")
    lines = (line.partition("\t") for line in listed.decode("utf-8", "replace").splitlines())
    commits = {name: digest for digest, _, name in lines}
    commit = commits.get(f"{tag}^{{}}") or commits.get(tag)  # that of an annotated tag, or of another
    if not commit:
        raise InputError(entry.problem(f"has no tag {entry.tag} in {entry.git}", "correct `tag`"))
    return commit


def _fetch(entry: Entry, repository: Path, commit: str) -> None:
    """Fetch the commit alone, or everything from a server that gives no commits."""
    words = (*_CONFIGURATION, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
    address = ("--", entry.git)
    if _git(entry, repository, *words, "--depth=1", *address, commit).code:
        _run(entry, repository, *words, *address, *_ALL)
    if _git(entry, repository, "cat-file", "-e", f"{commit}^{{commit}}").code:
        hint = "correct `commit`" if entry.commit else f"packyard update {entry.name} pins that of the tag"
        raise InputError(entry.problem(f"has no commit {commit} in {entry.git}", hint))


def _members(entry: Entry, repository: Path, commit: str) -> Iterator[Member]:
    words = ("ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", *CONTENT)
    listed = _run(entry, repository, *words, most=_LISTED)
    lines = (line.partition("\t") for line in listed.decode("utf-8", "surrogateescape").split("\0") if line)
    rows = [(*fields.split(), path) for fields, _, path in lines]
    total = 0
    for mode, kind, _, size, path in rows:
        if mode not in _MODES or kind != "blob":
            raise InputError(entry.problem(f"has {path!r}, which is not a file", "a library has files and folders"))
        total += int(size)
        if total > LIMITS.total_size or int(size) > LIMITS.file_size or len(rows) > LIMITS.entries:
            raise InputError(entry.problem("is too large for a library"))
    blobs = "".join(f"{digest}\n" for _, _, digest, _, _ in rows)
    stored = io.BytesIO(_run(entry, repository, "cat-file", "--batch", data=blobs.encode()))
    for mode, *_, path in rows:
        header = stored.readline().split()  # digest, kind, size
        yield Member(path=path, data=stored.read(int(header[2])), executable=_MODES[mode])
        stored.readline()


def _run(entry: Entry, repository: Path, *words: str, data: bytes = b"", most: int = _MOST) -> bytes:
    result = _git(entry, repository, *words, data=data, most=most)
    if result.code:
        raise _failed(entry, " ".join(result.stderr.decode("utf-8", "replace").split()) or f"exit code {result.code}")
    return result.output


def _git(entry: Entry, repository: Path, *words: str, data: bytes = b"", most: int = _MOST) -> Done:
    """Run git, whatever GIT_DIR says; over any protocol, what it fetches and what it prints are bounded."""
    try:
        return process.run(
            command(repository.parent, f"--git-dir={repository}", *words),
            folder=repository.parent,
            env=environment(GIT_ALLOW_PROTOCOL=":".join(PROTOCOLS), GIT_TERMINAL_PROMPT="0"),
            data=data,
            seconds=_SECONDS,
            most=most,
        )
    except UnavailableError as error:
        raise _failed(entry, f"git {error}") from error


def _failed(entry: Entry, reason: str) -> UnavailableError:
    return UnavailableError(entry.problem(f"cannot be fetched from {entry.git}: {reason}"))
