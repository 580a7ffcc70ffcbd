"""What the commands have in common: their arguments, and what they print of each package."""

from collections.abc import Callable
from pathlib import Path

from packyard.cli import output, state
from packyard.cli.flags import Flags
from packyard.core.errors import InputError, NotHereError, Problem, UsageError
from packyard.core.files.tree import Tree
from packyard.using.setters.change import change_packages
from packyard.using.setters.packages import PackageFiles, read_resources
from packyard.using.setters.plan import Plan

_VERSION_1 = "a setter of version 1, which has its definition in the comment of its field, is not supported"


def arguments(parsed: Flags, least: int, most: int | None = None) -> list[str]:
    """Return the arguments of a command that takes so many."""
    words = parsed.arguments
    if len(words) < least:
        raise UsageError(f"{least} arguments are needed, found {len(words)}")
    if most is not None and len(words) > most:
        raise UsageError(f"unexpected argument {words[most]!r}")
    return words


def header(folder: str, package: str) -> str:
    """Return a package's path as kustomize prints it."""
    return (Path(folder) / package).as_posix() + "/"


def change(
    parsed: Flags, plan_package: Callable[[PackageFiles], tuple[Plan, str]], *, title: str, kpt: bool = False
) -> None:
    """Plan every package, write all or none, and print each one's path and the text that came with its plan.

    ``title`` is what `packyard undo` calls the change. What one package of several does not admit (`NotHereError`) is
    its text, and the others are changed. With ``kpt`` a directory with a Kptfile is a package too.
    """
    folder, recursive = parsed.arguments[0], parsed.switches["recurse-subpackages"]
    texts: list[str] = []

    def plan_one(path: str, package: PackageFiles) -> Plan | None:
        planned: Plan | None = None
        try:
            planned, text = plan_package(package)
        except NotHereError as error:
            if not recursive:
                raise
            text = str(error)
        texts.append(f"{header(folder, path)}\n{text}")
        return planned

    change_packages(Path(folder), plan_one, recursive=recursive, log=state.log(f"cfg {title}"), kpt=kpt)
    output.page("\n\n".join(texts))


def refuse_version_1(folder: str, name: str = "") -> None:
    """Refuse setters of version 1, whose definitions are in the comments of their fields, or one of them."""
    tree = Tree(Path(folder))
    for path, data in read_resources(tree, "", below_too=True).items():
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
            if '"x-kustomize"' in line and (not name or f'"name":"{name}"' in line):
                hint = f"take the comment out, then type packyard cfg create-setter {folder} {name or 'NAME'} VALUE"
                raise InputError(Problem(_VERSION_1, file=tree.prefix + path, line=number, hint=hint))
