"""The git revision that sources are at, and what differs from it.

Sources need no git: then there is no revision. git is asked, and never told to change anything.
"""

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from packyard.core.errors import Problem, UnavailableError

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
    # Of a submodule git would ask another configuration.
    listed = ("status", "--porcelain", "--ignore-submodules=all", "-z", "--untracked-files=all", "--ignored=matching")
    tokens = _ask(root_dir, *_unfiltered(root_dir), *listed, "--no-renames", "--", ".").split("\0")
    changed, removed = set(), False
    for token in filter(None, tokens):
        state, path = token[:2], token[3:]
        changed.add(path.removeprefix(folder))
        removed = removed or "D" in state
    url = _public(_ask(root_dir, "config", "--get", "remote.origin.url").strip())
    return Revision(commit=commit, url=url, folder=folder.rstrip("/"), changed=frozenset(changed), removed=removed)


def _unfiltered(root_dir: Path) -> list[str]:
    """Return the options without which git would run the filters that the configuration of a repository names."""
    words = ("config", "-z", "--show-scope", "--name-only", "--get-regexp", r"^filter\.")
    process = git(root_dir, *words)
    if process.returncode not in (0, 1):  # found, and none
        reason = process.stderr.decode("utf-8", "replace").strip()
        raise UnavailableError(Problem(f"git config: {reason}", file=str(root_dir)))
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


def git(root_dir: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, without what a repository may have it run.

    Nothing is fetched: a partial clone would, by a program or from an address that its configuration names.
    """
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "", _NOTHING: ""}
    command = ["git", "-C", str(root_dir), *_QUIET, *words]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=env)
    except OSError as error:
        raise UnavailableError(f"git: {error.strerror or error}") from error
