"""Import a package that exists: its use cases become a source package of the workspace, with bases and overlays."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from shlex import quote

from packyard.cli import declare, output, workspaces
from packyard.cli.rows import Rows
from packyard.core.errors import BeyondError, InputError, UsageError
from packyard.core.files.paths import WORKSPACE
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize import builtin
from packyard.using.render import programs
from packyard.using.render.programs import Program
from packyard.writing.authoring.import_ import conversion, disagreement, incoming, propose
from packyard.writing.authoring.import_.conversion import Imported, Wishes
from packyard.writing.authoring.import_.note import DOUBTFUL, Note
from packyard.writing.build import workspace_lint
from packyard.writing.checks import explanation
from packyard.writing.source import package, workspace
from packyard.writing.source.workspace import Workspace

ROWS = Rows("package", "name, useCases, files, lines, notes (kind, what, do=todo, cases)")
PROPOSED = Rows(
    "proposed setter",
    "name, value, what, type, places",
    "--propose",
    columns="NAME, VALUE, WHERE=places",
)
EXAMPLE = "packyard import old/overlays --name web"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("source", metavar="DIR|TARBALL", nargs="?", help="a package, or a folder of kustomizations")
    parser.add_argument("--rendering", metavar="FILE", nargs=2, help="instead: two renderings of one Helm chart")
    for flag, help in (
        ("--only", "take these files and folders of DIR alone"),
        ("--option", "make each, a path below DIR, an option"),
    ):
        parser.add_argument(flag, metavar="PATH", nargs="+", action="extend", default=[], help=help)
    parser.add_argument(
        "--take",
        choices=disagreement.TAKES,
        default=disagreement.FIELDS,
        help="what counts where a field and its setter differ",
    )
    declare.value(parser, "--name NAME", "what to call the package (default: as the folder or the file is called)")
    parser.add_argument(
        "--propose",
        metavar="NAME",
        nargs="*",
        help="import nothing: list constants of a package of the workspace, or of DIR, that could be setters; "
        "with names, make these setters of the package",
    )
    workspaces.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the package, and say what its author has to work through."""
    if arguments.rendering:
        declare.alone(arguments, "import", "beside --rendering", "only", "option")
    if arguments.propose is not None:
        declare.alone(arguments, "import", "beside --propose", "name", "only", "option")
        return _propose(arguments)
    if bool(arguments.source) == bool(arguments.rendering):
        raise UsageError("packyard import: name a DIR, a TARBALL, or two files with --rendering")
    here = workspaces.find(arguments)
    if arguments.rendering:
        first, second = map(Path, arguments.rendering)
        imported = conversion.of_renderings(here, arguments.name or conversion.name_of(first.stem), first, second)
    else:
        imported = _of_use_cases(here, Path(arguments.source), arguments)
    conversion.write_to(here, imported)
    imported = _with_faults(workspaces.find(arguments), imported, arguments.source or " and ".join(arguments.rendering))
    row = (imported.name, imported.use_cases, list(imported.files), imported.lines, imported.notes)
    if ROWS.show([row], arguments.output):
        _report(here, imported)
    return 0


def _with_faults(here: Workspace, imported: Imported, origin: str) -> Imported:
    """Note the errors of lint; those of rules that objects in use break become warnings, so that the package builds."""
    errors = [each for each in workspace_lint.lint(here, imported.name) if each.severity == "error"]
    if not errors:
        return imported
    rules = sorted({each.rule for each in errors} & {*explanation.IN_USE} - here.severities.keys())
    lint = dict.fromkeys(rules, f"{{severity: warning, reason: {imported.name} was imported with it}}")
    files = {WORKSPACE: workspace.with_lint(here.sources.read(WORKSPACE), lint)} if lint else {}
    notes = [
        Note(DOUBTFUL, f"what {WORKSPACE} makes a warning now", "correct it, and remove the rule there", (str(each),))
        if each.rule in lint
        else Note(
            DOUBTFUL, "what packyard build refuses", "correct it: kustomize or a cluster refuses it, too", (str(each),)
        )
        for each in errors
    ]
    told = replace(imported, files=files, notes=[*imported.notes, *notes]).with_checklist(origin)
    conversion.write_to(here, told, over=True)
    return replace(told, files={**imported.files, **told.files})


def _propose(arguments: argparse.Namespace) -> int:
    """List what could be setters, or bind what is chosen of it."""
    names = list(arguments.propose)
    source = arguments.source or (names.pop(0) if names else "")
    if not source or arguments.rendering:
        raise UsageError("packyard import: name a PACKAGE of the workspace, or a DIR, before --propose")
    here = workspaces.find(arguments)
    if source not in here.package_names() and Path(source).is_dir():
        if names:
            raise UsageError(f"packyard import: {source} is no package of the workspace: import it, then choose names")
        proposals = propose.of_folder(Sources(Path(source)))
    else:
        proposals = propose.of_package(here, package.read(here, source))
    if not names:
        PROPOSED.show(list(proposals.values()), arguments.output)
        return 0
    propose.write_to(here, propose.bind(here, proposals, names))
    if PROPOSED.show([proposals[name] for name in dict.fromkeys(names)], arguments.output):
        output.note(f"next: packyard lint {quote(source)}")
    return 0


def _of_use_cases(here: Workspace, path: Path, arguments: argparse.Namespace) -> Imported:
    with incoming.opened(path) as folder:

        def build(below: str) -> bytes:
            try:
                return builtin.build(folder / below)
            except BeyondError:
                program = programs.find(os.environ.get("PATH", os.defpath))
                if program is None:
                    raise
                if path.is_dir():
                    return program.build(folder / below)
                return _offline(program, folder / below)

        name = arguments.name or conversion.name_of(folder.resolve().name)
        only, options = ([_below(folder, text) for text in some] for some in (arguments.only, arguments.option))
        wishes = Wishes(take=arguments.take, only=only, options=options)
        return conversion.of_use_cases(here, name, folder, build, str(path), wishes, is_alone=not path.is_dir())


def _below(folder: Path, text: str) -> str:
    """Return a path as it is below the folder: users name it from there, or, by their shell, from here."""
    here = Path(os.path.relpath(text, folder))
    return (
        here.as_posix() if Path(text).exists() and ".." not in here.parts else Path(os.path.normpath(text)).as_posix()
    )


def _offline(program: Program, folder: Path) -> bytes:
    """Build what came in a tarball, so that nothing which that names is fetched."""
    try:
        return program.build(folder, env=programs.offline(os.environ))
    except InputError as error:
        hint = "what a tarball names is not fetched: unpack it, look, and import the folder"
        raise InputError(*(each._replace(hint=each.hint or hint) for each in error.problems)) from error


def _report(here: Workspace, imported: Imported) -> None:
    for path in imported.files:
        output.line(here.sources.shown(path))
    for note in imported.notes:
        output.note(f"{note.kind}: {output.counted(len(note.cases), 'case')}: {note.what}")
    output.note(f"{output.counted(len(imported.use_cases), 'use case')}, {imported.lines} lines of sources")
    output.note(f"next: work through {here.sources.shown(imported.checklist)}, then: packyard lint {imported.name}")
