"""Undo and redo: the step log read backwards. Edits by hand stay where they can be merged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from packyard.core.errors import ConflictError, InputError, Problem, refuse
from packyard.core.files.steps import DONE, UNDONE, Contents, Step, StepLog
from packyard.core.files.tree import Tree

#: Merges a file, by its name, that was edited by hand: its bytes when the step was made, those now, and those to go to.
Merge = Callable[[str, "bytes | None", "bytes | None", "bytes | None"], "bytes | None"]


def newer(log: StepLog, step: Step, *directories: Path) -> Step | None:
    """Return the newest step below one of the directories, if that is newer than this one: the files do not show it."""
    newest = next(_steps(log, DONE, directories), None)
    return None if newest is None or newest.file == step.file else newest


def done(log: StepLog, *directories: Path) -> Iterator[Step]:
    """Yield the steps below one of the directories that can be undone, the newest first."""
    return filter(_happened, _steps(log, DONE, directories))


def last(log: StepLog, *directories: Path) -> Step:
    """Return the newest step below one of the directories that can be undone."""
    if step := next(done(log, *directories), None):
        return step
    hint = "what `packyard set`, `enable`, `upgrade`, `lint --fix` and `cfg` change can be undone"
    raise InputError(Problem("nothing to undo", file=str(directories[0]), hint=hint))


def undone(log: StepLog, *directories: Path) -> Step:
    """Return the step below one of the directories that was undone last."""
    if step := next(_steps(log, UNDONE, directories), None):
        return step
    hint = "packyard undo takes the last change back, and only then there is one to do again"
    raise InputError(Problem("nothing to redo", file=str(directories[0]), hint=hint))


def _steps(log: StepLog, state: str, directories: Sequence[Path]) -> Iterator[Step]:
    """Yield the steps in a state below one of the directories, the newest first."""
    return (step for step in log.steps(state) if step.touches(*directories))


def take_back(log: StepLog, step: Step, *, merge: Merge) -> Contents:
    """Undo a step, or do it again if it was undone; return the bytes that its files get.

    Edits by hand stay where ``merge`` can keep them; otherwise `ConflictError` is raised, and nothing changes.
    """
    tree = Tree(Path(step.root))
    files: dict[str, bytes | None] = {}
    problems: list[Problem] = []
    state = DONE if step.file.suffix == f".{UNDONE}" else UNDONE
    with tree.locked(log._replace(title=step.title, ends=state, instead=step.file.name)):
        for name, (before, after) in step.contents().items():
            now = content(tree, name)
            try:
                files[name] = before if now == after else merge(step.path(name), after, now, before)
            except ConflictError as error:
                problems += error.problems
        refuse(problems, ConflictError)
        tree.write(files)
        with suppress(OSError):  # it stays where all files were like that already
            step.file.unlink(missing_ok=True)
    return files


def content(tree: Tree, name: str) -> bytes | None:
    """Return a file's bytes, or None where there is no file."""
    return tree.read(name) if tree.has(name) else None


def _happened(step: Step) -> bool:
    """Whether there is something to undo: otherwise the user undid it by hand."""
    tree = Tree(Path(step.root))
    return any(content(tree, name) != before for name, (before, _) in step.contents().items())
