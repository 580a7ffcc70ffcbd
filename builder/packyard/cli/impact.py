"""Tell which packages and use cases a change in a git checkout touches, and how.

packyard impact                   what was changed since the last commit, and is not committed
packyard impact origin/main       what this branch changes, committed or not
packyard impact origin/main -o markdown >comment.md

Packages that ask nothing of what was changed are not composed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from packyard.build import impact
from packyard.cli import arguments as shared
from packyard.cli import compared, diff, fanout, libraries, output, sources
from packyard.dataclass import replace
from packyard.errors import PackyardError
from packyard.options.folder import NAME as OPTIONS
from packyard.source import revision, workspace
from packyard.upgrade.difference import Change, compare_all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    base = "compare with where this branch left that revision (default: HEAD)"
    parser.add_argument("base", metavar="BASE", nargs="?", default="HEAD", help=base)
    shared.add_output(parser, *shared.FORMS, "markdown")
    sources.add_argument(parser)
    fanout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare the packages that are touched."""
    here = sources.find(arguments)
    commit, names = revision.parting(here.root_dir, arguments.base), here.package_names()
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        base_dir = revision.check_out(here.root_dir, commit, Path(folder))
        with _told_as(f"{base_dir}/", f"{commit[:12]}:"):
            known = libraries.read(base_dir).package_names() if (base_dir / workspace.FILE).is_file() else []
            before, after = (compared.packing(each, arguments) for each in (base_dir, here.root_dir))
            touched = {*names, *known} - set(impact.untouched(before, after, [each for each in known if each in names]))
            old = compared.composed(before, [name for name in known if name in touched], arguments)
        new = compared.composed(after, [name for name in names if name in touched], arguments)
    found = compare_all(old, new)
    if arguments.output != "json":
        output.line(_summary(found, len({*names, *known})))
    diff.show(found, arguments.output)
    return 0


def _summary(found: Mapping[str, tuple[Change, ...]], number: int) -> str:
    places = {(name, each.where) for name, changes in found.items() for each in changes}
    use_cases = [where for _, where in places if where and OPTIONS not in where.split("/")]
    said = f"{len(found)} of {output.counted(number, 'package')}, {output.counted(len(use_cases), 'use case')}"
    return said + diff.breaking(found)


@contextmanager
def _told_as(folder: str, name: str) -> Iterator[None]:
    """Let problems name a file of the commit as git does."""
    try:
        yield
    except PackyardError as error:
        told = (
            replace(each, **{part: getattr(each, part).replace(folder, name) for part in ("file", "message", "hint")})
            for each in error.problems
        )
        raise type(error)(*told) from error
