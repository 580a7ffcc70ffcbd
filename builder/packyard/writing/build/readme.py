"""A bundle's README: Markdown fragments, rendered by Jinja2 and joined.

    {% for row in example.required %}
    kustomize cfg set . {{ row.name }} {{ row.example }}      ->      kustomize cfg set . PVC_NAME workdisk
    {% endfor %}

Fragments are files whose names begin with a number, in the order of their names. They are sandboxed by `bounded`: they
can format what they are given, and reach nothing else.

libraries/NAME/docs/readme/50-cluster.md         for all packages that build on a library, the first one before others
docs/readme/50-cluster.md                        for all packages of the catalogue, in the place of a library's
packages/NAME/docs/10-description.md             one package's own
packages/NAME/docs/50-cluster.md                 in the place of the catalogue's of that name
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping, Sequence
from posixpath import basename
from typing import TYPE_CHECKING

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.markdown import code
from packyard.core.work.memo import Memo
from packyard.writing.source.package import Package
from packyard.writing.source.workspace import Workspace, authored

if TYPE_CHECKING:
    from jinja2 import Template

    from packyard.writing.build.bounded import Bounded

#: Where the catalogue's lie in a workspace, and a package's in its folder.
SHARED, OWN = "docs/readme", "docs"
_NAME = re.compile(r"[0-9]{2}-[a-z0-9-]+\.md")


def find(workspace: Workspace, package: Package) -> list[tuple[str, str]]:
    """Return the fragments of a package's README, each with its text, in their order."""
    sources = workspace.sources
    folders = *(f"{root}{SHARED}" for root in reversed(workspace.roots)), f"{package.folder}/{OWN}"
    by_name = {basename(file): file for folder in folders for file in authored(sources, folder)}
    refuse(
        Problem("is not a regular file, as a fragment has to be", file=sources.shown(path))
        for folder in folders
        for path in sources.list(folder)
        if _NAME.fullmatch(basename(path)) and not sources.is_file(path)
    )
    refuse(
        Problem("a fragment's name must begin with two digits and a dash, and end in .md", file=sources.shown(file))
        for name, file in by_name.items()
        if not _NAME.fullmatch(name)
    )
    return [(by_name[name], sources.text(by_name[name]).text) for name in sorted(by_name)]


def render(fragments: Sequence[tuple[str, str]], context: Mapping[str, object], memo: Memo) -> bytes:
    """Render ``fragments``, pairs of file name and text, and join them with one blank line; empty ones are left out.

    An unknown variable, or any other fault in a fragment, is an `InputError` at its file and line.
    """
    rendered = (_render(file, text, context, memo).strip("\n") for file, text in fragments)
    return ("\n\n".join(filter(None, rendered)) + "\n").encode()


def _environment() -> Bounded:
    from packyard.writing.build.bounded import Bounded  # imports Jinja2: slow, and only `build` needs it

    return Bounded({"code": code, "cell": cell})


def _template(file: str, text: str, memo: Memo) -> Template:
    from jinja2 import Template

    environment = memo.once("readme", _environment)
    code = environment.compile(text, filename=file)
    return Template.from_code(environment, code, dict(environment.globals))


def _render(file: str, text: str, context: Mapping[str, object], memo: Memo) -> str:
    from jinja2 import TemplateSyntaxError

    try:
        template = memo.once(("fragment", file, text), lambda: _template(file, text, memo))
        memo.once("readme", _environment).begin()
        return template.render(context)
    except TemplateSyntaxError as error:
        raise InputError(Problem(error.message or "syntax error", file=file, line=error.lineno)) from error
    except Exception as error:  # an expression in a fragment can raise anything: 1/0, a wrong argument, …
        raise InputError(Problem(str(error) or type(error).__name__, file=file, line=_line(error, file))) from error


def _line(error: Exception, file: str) -> int:
    """Return the line of the fragment in which ``error`` was raised; Jinja2 puts it into the traceback."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return (lines[-1] or 0) if lines else 0


def cell(value: object) -> str:
    """Return a value for a cell of a Markdown table: on one line, with no bar that would end it."""
    return " ".join(str(value or "").split()).replace("|", "\\|")
