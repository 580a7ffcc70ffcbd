"""Compose packages from their sources and pack them: OUT/NAME/ and OUT/NAME.tar.gz, the same bytes on any machine.

packyard build --version 1.0.0 --to OUT  all packages of the workspace
packyard build --readmes docs/packages    only their READMEs, to
                                          docs/packages/NAME.md, where you
                                          commit them
packyard build NAME --readmes -           print the README of a package
"""

from __future__ import annotations

import argparse
from pathlib import Path

from packyard.cli import declare, fanout, output, progress, workspaces
from packyard.cli.rows import Rows
from packyard.cli.writing import readmes
from packyard.core.bundle import reference
from packyard.core.errors import UsageError
from packyard.writing.build import catalogue
from packyard.writing.build.catalogue import Catalogue

ROWS = Rows("package", "name, version, digest, tar, size")
EXAMPLE = "packyard build --version 1.0.0 --to build"
READMES = readmes.ROWS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    workspaces.add_names(parser)
    declare.value(parser, "--to DIR", "the folder to build packages into")
    declare.former(parser, "--out", "to")
    declare.value(parser, "--version VERSION", "the version of the packages")
    declare.value(parser, "--readmes DIR", "write the README of each package to DIR/NAME.md instead")
    workspaces.add_argument(parser)
    fanout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Build all packages; if one is refused, none is changed."""
    _check(arguments)
    workspace = workspaces.find(arguments)
    if arguments.readmes:
        return readmes.write(arguments, workspace, workspaces.names(arguments, workspace))
    names = workspaces.bundles(arguments, workspace)
    out_dir = Path(arguments.to)
    workspace.check_target(out_dir)
    jobs = fanout.jobs(arguments, names)
    with progress.of(names) as done:
        built = catalogue.build(workspace, arguments.version, names, out_dir, jobs=jobs, done=done)
    if ROWS.show(built.packages, arguments.output):
        _tell(built, out_dir)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse flags that make no sense together, and name what is missing."""
    if arguments.readmes:
        declare.alone(arguments, "build", "beside --readmes", "to")
    if arguments.version:
        reference.check_version(arguments.version)
    if not arguments.readmes and not arguments.to:
        raise UsageError(f"packyard build: --to is missing; name the folder to build into: {EXAMPLE}")
    if not (arguments.readmes or arguments.version):
        raise UsageError(f"packyard build: --version is missing; give one: {EXAMPLE}")


def _tell(built: Catalogue, out_dir: Path) -> None:
    for item in built.packages:
        output.line(f"{out_dir / item.name}.tar.gz  {item.digest}  {item.size} bytes")
    if built.warnings:
        output.note(f"{output.counted(built.warnings, 'warning')} by packyard lint")
