"""Become the first process of a container: ``container.py SPEC.json``, as root in namespaces of its own.

What a container runtime does between `unshare` and `exec`: the image is the root of this machine with what the test
puts into it; the mounts of the pod go on top, in the order of their depth; the root turns read-only; then the process
loses its capabilities and becomes its user. Seccomp filters and limits of memory and CPU are left out.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


def main(spec: dict[str, Any]) -> None:
    """Set up what the specification says, and run its words."""
    os.environ["PATH"] = spec["path"]
    folder = Path(spec["folder"])
    # The number that others know this process by: /proc is still theirs. A link is there whole or not at all.
    (folder / "pid").symlink_to(Path("/proc/self").readlink())
    root = _overlay(folder / "root", spec["layer"])
    _system(root)
    for mount in sorted(spec["mounts"], key=lambda mount: len(Path(mount["target"]).parts)):
        _bind(Path(mount["source"]), root / mount["target"].lstrip("/"), read_only=mount["readOnly"])
    (root / spec["workingDir"].lstrip("/")).mkdir(parents=True, exist_ok=True)
    if spec["readOnlyRoot"]:
        _mount("-o", "remount,ro", root)
    os.chroot(root)
    os.chdir(spec["workingDir"])
    variables = {"PATH": spec["path"], "HOSTNAME": spec["hostname"], "HOME": _home(spec["user"]), **spec["environment"]}
    os.execve("/usr/bin/setpriv", [*_privileges(spec), *spec["words"]], variables)


def _overlay(folder: Path, layer: str) -> Path:
    _mount("-t", "tmpfs", "tmpfs", folder)
    upper, work, root = (folder / name for name in ("upper", "work", "root"))
    shutil.copytree(layer, upper)  # a second lower directory would overlap the first
    for directory in (work, root):
        directory.mkdir()
    _mount("-t", "overlay", "overlay", "-o", f"lowerdir=/,upperdir={upper},workdir={work}", root)
    return root


def _system(root: Path) -> None:
    """Mount /proc, /sys and a /dev with the devices that every container has."""
    _mount("-t", "proc", "proc", root / "proc")
    _mount("-t", "sysfs", "-o", "ro", "sysfs", root / "sys")
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", root / "dev")
    for name in _DEVICES:
        _bind(Path("/dev") / name, root / "dev" / name, read_only=False)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        (root / "dev" / name).symlink_to(target)
    (root / "dev/shm").mkdir()
    _mount("-t", "tmpfs", "-o", "size=64m,mode=1777", "tmpfs", root / "dev/shm")


def _bind(source: Path, target: Path, *, read_only: bool) -> None:
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    elif not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount("--bind", source, target)
    if read_only:
        _mount("-o", "remount,bind,ro", target)


def _mount(*words: str | Path) -> None:
    subprocess.run(["mount", *words], check=True)


def _home(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_dir
    except KeyError:
        return "/"


def _privileges(spec: dict[str, Any]) -> list[str]:
    kept = "".join(f",+{name}" for name in spec["capabilities"])
    groups = ",".join(map(str, spec["groups"]))
    return [
        "setpriv",
        f"--reuid={spec['user']}",
        f"--regid={spec['group']}",
        f"--groups={groups}" if groups else "--clear-groups",
        f"--bounding-set=-all{kept}",
        "--inh-caps=-all",
        *(["--no-new-privs"] if spec["noNewPrivileges"] else []),
    ]


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_bytes()))
