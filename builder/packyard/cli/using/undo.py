"""Undo the last change below DIR by set, enable, upgrade, lint --fix or cfg: files get their earlier bytes back.

packyard undo [DIR]         the last change; repeat it for the one before
packyard undo [DIR] --list  the changes that can be undone, the newest first
packyard undo [DIR] --redo  do again what was undone last

Edits by hand stay; where they and the change meet in the same lines, nothing is undone. A change that was interrupted
is finished first.
"""

import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote

from packyard.cli import declare, output, state
from packyard.cli import directory as directories
from packyard.cli.rows import Rows
from packyard.core.bundle import address, manifest
from packyard.core.errors import ConflictError, InputError, PackyardError, Problem, UsageError
from packyard.core.files import home, undo
from packyard.core.files.steps import DONE, Step, StepLog
from packyard.core.files.tree import Tree
from packyard.using.options import options
from packyard.using.options.folder import has_options
from packyard.using.upgrade import onefile

Data = bytes | None
ROWS = Rows("change", "title, files (file, change)")
LIST = Rows("change", "step, title, time, files, place", when="--list", columns="TIME, IN=place, FILES, CHANGE=title")


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser)
    parser.switch("--yes", "undo without asking what is older, of one of several packages, or beyond DIR")
    parser.switch("--list", "list the changes that can be undone, the newest first")
    parser.switch("--redo", "do again what was undone last")


def run(arguments: declare.Arguments) -> None:
    """Undo a change, and say which it was."""
    if "".join(arguments.words[:1]).lstrip("-").isdecimal():
        raise UsageError("packyard undo: one change at a time; type packyard undo, and again for the one before")
    directory = directories.only(arguments.words, "undo")
    if arguments.list:
        declare.alone(arguments, "undo", "beside --list", "redo", "yes")
        _list(directory, arguments.output)
        return
    log, tree = state.log(), Tree(directory)
    with tree.locked(log, below=False):  # finishes an interrupted change first
        pass
    history = undo.History(log, tree, places := _places(tree), partial(_merged, log, places))
    shown = history.shown()
    step = history.undone() if arguments.redo else next(shown, None) or history.hindered()
    if step is None:
        hint = "packyard undo takes a change back, and --redo does it again until something else changes"
        raise InputError(Problem("nothing to redo", file=str(directory), hint=hint))
    if not Path(step.root).is_dir():
        hint = "packyard undo DIR is for one package, and --list shows all changes"
        problem = f"is gone, so {step.title} cannot be undone"
        raise InputError(Problem(problem, file=os.path.relpath(step.root), hint=hint))
    is_asked = not (arguments.redo or arguments.yes)
    if is_asked and (newer := history.newer(step)):
        edits = ", ".join(f"{problem.file}:{problem.line}" for problem in newer[1])
        hidden = f"the files do not show the last change, {newer[0].title}" + f" (edited since: {edits})" * bool(edits)
        _ask(f"{hidden}; the one before it is {step.title}", directory)
    elif is_asked and {past.root for past in shown} - {step.root}:
        _ask(f"of several packages here {os.path.relpath(step.root)} was changed last, by {step.title}", directory)
    elif is_asked and len(step.inside(*history.directories)) < len(step.sizes):
        _ask(f"the last change, {step.title}, is one of other files, too, of {address.shown(_place(step))}", directory)
    files = history.take_back(step)
    changes = {os.path.relpath(step.path(name)): _change(step, name, data) for name, data in sorted(files.items())}
    if ROWS.show([(step.title, [*changes.items()])], arguments.output):
        output.detail(*(f"{change:<8} {name}" for name, change in changes.items()))
        count, word = output.counted(len(changes), "file"), "done again" if arguments.redo else "undone"
        output.line(f"{word}: {step.title} ({count} in {address.shown(_place(step))})")


def _ask(change: str, directory: Path) -> None:
    """Ask before a change is undone that is older than one which the files do not show any more."""
    if not output.agreed(f"{change}; undo that?"):
        hint = f"packyard undo {address.typed(directory)} --yes undoes it"
        raise InputError(Problem(change, file=address.of(directory), hint=hint))


def _list(directory: Path, form: str) -> None:
    if why := home.lack((log := state.log()).folder):
        output.note(f"{directory}: nothing to undo, as no history is kept: {why}")
        return
    places = _places(tree := Tree(directory))
    history = undo.History(log, tree, places, partial(_merged, log, places))
    steps = list(history.shown())
    times = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(step.file.stat().st_mtime)) for step in steps]
    rows = [(at + 1, step.title, times[at], len(step.sizes), address.of(_place(step))) for at, step in enumerate(steps)]
    LIST.show(rows, form)
    if not steps:
        undone = history.undone()
        again = f"; packyard undo {quote(str(directory))} --redo does {undone.title} again" if undone else ""
        output.note(f"{directory}: nothing to undo{again}")


def _place(step: Step) -> Path:
    """Return the use case or the folder of which all files of a step are."""
    return Path(os.path.relpath(os.path.commonpath([Path(step.path(name)).parent for name in step.sizes])))


def _merged(log: StepLog, places: list[Path], path: str, then: Data, now: Data, back: Data) -> Data:
    """Merge a file that was edited by hand since a step, as `upgrade` does; a newer step elsewhere is named."""
    data, conflicts = onefile.merge(path, then, now, back, "", "this step")
    if conflicts:
        hint = "revert the edit of these lines first"
        problem = "was changed since in the same lines, or is another package's now; nothing was taken back"
        newer = next((step for step in log.steps(DONE) if path in map(step.path, step.sizes)), None)
        if newer and not newer.inside(*places):
            hint = f"packyard undo {address.typed(_place(newer))} undoes that first"
            problem = f"was changed since by {newer.title}; nothing was undone"
        raise ConflictError(Problem(problem, file=os.path.relpath(path), line=conflicts[0].line, hint=hint))
    return data


def _places(tree: Tree) -> list[Path]:
    """Return a folder, its packages, and the folder of the options that it has enabled: their values belong to it too.

    The history of a package that was moved with the folder is found only in its own.
    """
    places = [tree.root_dir, *(file.parent for file in sorted(tree.root_dir.glob(f"*/{manifest.FILE}")))]
    with suppress(PackyardError):  # a kustomization that cannot be read has no options
        option_folder = options.find(tree)
        if option_folder and has_options(tree) and option_folder.enabled:
            places.append(Path(option_folder.real))
    return places


def _change(step: Step, name: str, data: bytes | None) -> str:
    """Return what becomes of a file."""
    return "removed" if data is None else "added" if step.sizes[name][1] is None else "changed"
