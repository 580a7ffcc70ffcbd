"""Import kustomizations, manifests or a package of kpt: they become a source package of the workspace."""

import os
from dataclasses import replace
from pathlib import Path

from packyard.cli import declare, output, workspaces
from packyard.cli.rows import Rows
from packyard.core.errors import BeyondError, InputError, Problem
from packyard.core.files.tree import Tree
from packyard.using.kustomize import builtin
from packyard.using.render import directories, programs
from packyard.writing.authoring import init
from packyard.writing.authoring.import_ import conversion, note
from packyard.writing.authoring.import_.conversion import Imported
from packyard.writing.authoring.import_.note import DOUBTFUL, Note
from packyard.writing.build import workspace_lint
from packyard.writing.checks import exception, explanation
from packyard.writing.source.package import slug
from packyard.writing.source.workspace import Workspace

ROWS = Rows("package", "name, useCases, files, notes (kind, what, do=todo, cases)")
EXAMPLE = "packyard import old/overlays --name web"
#: Beside package.yaml: what an author has to work through.
CHECKLIST = "import.md"
_EXCEPTED = ("{}, which an exception in a comment above allows", "correct the line, and remove the comment")
_CARRIED = "name a Secret that each user creates instead: who gets the package has this one"
_REFUSED = ("what packyard build refuses", "correct it")


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("source", metavar="DIR", help="kustomizations, manifests, or a package of kpt")
    parser.value("--name NAME", "what to call the package (default: as the folder is called)")
    workspaces.add_argument(parser)


def run(arguments: declare.Arguments) -> None:
    """Write the package, and say what its author has to work through."""
    here = workspaces.find(arguments)
    imported = _read(here, Path(arguments.source), arguments)
    init.write(here.root_dir, imported.files)
    imported = _with_faults(workspaces.find(arguments), imported)
    checklist = f"packages/{imported.name}/{CHECKLIST}"
    files = {**imported.files, checklist: note.page(arguments.source, imported.notes).encode()}
    tree = Tree(here.root_dir)
    with tree.locked(below=False):
        for path in imported.files:
            tree.read(path)
        tree.write(files)
    row = (imported.name, imported.use_cases, list(files), imported.notes)
    if ROWS.show([row], arguments.output):
        output.line(*files)
        for each in imported.notes:
            if each.todo == _CARRIED:
                places = (":".join(case.split(":", 2)[:2]) for case in each.cases)
                output.warning(f"the package has secrets in plain text: {', '.join(places)}")
            output.note(f"{each.kind}: {output.counted(len(each.cases), 'case')}: {each.what}")
        output.note(output.counted(len(imported.use_cases), "use case"))
        place = "" if here.root_dir.samefile(".") else f"in {here.root_dir.resolve()}, "
        output.note(f"next: {place}work through {checklist}, then: packyard lint {imported.name}")


def _with_faults(here: Workspace, imported: Imported) -> Imported:
    """Note the errors of lint; those of rules that objects in use break become exceptions, so that it builds."""
    errors = [finding for finding in workspace_lint.lint(here, imported.name) if finding.severity == "error"]
    files, excepted = dict(imported.files), list[tuple[str, int, str]]()
    paths = {here.sources.shown(path): path for path in files}
    for error in sorted(errors, key=lambda error: -error.line):  # so that the lines above stay where they are
        path, place = paths.get(error.file), (error.file, error.line, error.rule)
        if path and exception.may_have(path) and error.rule in explanation.IN_USE and place not in excepted:
            data = exception.write(files[path], error, f"{imported.name} was imported with it")
            excepted += [place] if data != files[path] else []
            files[path] = data
    notes = imported.notes
    for error in errors:
        above = sum(file == error.file and line <= error.line for file, line, _ in excepted)
        what, todo = _EXCEPTED if (error.file, error.line, error.rule) in excepted else _REFUSED
        todo = _CARRIED if error.rule == "plain-secret" and what != _REFUSED[0] else todo
        case = str(replace(error, file=paths.get(error.file, error.file), line=error.line + above))
        notes = [*notes, Note(DOUBTFUL, what.format(error.rule), todo, (case,))]
    return imported._replace(files=files, notes=note.joined(notes))


def _build(folder: Path) -> bytes:
    """Build a folder as packyard does, or where it cannot as kustomize does."""
    try:
        return builtin.build(Tree(folder))
    except BeyondError:
        program = programs.find(os.environ.get("PATH", os.defpath))
        if program is None:
            raise
        list(directories.folders(Tree(folder)))  # which refuses what a program would read for ever
        return program.build(folder)


def _read(here: Workspace, folder: Path, arguments: declare.Arguments) -> Imported:
    if not folder.is_dir():
        is_file = "is a file", "name the folder that holds it; of a tarball, what it unpacks to"
        message, hint = is_file if folder.is_file() else ("no such folder", "git clone fetches one")
        raise InputError(Problem(message, file=str(folder), hint=hint))
    name = arguments.name or slug(folder.resolve().name)
    return conversion.of_folder(here, name, folder, _build)
