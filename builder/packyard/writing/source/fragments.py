"""The fragments of a README: Markdown files whose names begin with a number, in the order of their names.

libraries/NAME/docs/readme/50-cluster.md         for all packages that build on a library, the first one before others
docs/readme/50-cluster.md                        for all packages of the catalogue, in the place of a library's
packages/NAME/docs/10-description.md             one package's own
packages/NAME/docs/50-cluster.md                 in the place of the catalogue's of that name
"""

from __future__ import annotations

import re
from posixpath import basename

from packyard.core.errors import Problem, refuse
from packyard.writing.source.package import Package
from packyard.writing.source.workspace import Workspace, authored

#: Where the catalogue's lie in a workspace, and a package's in its folder.
SHARED, OWN = "docs/readme", "docs"
_NAME = re.compile(r"[0-9]{2}-[a-z0-9-]+\.md")


def find(workspace: Workspace, package: Package) -> list[tuple[str, str]]:
    """Return the fragments of a package's README, each with its text, in their order."""
    sources = workspace.sources
    folders = *(f"{root}{SHARED}" for root in reversed(workspace.roots)), f"{package.folder}/{OWN}"
    found = {basename(file): file for folder in folders for file in authored(sources, folder)}
    refuse(
        Problem("is not a regular file, as a fragment has to be", file=sources.shown(path))
        for folder in folders
        for path in sources.list(folder)
        if _NAME.fullmatch(basename(path)) and not sources.is_file(path)
    )
    refuse(
        Problem("a fragment's name must begin with two digits and a dash, and end in .md", file=sources.shown(file))
        for name, file in found.items()
        if not _NAME.fullmatch(name)
    )
    return [(found[name], sources.text(found[name]).text) for name in sorted(found)]
