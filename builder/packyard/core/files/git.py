"""The git revision that sources are at, and what differs from it; and the sources as they were at a revision.

Sources need no git: then there is no revision. git is asked, and never told to change anything.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from packyard.core.errors import InputError, Problem, UnavailableError

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_SCP = re.compile(r"([\w.-]+@)?([\w.-]+):(?!/)([\w./~-]+)")
#: What a repository may have git run, but for filters; ``explicit``: no bare repository among the sources.
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit")
_NOTHING = "PACKYARD_NOTHING"  # an empty variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A commit, where its repository is fetched from (empty: nobody knows), and the folder of the sources in it.

    ``changed`` are paths below the root of the sources that differ from the commit; one with a ``/`` at the end stands
    for all below it. ``removed`` says whether files of the commit are missing.
    """

    commit: str
    url: str = ""
    folder: str = ""
    changed: frozenset[str] = frozenset()
    removed: bool = False

    def is_dirty(self, inputs: Iterable[str]) -> bool:
        """Return whether any of the files that were read differs from the commit, or may be missing."""
        folders = tuple(path for path in self.changed if path.endswith("/"))
        return self.removed or any(path in self.changed or path.startswith(folders) for path in inputs)


def find(root_dir: Path) -> Revision | None:
    """Return the revision of the sources in a folder, or None where git does not know them."""
    commit = _ask(root_dir, "rev-parse", "--verify", "HEAD").strip()
    if not _COMMIT.fullmatch(commit):
        return None
    folder = _ask(root_dir, "rev-parse", "--show-prefix").rstrip("\n")
    tokens = iter(_status(root_dir, "-z", "--untracked-files=all", "--ignored=matching").split("\0"))
    changed, removed = set(), False
    for token in filter(None, tokens):
        state, path = token[:2], token[3:]
        changed.add(path.removeprefix(folder))
        removed = removed or "D" in state
        if "R" in state or "C" in state:  # followed by the former name
            next(tokens)
            removed = True
    url = _public(_ask(root_dir, "config", "--get", "remote.origin.url").strip())
    return Revision(commit=commit, url=url, folder=folder.rstrip("/"), changed=frozenset(changed), removed=removed)


def has(root_dir: Path, commit: str) -> bool:
    """Return whether the repository around a folder has a commit."""
    return bool(_COMMIT.fullmatch(commit)) and _ask(root_dir, "cat-file", "-t", commit).strip() == "commit"


def parting(root_dir: Path, name: str) -> str:
    """Return the commit at which HEAD and a revision part ways: what was changed since then is not in the revision.

    Raises `InputError` with the next command where git does not know it.
    """
    if not _ask(root_dir, "rev-parse", "--show-toplevel"):
        hint = "packyard diff OLD NEW compares two folders"
        raise InputError(Problem("is in no git checkout", file=str(root_dir), hint=hint))
    is_shallow = _ask(root_dir, "rev-parse", "--is-shallow-repository").strip() == "true"
    if not _commit(root_dir, "HEAD"):
        raise InputError(Problem("the repository has no commit yet", file=str(root_dir), hint="git commit makes one"))
    commit = "" if name.startswith("-") or not name.isprintable() else _commit(root_dir, name)
    if not commit:
        hint = (
            "git fetch --unshallow fetches what a shallow clone lacks" if is_shallow else "git log --all lists commits"
        )
        raise InputError(Problem(f"there is no revision {name[:80]!r}", file=str(root_dir), hint=hint))
    base = _ask(root_dir, "merge-base", commit, "HEAD").strip()
    if not _COMMIT.fullmatch(base):
        why = "in this shallow clone" if is_shallow else "in common"
        hint = (
            "git fetch --unshallow"
            if is_shallow
            else f"packyard diff compares two folders: git worktree add OLD {commit}"
        )
        raise InputError(Problem(f"{name!r} and HEAD have no history {why}", file=str(root_dir), hint=hint))
    return base


