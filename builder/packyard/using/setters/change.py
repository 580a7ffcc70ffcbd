"""Changing the packages of a directory: find them, read and plan each, check the rules, then write all or nothing."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from posixpath import join
from typing import TYPE_CHECKING

from packyard.core.errors import Problem, every, refuse
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.packages import PackageFiles, find_packages, read_package
from packyard.using.setters.plan import Plan

if TYPE_CHECKING:
    from packyard.using.setters.kpt.kptpackage import KptPackage


def change_packages(
    directory: Path,
    plan_package: Callable[[str, PackageFiles], Plan | None],
    *,
    recursive: bool,
    log: StepLog,
    kpt: bool,
) -> None:
    """Change a package as a function plans it, or with ``recursive`` all packages below.

    The function is given the path below the directory, too; it returns None for a package that stays as it is. With
    ``kpt`` directories with a Kptfile are packages too.
    """
    tree = Tree(directory)
    files: dict[str, bytes] = {}

    def change(path: str) -> None:
        planned = plan_package(path, read_changed(tree, path, files))
        files.update({join(path, name): data for name, data in planned.files.items()} if planned else {})

    with tree.locked(log):
        every(change, find_packages(tree, recursive=recursive, kpt=kpt))
        tree.write(files)


def read_changed(tree: Tree, path: str, files: Mapping[str, bytes], where: str | None = None) -> PackageFiles:
    """Read a package as it is with files of the tree changed: one of kpt reaches into the packages below it."""
    package = read_package(tree, path, where)
    changed = {name: files[whole] for name in package.files if (whole := join(path, name)) in files} if files else {}
    return package.with_files(changed) if changed else package


def read_kpt(package: PackageFiles) -> "KptPackage | None":
    """Read a package in kpt's spelling; None for one of kustomize, as most are."""
    if package.is_of_kustomize:
        return None
    from packyard.using.setters.kpt.kptpackage import KptPackage

    return KptPackage(package)


def unbound(package: PackageFiles, setter: Setter) -> Problem:
    """Return why a setter has no field in a package, at the first comment that names it, where one does."""
    name = setter.name
    mark = f'# {{"$openapi":"{name}"}}' if package.is_of_kustomize else f"# kpt-set: ${{{name}}}"
    message = f"{name} would set no field: no comment binds one to it"
    hint = f"put {mark} behind the value that it sets, at the end of its line, and nothing else in the comment"
    comment = re.compile(rf'#.*"\$[\w-]+": *"[^"]*\b{re.escape(name)}"')
    for path, data in package.resources.items():
        if match := comment.search(text := data.decode(errors="replace")):
            return Problem(message, f"{package.where}{path}", text.count("\n", 0, match.start()) + 1, hint=hint)
    return setter.problem(message, hint)


def check_rules(krmfile: Krmfile, planned: Plan) -> None:
    """Refuse a plan after which a rule that names one of its setters is broken."""
    section = krmfile.root.get("rules")
    if section is None or not any(name in section.lexeme for name in planned.counts):
        return
    from packyard.using.setters.rules import rule  # most sets are under no rule

    setters = {**krmfile.definitions.setters, **planned.definitions.setters}
    refuse(rule.find_broken(krmfile.root, setters, planned.counts))
