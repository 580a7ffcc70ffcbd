"""`diff --git`: tells which packages and use cases a change in a git checkout touches, and how."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from packyard.cli import compared, differences, libraries, output, workspaces
from packyard.core.errors import PackyardError
from packyard.core.files import git
from packyard.core.files.paths import WORKSPACE
from packyard.using.options.folder import NAME as OPTIONS
from packyard.using.upgrade.difference import Change, compare_all

_BASE = "HEAD"


def compare(arguments: argparse.Namespace) -> int:
    """Compare the packages that are touched, and what a library offers."""
    here = workspaces.find(arguments)
    commit, names = git.parting(here.root_dir, arguments.git), here.package_names()
    if arguments.git != _BASE and git.has_changes(here.root_dir):
        output.note("changes that are not committed count, too; git stash leaves them out")
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        base_dir = git.check_out(here.root_dir, commit, Path(folder))
        with _told_as(f"{base_dir}/", f"{commit[:12]}:"):
            there = libraries.read(base_dir) if (base_dir / WORKSPACE).is_file() else None
            old_names = there.package_names() if there else []
            before, after = (compared.packing(each, arguments) for each in (base_dir, here.root_dir))
            same = {name for name in old_names if name in names and after.is_as(before, name)}
            old = compared.composed(before, [name for name in old_names if name not in same], arguments)
            old.update(compared.offered(there) if there else {})
        new = compared.composed(after, [name for name in names if name not in same], arguments)
        by_package = compare_all(old, {**new, **compared.offered(here)})
    summary = _summary(by_package, {*names, *old_names})
    output.note(summary) if arguments.output == "json" else output.line(summary)
    differences.show(by_package, arguments.output)
    return 0


def _summary(by_package: Mapping[str, tuple[Change, ...]], packages: Collection[str]) -> str:
    changed = {name: changes for name, changes in by_package.items() if name in packages}
    places = {(name, each.where) for name, changes in changed.items() for each in changes}
    use_cases = [where for _, where in places if where and OPTIONS not in where.split("/")]
    number, cases = output.counted(len(packages), "package"), output.counted(len(use_cases), "use case")
    return f"{len(changed)} of {number}, {cases}{differences.breaking(by_package)}"


@contextmanager
def _told_as(folder: str, name: str) -> Iterator[None]:
    """Let problems name a file of the commit as git does."""
    try:
        yield
    except PackyardError as error:
        raise error.mapped(lambda problem: problem.renamed(folder, name)) from error