def has_changes(root_dir: Path) -> bool:
    """Return whether files below a folder differ from HEAD, or are not known to git."""
    return bool(_status(root_dir))


def _commit(root_dir: Path, name: str) -> str:
    """Return the commit that a name stands for, or an empty text."""
    commit = _ask(root_dir, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").strip()
    return commit if _COMMIT.fullmatch(commit) else ""


def check_out(root_dir: Path, commit: str, into: Path) -> Path:
    """Write the sources of a folder as they were at a commit into an empty folder, and return their root.

    As in a checkout, lines end as attributes say. Files of Git LFS are its pointers, unless the user's own
    configuration, and not that of the repository, has its filter.
    """
    if not _COMMIT.fullmatch(commit):
        raise InputError(f"{commit[:80]!r} is not a commit")
    top = _ask(root_dir, "rev-parse", "--show-toplevel").rstrip("\n")
    folder = _ask(root_dir, "rev-parse", "--show-prefix").rstrip("\n")
    for words in (("read-tree", commit), ("checkout-index", "--all", f"--prefix={into}/tree/")):
        process = git(Path(top), *_unfiltered(root_dir), *words, GIT_INDEX_FILE=str(into / "index"))
        if process.returncode:
            is_partial = _ask(root_dir, "config", "--get-regexp", r"^remote\..*\.promisor$")
            hint = "git fetch --refetch --no-filter fetches what a partial clone lacks" if is_partial else ""
            raise UnavailableError(Problem(f"git {words[0]}: {_reason(process)}", file=str(root_dir), hint=hint))
    return into / "tree" / folder


def _status(root_dir: Path, *words: str) -> str:
    """Return what differs from HEAD below a folder; of a submodule git would ask another configuration."""
    return _ask(root_dir, *_unfiltered(root_dir), "status", "--porcelain", "--ignore-submodules=all", *words, "--", ".")


def _unfiltered(root_dir: Path) -> list[str]:
    """Return the options without which git would run the filters that the configuration of a repository names."""
    words = ("config", "-z", "--show-scope", "--name-only", "--get-regexp", r"^filter\.")
    process = git(root_dir, *words)
    if process.returncode not in (0, 1):  # found, and none
        raise UnavailableError(Problem(f"git config: {_reason(process)}", file=str(root_dir)))
    fields = os.fsdecode(process.stdout).split("\0")
    names = {name for scope, name in zip(fields[::2], fields[1::2], strict=False) if scope in ("local", "worktree")}
    return [f"--config-env={name}={_NOTHING}" for name in sorted(names)]  # `-c` ends a name at its first "="


def _public(url: str) -> str:
    """Return the address of a repository as others may read it: no credentials, and no path of this machine."""
    if match := _SCP.fullmatch(url):
        return f"git+ssh://{match[1] or ''}{match[2]}/{match[3]}"
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https", "ssh", "git") or not host:
        return ""
    user = f"{parts.username}@" if parts.scheme == "ssh" and parts.username else ""
    return f"git+{parts.scheme}://{user}{host}{parts.path}"


def _ask(root_dir: Path, *words: str) -> str:
    """Return what git prints; nothing where it is missing or refuses."""
    try:
        process = git(root_dir, *words)
    except UnavailableError:
        return ""
    return "" if process.returncode else os.fsdecode(process.stdout)


def _reason(process: subprocess.CompletedProcess[bytes]) -> str:
    return process.stderr.decode("utf-8", "replace").strip()


def git(root_dir: Path, *words: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, as `command` and `environment` say."""
    argv, env = command(root_dir, *words), environment(**changes)
    try:
        return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=env)
    except OSError as error:
        raise UnavailableError(f"git: {error.strerror or error}") from error


def command(root_dir: Path, *words: str) -> list[str]:
    """Return the words that call git in a folder, without what a repository may have it run."""
    return ["git", "-C", str(root_dir), *_QUIET, *words]


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of git, with changes.

    Nothing is fetched: a partial clone would, by a program or from an address that its configuration names.
    """
    return {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "", _NOTHING: "", **changes}
