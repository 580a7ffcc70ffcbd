"""What the commands print for each package: its path, what was done, and an empty line between two packages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from packyard.cli import output, state
from packyard.core.errors import InputError, NotHereError, PackyardError, Problem, UsageError
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.core.yaml.document import source_of
from packyard.using.setters.change import change_packages
from packyard.using.setters.krmfile import NAME, parse_krmfile
from packyard.using.setters.packages import KPTFILE, PackageFiles, read_resources
from packyard.using.setters.plan import Plan

_VERSION_1 = "a setter of version 1, which has its definition in the comment of its field, is not supported"


def header(folder: str, package: str) -> str:
    """Return a package's path as kustomize prints it."""
    return (Path(folder) / package).as_posix() + "/"


def check_folder(folder: str, *, absolute: bool = True) -> None:
    """Refuse a directory that does not exist, and a file, in the words of the system calls that kustomize meets."""
    path = Path(folder)
    if not path.exists():
        shown = path.absolute() if absolute else path
        raise UsageError(f"lstat {shown}: no such file or directory")
    if not path.is_dir():
        raise InputError(f"open {path / NAME}: not a directory")


def quoted(text: str) -> str:
    """Quote as Go's ``%q`` does, where it differs from JSON."""
    return json.dumps(text, ensure_ascii=False).replace("\\u0007", "\\a").replace("\\u000b", "\\v")


def change(
    folder: str,
    plan_package: Callable[[PackageFiles], tuple[Plan, str]],
    *,
    title: str,
    recursive: bool,
    kpt: bool = False,
) -> int:
    """Plan every package, write all or none, and print each one's path and the text that came with its plan.

    ``title`` is what `packyard undo` calls the change.

    What one package of several does not admit (`NotHereError`) is its text, and the others are changed; nothing is
    said of a Kptfile without definitions, which kustomize does not know. With ``kpt`` a directory with a Kptfile is a
    package too.
    """
    check_folder(folder)
    texts: list[str | None] = []
    refused: list[str] = []

    def plan_one(path: str, package: PackageFiles) -> Plan | None:
        above = f"{header(folder, path)}\n"
        try:
            planned, text = plan_package(package)
        except NotHereError as error:
            if not recursive:
                raise
            refused.append(path)
            texts.append(above + str(error) if package.is_of_kustomize else None)
            return None
        texts.append(above + text)
        return planned

    try:
        change_packages(Path(folder), plan_one, recursive=recursive, log=state.log(title), kpt=kpt)
    except InputError:
        if not recursive and _is_package(folder):
            output.line(header(folder, ""))
        raise
    output.page("\n\n".join(text for text in texts if text is not None))
    return 0


def refuse_version_1(folder: str, name: str = "") -> None:
    """Refuse setters of version 1, whose definitions are in the comments of their fields, or one of them."""
    tree = Tree(Path(folder))
    files = read_resources(tree, "", below_too=True) if tree.root_dir.is_dir() else {}
    for path, data in files.items():
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
            if '"x-kustomize"' in line and (not name or f'"name":"{name}"' in line):
                hint = f"take the comment out, then type packyard cfg create-setter {folder} {name or 'NAME'} VALUE"
                raise InputError(Problem(_VERSION_1, file=tree.prefix + path, line=number, hint=hint))


def _is_package(folder: str) -> bool:
    """Say whether a directory's definitions can be read: that is when kustomize begins to print."""
    file = next((Path(folder) / name for name in (NAME, KPTFILE) if (Path(folder) / name).exists()), None)
    if file is None:
        return False
    try:
        parse_krmfile(source_of(regular.read(file), file.name))
    except PackyardError:
        return False
    return True
