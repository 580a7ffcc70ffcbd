"""A bundle's README: Markdown fragments, rendered by Jinja2 and joined.

    {% for row in example.required %}
    packyard set . {{ row.name }}={{ row.example }}      ->      packyard set . PVC_NAME=workdisk
    {% endfor %}

Fragments are files whose names begin with a number, in the order of their names. They are rendered by
`readme_process`, within bounds.

libraries/NAME/docs/readme/50-cluster.md         for all packages that build on a library, the first one before others
docs/readme/50-cluster.md                        for all packages of the catalogue, in the place of a library's
packages/NAME/docs/10-description.md             one package's own
packages/NAME/docs/50-cluster.md                 in the place of the catalogue's of that name
"""

import os
import pickle
import re
from collections.abc import Mapping, Sequence
from functools import cache
from posixpath import basename

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.work.answerer import Answerer
from packyard.writing.source.package import Package
from packyard.writing.source.workspace import Workspace, authored

#: Where the catalogue's lie in a workspace, and a package's in its folder.
SHARED, OWN = "docs/readme", "docs"
_NAME = re.compile(r"[0-9]{2}-[a-z0-9-]+\.md")


def find(workspace: Workspace, package: Package) -> list[tuple[str, str]]:
    """Return the fragments of a package's README, each with its text, in their order."""
    sources = workspace.sources
    folders = *(f"{root}{SHARED}" for root in reversed(workspace.roots)), f"{package.folder}/{OWN}"
    by_name = {basename(file): file for folder in folders for file in authored(sources, folder)}
    paths = [path for folder in folders for path in sources.list(folder) if _NAME.fullmatch(basename(path))]
    refuse(
        Problem("a fragment is a file whose name is two digits, a dash, and words, and .md", file=sources.shown(path))
        for path in sorted({*paths, *by_name.values()})
        if path not in paths or not sources.is_file(path)
    )
    return [(by_name[name], sources.text(by_name[name]).text) for name in sorted(by_name)]


def render(fragments: Sequence[tuple[str, str]], context: Mapping[str, object]) -> bytes:
    """Render ``fragments``, pairs of file name and text, and join them with one blank line; empty ones are left out.

    An unknown variable, or any other fault in a fragment, is an `InputError` at its file and line.
    """
    answers = _answerer(os.getpid()).ask(pickle.dumps((fragments, context)), len(fragments))
    pairs = list(zip((file for file, _ in fragments), answers, strict=False))
    refuse(Problem(fault, file=file, line=line) for file, (_, fault, line) in pairs if fault)
    if len(answers) < len(fragments):
        too_much = Problem("takes too much time or memory to render", file=fragments[len(answers)][0], line=1)
        raise InputError(too_much)
    return ("\n\n".join(filter(None, (text.strip("\n") for text, _, _ in answers))) + "\n").encode()


@cache
def _answerer(_: int) -> Answerer:
    return Answerer("packyard.writing.build.readme_process")
