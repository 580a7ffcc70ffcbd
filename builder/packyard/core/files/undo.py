"""Undo and redo: the step log read backwards. Edits by hand stay where they can be merged.

The log knows a folder by its path, where another package may lie by now: a step counts as long as the files show it.
Steps of a folder that was moved are found where it is now. What was undone is done again only in files that are as that
left them.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from packyard.core.errors import ConflictError, InputError, Problem, refuse
from packyard.core.files import paths
from packyard.core.files.steps import DONE, UNDONE, Changes, Contents, Step, StepLog
from packyard.core.files.tree import Tree

#: Merges a file, by its name, that was edited by hand: its bytes when the step was made, those now, and those to go to.
Merge = Callable[[str, "bytes | None", "bytes | None", "bytes | None"], "bytes | None"]

_NOTHING = "what `packyard set`, `enable`, `upgrade`, `lint --fix` and `cfg` change can be undone"


class History:
    """The changes below some directories that can be undone, or done again.

    Each file is read once: ``tree``, of any of the directories, knows what was read.
    """

    def __init__(self, log: StepLog, tree: Tree, directories: Sequence[Path], merge: Merge) -> None:
        self.log = log
        self.tree = tree
        self.directories = directories
        self.merge = merge

    def newer(self, step: Step) -> tuple[Step, list[Problem]] | None:
        """Return the newest step, if that is not this one; and the edits that hide it."""
        newest = next(self._steps(DONE), step)
        is_newer = newest.file.name > step.file.name
        return (newest, _taken_back(newest, newest.contents(), self._now(newest), self.merge)[1]) if is_newer else None

    def undone(self) -> Step | None:
        """Return the step that was undone last, if its files are as that left them."""
        step = next(self._steps(UNDONE), None)
        after = {name: after for name, (_, after) in step.contents().items()} if step else None
        return step if step and self._now(step) == after else None

    def shown(self) -> Iterator[Step]:
        """Yield the steps that the files show, the newest first.

        They do where one of them, once newer steps are taken back, is as the step left it, and where the step can be
        taken back from what was edited since.
        """
        roots = {paths.root_of(directory) for directory in self.directories}
        ahead: dict[str, bytes | None] = {}
        for past in self.log.steps(DONE):
            moved = sorted(roots, key=lambda root: (os.path.basename(root) != os.path.basename(past.root), root))
            for step in [past] if os.path.isdir(past.root) else [past._replace(root=root) for root in moved]:
                if not step.inside(*self.directories):
                    continue
                contents = step.contents()
                known = {name: ahead[path] for name in contents if (path := step.path(name)) in ahead}
                now = {**self._now(step), **known}
                files, problems = _taken_back(step, contents, now, self.merge)
                is_left = any(after is not None and now[name] == after for name, (_, after) in contents.items())
                if is_left or (not problems and files != now):
                    ahead |= {step.path(name): data for name, data in files.items()}
                    yield step
                    break

    def hindered(self) -> Step:
        """Return the newest step that edits keep from being taken back, where the files show none."""
        for step in self._steps(DONE):
            if _taken_back(step, step.contents(), self._now(step), self.merge)[1]:
                return step
        raise InputError(Problem("nothing to undo", file=str(self.directories[0]), hint=_NOTHING))

    def take_back(self, step: Step) -> Contents:
        """Undo a step, or do it again if it was undone; return the bytes that its files get.

        Edits by hand stay where ``merge`` can keep them; otherwise `ConflictError` is raised, and nothing changes.
        """
        state, tree = DONE if step.file.suffix == f".{UNDONE}" else UNDONE, self.tree.at(step.root)
        with tree.locked(self.log._replace(title=step.title, ends=state, instead=step.file.name)):
            files, problems = _taken_back(step, step.contents(), self._now(step), self.merge)
            refuse(problems, ConflictError)
            tree.write(files)
        return files

    def _steps(self, state: str) -> Iterator[Step]:
        return (step for step in self.log.steps(state) if step.inside(*self.directories))

    def _now(self, step: Step) -> Contents:
        tree = self.tree.at(step.root)
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
