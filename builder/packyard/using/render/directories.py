"""The directories that a build reads: those that kustomizations name, below or beside the one that is built.

Programs read a directory anew each time that it is named, which counts in the budget: of thirty that each name the
next one twice, a billion times. What they refuse themselves, a circle or a directory without a kustomization, is left
to the build.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from packyard.core.errors import InputError, Problem
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import parse_file
from packyard.using.kustomize.dialect import Budget
from packyard.using.options.folder import PROGRAMS


def folders(tree: Tree) -> Iterator[Tree]:
    """Yield a directory, and the local ones that its kustomization names, for example an enabled component, each once.

    A directory is refused of which a program would read more kustomizations than our own build reads files.
    """
    ahead: list[tuple[Path, tuple[str, ...]]] = [(tree.root_dir, ())]
    budget = Budget(tree.root_dir, "name each directory once")
    named: dict[str, list[Path]] = {}
    while ahead:
        folder, above = ahead.pop()
        real = os.path.realpath(folder)
        budget.spend(b"")
        if real not in named:
            named[real] = list(_named(opened := tree.at(folder), budget))
            yield opened
        chain = (*above, real)
        ahead += [(path, chain) for path in reversed(named[real]) if os.path.realpath(path) not in chain]


def _named(tree: Tree, budget: Budget) -> Iterator[Path]:
    """Yield the directories that a kustomization names, as often as it names them."""
    for name in kustomization.names(tree.has_file)[:1]:
        for document in parse_file(budget.spend(tree.read(name)), tree.prefix + name)[:1]:
            for text in (node.value for node in kustomization.named(document.root, kustomization.BUILT)):
                path = tree.root_dir / text
                if not text or text.startswith("/") or "\0" in text:
                    continue
                if regular.is_folder(path):
                    short, real = Path(os.path.normpath(path)), os.path.realpath(path)
                    yield short if os.path.realpath(short) == real else Path(real)
                elif path.parent.name == PROGRAMS:
                    message = f"has its programs in {os.path.normpath(path)}, which is not there"
                    hint = f"copy the folder {PROGRAMS} of its package to that place, or take the whole package"
                    raise InputError(Problem(message, file=str(budget.directory), hint=hint))
