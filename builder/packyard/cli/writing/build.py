"""Compose packages from their sources and pack them: OUT/NAME/ and OUT/NAME.tar.gz, the same bytes on any machine."""

from pathlib import Path

from packyard.cli import declare, output, progress, workspaces
from packyard.cli.rows import Rows
from packyard.core.bundle import reference
from packyard.writing.build import catalogue, tree
from packyard.writing.source.workspace import find_root

ROWS = Rows("package", "name, version, digest, tar, size")
EXAMPLE = "packyard build --version 1.0.0 --to build"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    if not find_root(Path()):
        parser.instead = "packyard render NAME/USECASE, which prints manifests: build is for authors, in a workspace"
    parser.value("--to DIR", "the folder to build packages into", required=True)
    parser.former("--out", "--to")
    parser.value("--version VERSION", "the version of the packages", required=True)
    workspaces.add_arguments(parser)
    workspaces.add_jobs(parser)


def run(arguments: declare.Arguments) -> None:
    """Build all packages; if one is refused, none is changed."""
    reference.check_version(arguments.version)
    workspace = workspaces.find(arguments)
    names = workspaces.bundles(arguments, workspace)
    out_dir = Path(arguments.to)
    workspace.check_target(out_dir)
    jobs = workspaces.jobs(arguments, names)
    with tree.replaced(out_dir.absolute()) as put, progress.of(names) as done:
        built = catalogue.build(workspace, arguments.version, names, put, jobs=jobs, done=done)
    if ROWS.show(built.packages, arguments.output):
        output.line(*(f"{out_dir / item.name}.tar.gz  {item.digest}  {item.size} bytes" for item in built.packages))
        workspaces.tell_warnings(len(built.warnings), arguments)
