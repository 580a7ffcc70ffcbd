"""Compose packages from their sources and pack them: OUT/NAME/ and OUT/NAME.tar.gz, the same bytes on any machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from packyard.cli import declare, output, progress, workspaces
from packyard.cli.rows import Rows
from packyard.core.bundle import reference
from packyard.core.errors import UsageError
from packyard.writing.build import catalogue
from packyard.writing.build.catalogue import Catalogue

ROWS = Rows("package", "name, version, digest, tar, size")
EXAMPLE = "packyard build --version 1.0.0 --to build"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    workspaces.add_names(parser)
    declare.value(parser, "--to DIR", "the folder to build packages into")
    declare.former(parser, "--out", "to")
    declare.value(parser, "--version VERSION", "the version of the packages")
    workspaces.add_argument(parser)
    workspaces.add_jobs(parser)


def run(arguments: argparse.Namespace) -> int:
    """Build all packages; if one is refused, none is changed."""
    _check(arguments)
    workspace = workspaces.find(arguments)
    names = workspaces.bundles(arguments, workspace)
    out_dir = Path(arguments.to)
    workspace.check_target(out_dir)
    jobs = workspaces.jobs(arguments, names)
    with progress.of(names) as done:
        built = catalogue.build(workspace, arguments.version, names, out_dir, jobs=jobs, done=done)
    if ROWS.show(built.packages, arguments.output):
        _tell(built, out_dir)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse a wrong version, and name what is missing."""
    if arguments.version:
        reference.check_version(arguments.version)
    if not arguments.to:
        raise UsageError(f"packyard build: --to is missing; name the folder to build into: {EXAMPLE}")
    if not arguments.version:
        raise UsageError(f"packyard build: --version is missing; give one: {EXAMPLE}")


def _tell(built: Catalogue, out_dir: Path) -> None:
    for item in built.packages:
        output.line(f"{out_dir / item.name}.tar.gz  {item.digest}  {item.size} bytes")
    workspaces.tell_warnings(built.warnings)
