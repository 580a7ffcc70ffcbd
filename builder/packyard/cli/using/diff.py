"""Compare two packages, libraries or source trees: use cases, options, setters, fields, files.

packyard diff OLD.tar.gz NEW.tar.gz  two bundles
packyard diff NAME@1.0 NAME@1.1      two versions that a channel has
packyard diff ../old packages/NAME   two folders: untarred packages, sources
                                     (composed first), libraries
packyard diff DIR                    an untarred package and its bundle
packyard diff --git                  the packages of the workspace here, and as
                                     they were last committed
packyard diff --git origin/main      as they were where this branch left it
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from packyard.cli import compared, declare, fanout, libraries, output, unified, untarred, workspaces
from packyard.cli.rows import FORMS, Rows
from packyard.core.errors import PackyardError, UsageError
from packyard.core.files import git
from packyard.core.files.paths import WORKSPACE
from packyard.using.options.folder import NAME as OPTIONS
from packyard.using.upgrade import report
from packyard.using.upgrade.difference import Change, Files, compare_all
from packyard.using.upgrade.merge import edited_by_hand

FIELDS = "package, where, what, name, path, change, before, after, setter, note, breaking"
ROWS = Rows("difference", FIELDS, forms=(*FORMS, "markdown", "patch"))
_BASE = "HEAD"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    what = "a folder, a .tar.gz, NAME@VERSION, or the address of a bundle"
    parser.add_argument("old", metavar="A", nargs="?", help=f"{what} (default: here)")
    parser.add_argument("new", metavar="B", nargs="?", help="as A; without it A is an untarred package")
    declare.value(parser, "--from CHANNEL", "the channel that has NAME@VERSION", dest="channel")
    declare.value(parser, "--base FILE", "the bundle that an untarred package came from")
    git = "the workspace, and as it was at BASE (default: HEAD)"
    parser.add_argument("--git", metavar="BASE", nargs="?", const=_BASE, help=git)
    workspaces.add_argument(parser)
    fanout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what differs."""
    if arguments.git is not None:
        return _in_git(arguments)
    declare.alone(arguments, "diff", "without --git", "workspace")
    if arguments.new is not None:
        declare.alone(arguments, "diff", "beside A and B", "base")
    arguments.old = arguments.old or "."
    below = ""
    if arguments.new is None:
        top, below = untarred.within(arguments.old)
        arguments.old = str(top)
    before = _origin(arguments) if arguments.new is None else compared.read(arguments.old, arguments)
    after = compared.read(arguments.new or arguments.old, arguments)
    if len(before) == len(after) == 1:  # whatever they are called
        before = dict(zip(after, before.values(), strict=True))
    if arguments.output == "patch":
        _text(before, after)
        return 0
    by_package = compare_all(before, after)
    if arguments.new is None:
        ((name, files),) = after.items()
        changes = _with_edited(by_package.get(name, ()), before[name], files, top.resolve())
        by_package = {name: tuple(each for each in changes if f"{each.where}/".startswith(below))}
    show(by_package, arguments.output)
    changes = [(name, each) for name, changes in by_package.items() for each in changes]
    places = output.counted(len({(name, each.where) for name, each in changes}), "place")
    summary = f"{output.counted(len(changes), 'difference')} in {places}{breaking(by_package)}"
    output.note(summary if changes else "no difference")
    return 0


def _in_git(arguments: argparse.Namespace) -> int:
    """Print what a change in a git checkout touches."""
    if arguments.old:
        raise UsageError(f"packyard diff: {arguments.old!r} has no meaning beside --git; packyard diff --git BASE")
    declare.alone(arguments, "diff", "beside --git", "channel", "base")
    if arguments.output == "patch":
        raise UsageError("packyard diff: git diff prints the patch of --git; packyard diff --git BASE")
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
    show(by_package, arguments.output)
    return 0


def _summary(by_package: Mapping[str, tuple[Change, ...]], packages: Collection[str]) -> str:
    changed = {name: changes for name, changes in by_package.items() if name in packages}
    places = {(name, each.where) for name, changes in changed.items() for each in changes}
    use_cases = [where for _, where in places if where and OPTIONS not in where.split("/")]
    number, cases = output.counted(len(packages), "package"), output.counted(len(use_cases), "use case")
    return f"{len(changed)} of {number}, {cases}{breaking(by_package)}"


@contextmanager
def _told_as(folder: str, name: str) -> Iterator[None]:
    """Let problems name a file of the commit as git does."""
    try:
        yield
    except PackyardError as error:
        raise error.mapped(lambda problem: problem.renamed(folder, name)) from error


def show(by_package: Mapping[str, tuple[Change, ...]], form: str) -> None:
    """Print what differs between packages."""
    if form == "markdown":
        output.page(report.markdown(by_package))
    elif ROWS.show(documents(by_package), form):
        for line in report.text(by_package):
            output.line(line)


def documents(by_package: Mapping[str, tuple[Change, ...]]) -> list[dict[str, object]]:
    """Return what differs between packages as JSON has it."""
    return [report.document(name, each) for name, changes in by_package.items() for each in changes]


def breaking(by_package: Mapping[str, tuple[Change, ...]]) -> str:
    """Say how many changes break something, if any do."""
    number = sum(each.is_breaking for changes in by_package.values() for each in changes)
    return f"; {number} BREAKING" if number else ""


def _origin(arguments: argparse.Namespace) -> compared.Packages:
    """Return the bundle that an untarred package came from."""
    folder = Path(arguments.old)
    if not folder.is_dir():
        raise UsageError("packyard diff: B is missing: name two packages, or the folder of an untarred one")
    hint = "name what to compare it with: packyard diff A B"
    bundle = untarred.base(folder, arguments.channel, arguments.base, hint)
    return {bundle.name: compared.files_of(bundle.members)}


def _with_edited(changes: Sequence[Change], before: Files, after: Files, root_dir: Path) -> list[Change]:
    """Return what differs in an untarred package, and the files that were edited by hand."""
    extended = list(changes)
    changed_files = {f"{each.where}/{each.name}".lstrip("/") for each in changes if each.what == "file"}
    for path in edited_by_hand(before, after, root_dir):
        if path not in changed_files:
            where, _, file = path.rpartition("/")
            extended.append(Change(where=where, what="file", name=file, change="changed", note="edited by hand"))
    return sorted(extended, key=lambda each: each.where)


def _text(before: Mapping[str, Files], after: Mapping[str, Files]) -> None:
    """Print a unified diff; the files of several packages are below their names."""
    prefix = "{}/" if len(after) > 1 else ""
    old, new = (
        {prefix.format(name) + path: data for name, files in side.items() for path, data in files.items()}
        for side in (before, after)
    )
    unified.texts({path: (old.get(path), new.get(path)) for path in {*old, *new}})
