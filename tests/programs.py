"""The programs of the machine that tests see: a few without asking, every other one by way of ``real``.

All that is on PATH while tests run is one folder: this Python, its scripts, and the machine's programs of `PLAIN`. So a
test that starts a program by its name, or leaves it to a shell, finds nothing, on the machine of whoever has it too.
``real`` puts that in force.

    python3 tests/programs.py FOLDER [NAME …]    # makes such a folder, with further programs
"""

import os
import shutil
import sys
from pathlib import Path

#: What needs no asking: git, the sed of its scripts, sh, and the coreutils, without those that need another user.
PLAIN = {
    "git", "sed", "sh", "[", "b2sum", "base32", "base64", "basename", "cat", "chgrp", "chmod", "chown", "cksum", "comm",
    "cp", "csplit", "cut", "date", "dd", "df", "dir", "dirname", "du", "echo", "env", "expand", "expr", "factor",
    "false", "fmt", "fold", "groups", "head", "hostid", "id", "install", "join", "link", "ln", "logname", "ls",
    "md5sum", "mkdir", "mkfifo", "mknod", "mktemp", "mv", "nice", "nl", "nohup", "nproc", "numfmt", "od", "paste",
    "pathchk", "pr", "printenv", "printf", "ptx", "pwd", "readlink", "realpath", "rm", "rmdir", "seq", "sha1sum",
    "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shred", "shuf", "sleep", "sort", "split", "stat", "stdbuf",
    "stty", "sum", "sync", "tac", "tail", "tee", "test", "timeout", "touch", "tr", "true", "truncate", "tsort", "tty",
    "uname", "unexpand", "uniq", "unlink", "users", "wc", "who", "whoami", "yes",
}  # fmt: skip
#: Variables that tell the processes of tests the machine's PATH, and where the folder is that is theirs.
MACHINE, PLACE = "PACKYARD_MACHINE_PATH", "PACKYARD_PLAIN_PROGRAMS"
_SCRIPTS = ("packyard", "pytest")


def machine_path() -> str:
    """Return the PATH of whoever runs the tests."""
    return os.environ.get(MACHINE) or os.environ.get("PATH", os.defpath)


def make_folder(folder: Path, *more: str) -> Path:
    """Make the folder of this Python, its scripts and the plain programs, and of ``more`` that are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("python", "python3"):  # no links, as Python finds its packages beside its name
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (folder / name).chmod(0o755)
    for name in sorted(PLAIN.union(more)):
        if found := shutil.which(name, path=machine_path()):
            (folder / name).symlink_to(found)
    for name in _SCRIPTS:
        if (script := Path(sys.executable).with_name(name)).is_file():
            (folder / name).symlink_to(script)
    return folder


if __name__ == "__main__":
    make_folder(Path(sys.argv[1]), *sys.argv[2:])
