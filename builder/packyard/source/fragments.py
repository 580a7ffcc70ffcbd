"""The fragments of a README: Markdown files whose names begin with a number, in the order of their names.

docs/readme/50-cluster.md                        for all packages of the catalogue
packages/NAME/docs/10-description.md             one package's own
packages/NAME/docs/50-cluster.md                 in the place of the catalogue's of that name
"""

from __future__ import annotations

import re
from pathlib import Path

from packyard.errors import Problem, refuse
from packyard.source.package import Package
from packyard.source.workspace import Workspace, authored
from packyard.yaml.document import decode

#: Where the catalogue's lie in a workspace, and a package's in its folder.
SHARED, OWN = "docs/readme", "docs"
_NAME = re.compile(r"[0-9]{2}-[a-z0-9-]+\.md")


def find(workspace: Workspace, package: Package) -> list[tuple[Path, str]]:
    """Return the fragments of a package's README, each with its text, in their order."""
    folders = workspace.root_dir / SHARED, package.folder / OWN
    found = {file.name: file for folder in folders for file in authored(folder)}
    refuse(
        Problem("a fragment's name must begin with two digits and a dash, and end in .md", file=str(file))
        for file in found.values()
        if not _NAME.fullmatch(file.name)
    )
    files = [found[name] for name in sorted(found)]
    return [(file, decode(file.read_bytes(), str(file))[1]) for file in files]
