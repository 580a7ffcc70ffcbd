"""Undo and redo: the step log read backwards. Edits by hand stay where they can be merged.

The log knows a folder by its path, where another package may lie by now: a step counts as long as the files show it.
Steps of a folder that was moved are found where it is now. What was undone is done again only in files that are as that
left them.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from packyard.core.errors import ConflictError, InputError, Problem, refuse
from packyard.core.files import paths
from packyard.core.files.steps import DONE, UNDONE, Changes, Contents, Step, StepLog
from packyard.core.files.tree import Tree

#: Merges a file, by its name, that was edited by hand: its bytes when the step was made, those now, and those to go to.
Merge = Callable[[str, "bytes | None", "bytes | None", "bytes | None"], "bytes | None"]

_NOTHING = "what `packyard set`, `enable`, `upgrade`, `lint --fix` and `cfg` change can be undone"


def newer(log: StepLog, step: Step, *directories: Path, merge: Merge) -> tuple[Step, list[Problem]] | None:
    """Return the newest step below one of the directories, if that is not this one; and the edits that hide it."""
    newest = next((later for later in log.steps(DONE) if later.touches(*directories)), step)
    is_newer = newest.file.name > step.file.name
    return (newest, _taken_back(newest, newest.contents(), _now(newest), merge)[1]) if is_newer else None


def undone(log: StepLog, *directories: Path) -> Step | None:
    """Return the step that was undone last below one of the directories, if its files are as that left them."""
    step = next((step for step in log.steps(UNDONE) if step.touches(*directories)), None)
    return step if step and _now(step) == {name: after for name, (_, after) in step.contents().items()} else None


def shown(log: StepLog, *directories: Path, merge: Merge) -> Iterator[Step]:
    """Yield the steps below one of the directories that the files show, the newest first.

    They do where one of them, once newer steps are taken back, is as the step left it, and where the step can be taken
    back from what was edited since.
    """
    roots = {paths.root_of(directory) for directory in directories}
    ahead: dict[str, bytes | None] = {}
    for past in log.steps(DONE):
        moved = sorted(roots, key=lambda root: (os.path.basename(root) != os.path.basename(past.root), root))
        for step in [past] if os.path.isdir(past.root) else [past._replace(root=root) for root in moved]:
            if not step.touches(*directories):
                continue
            contents = step.contents()
            now = {**_now(step), **{name: ahead[path] for name in contents if (path := step.path(name)) in ahead}}
            files, problems = _taken_back(step, contents, now, merge)
            is_left = any(after is not None and now[name] == after for name, (_, after) in contents.items())
            if is_left or (not problems and files != now):
                ahead |= {step.path(name): data for name, data in files.items()}
                yield step
                break


def last(log: StepLog, *directories: Path, merge: Merge) -> Step:
    """Return the newest step below one of the directories that the files show; else one that they hinder."""
    below = (step for step in log.steps(DONE) if step.touches(*directories))
    hindered = (step for step in below if _taken_back(step, step.contents(), _now(step), merge)[1])
    if step := next(shown(log, *directories, merge=merge), None) or next(hindered, None):
        return step
    raise InputError(Problem("nothing to undo", file=str(directories[0]), hint=_NOTHING))


def _now(step: Step, tree: Tree | None = None) -> Contents:
    tree = tree or Tree(Path(step.root))
    return {name: tree.read(name) if tree.has_file(name) else None for name in step.sizes}


def _taken_back(
    step: Step, contents: Changes, now: Contents, merge: Merge
) -> tuple[dict[str, bytes | None], list[Problem]]:
    """Return the bytes that files get when a step is taken back, and what keeps others from it."""
    files: dict[str, bytes | None] = {}
    problems: list[Problem] = []
    for name, (before, after) in contents.items():
        try:
            files[name] = before if now[name] == after else merge(step.path(name), after, now[name], before)
        except ConflictError as error:
            problems += error.problems
    return files, problems


def take_back(log: StepLog, step: Step, *, merge: Merge) -> Contents:
    """Undo a step, or do it again if it was undone; return the bytes that its files get.

    Edits by hand stay where ``merge`` can keep them; otherwise `ConflictError` is raised, and nothing changes.
    """
    tree = Tree(Path(step.root))
    state = DONE if step.file.suffix == f".{UNDONE}" else UNDONE
    with tree.locked(log._replace(title=step.title, ends=state, instead=step.file.name)):
        files, problems = _taken_back(step, step.contents(), _now(step, tree), merge)
        refuse(problems, ConflictError)
        tree.write(files)
    return files
