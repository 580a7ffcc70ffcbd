"""Correcting what lint found, where it is certain what has to be there; `packyard undo` takes it back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from packyard.cli import output, state
from packyard.core.files.tree import Tree
from packyard.writing.authoring.fix import fix as fix_file
from packyard.writing.checks.finding import Finding


def fix(found: Sequence[Finding], folders: Iterable[Path]) -> int:
    """Correct the files below some folders, those of each all or none; return how many findings are gone."""
    return sum(_fix(found, folder) for folder in folders)


def _fix(found: Sequence[Finding], folder: Path) -> int:
    tree = Tree(folder)
    by_file: dict[str, list[Finding]] = {}
    for each in found:
        path = os.path.relpath(each.file, folder)
        if each.fix and not path.startswith(".."):
            by_file.setdefault(path, []).append(each)
    files, fixed = dict[str, bytes | None](), list[Finding]()
    with tree.locked():
        for path, findings in by_file.items():
            new, gone = fix_file(tree.read(path), findings[0].file, findings)
            if gone:
                files[path] = new
                fixed += gone
        tree.write(files, state.keep(folder, "lint --fix"))
    for each in fixed:
        output.note(f"{each.file}:{each.line}: fixed [{each.rule}]")
    return len(fixed)
