"""A new workspace: it builds on packyard's own library, and builds, lints and is published as it is.

packyard.yaml                   what the workspace is called, and what it builds on
LICENSE                         of all packages
.gitignore                      what is built

.github/workflows/publish.yml   --github: the release job, by a tag
.gitlab-ci.yml                  --gitlab: the same
.schemas/*.json                 --editor: of the files that authors write
.vscode/settings.json           --editor: which file has which schema, for editors with a YAML language server
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from packyard.core.errors import ConflictError, Problem, refuse
from packyard.core.files import paths, regular
from packyard.core.files.paths import WORKSPACE
from packyard.core.files.tree import Tree
from packyard.core.yaml.content import lexeme
from packyard.writing.source import library, schemas
from packyard.writing.source.workspace import PODS

LICENSE = "LICENSE"
#: The recipes of the release job, from the folder of the packages that packyard carries.
_RECIPES = {
    "github": (".github/workflows/publish.yml", "docs/recipes/github-actions.yml"),
    "gitlab": (".gitlab-ci.yml", "docs/recipes/gitlab-ci.yml"),
}
#: What a workspace can have beside its three files.
MORE = (*_RECIPES, "editor")
_PACKYARD = """\
apiVersion: packyard/v1
kind: Workspace
name: {name}
prefix: {prefix} # where use cases lie in a package
license: LICENSE
libraries: [builtin] # bases and overlays that packyard carries; packyard new --list shows them
"""
_SCHEMAS = {
    "package": "packages/*/package.yaml",
    "workspace": WORKSPACE,
    "pods": f"overlays/*/*/{PODS}",
    "krmfile": "**/Krmfile",
    "test": "packages/*/tests/*",
}


def files(name: str, prefix: str, license_id: str) -> dict[str, bytes]:
    """Return the files of a workspace by their paths."""
    return {
        WORKSPACE: _PACKYARD.format(name=lexeme(name), prefix=lexeme(prefix)).encode(),
        LICENSE: f"SPDX-License-Identifier: {license_id}\n".encode(),
        ".gitignore": b"/build/\n",
    }


def more(kinds: Iterable[str]) -> dict[str, bytes]:
    """Return the files of some of `MORE`."""
    contents: dict[str, bytes] = {}
    for kind in kinds:
        if kind in _RECIPES:
            path, recipe = _RECIPES[kind]
            contents[path] = regular.read(library.carried_dir() / recipe)
            continue
        contents |= {f".schemas/{name}.json": schemas.read(name) for name in schemas.NAMES}
        settings = {"yaml.schemas": {f".schemas/{name}.json": pattern for name, pattern in _SCHEMAS.items()}}
        contents[".vscode/settings.json"] = f"{json.dumps(settings, indent=2)}\n".encode()
    return contents


def write(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Write the files into a folder, all or none; a licence that is there already stays, any other file is refused."""
    linked = [str(folder / path) for path in contents if paths.outside(folder, folder / path)]
    refuse(Problem(f"is a link that leads outside of {folder}", file=file) for file in linked)
    contents = {path: data for path, data in contents.items() if path != LICENSE or not os.path.lexists(folder / path)}
    existing = [path for path in contents if os.path.lexists(folder / path)]
    if existing:
        hint = "choose another folder, or move them away"
        raise ConflictError(*(Problem("exists already", file=str(folder / path), hint=hint) for path in existing))
    regular.make_folder(folder)
    tree = Tree(folder)
    with tree.locked(below=False):
        tree.write(contents)
    return [folder / path for path in contents]
