"""Print what a use case composes to, with what lint finds; on a terminal again at each save, until Ctrl-C.

After a save only the difference is printed. With options objects are printed as they are built:

packyard preview llm-serving one-gpu/user-allocated-pvc --option queue MEMORY=64Gi
"""

from __future__ import annotations

import argparse
import time
from contextlib import suppress
from pathlib import Path

from packyard.cli import declare, output, unified, workspaces
from packyard.cli.rows import Rows
from packyard.cli.writing import uses
from packyard.core.errors import UsageError
from packyard.writing.build.preview import Preview, View, choose
from packyard.writing.source import package

ROWS = Rows("file", "file, text")
_PAUSE = 0.2  # seconds between two looks at the sources
_SETTLED = 0.1  # seconds that an editor may take to write a file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("name", metavar="NAME", help="a package of the workspace")
    parser.add_argument(
        "path", metavar="USECASE", nargs="?", default="", help="one of its use cases (default: the first)"
    )
    parser.add_argument("values", metavar="NAME=VALUE", nargs="*", help="values that are set")
    uses.add_arguments(parser, "preview")
    declare.switch(parser, "--once", "do not wait for changes")
    workspaces.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the use case; the exit code is 1 if it does not compose and no change is waited for."""
    here = workspaces.find(arguments)
    words, use = uses.split(arguments, filter(None, [arguments.path, *arguments.values]), "preview", arguments.name)
    if len(words) > 1:
        raise UsageError(f"packyard preview: {words[1]!r} must be NAME=VALUE; packyard preview --help shows the usage")
    path = choose(package.read(here, arguments.name), words[0] if words else "")
    preview = Preview(here.root_dir, arguments.name, path, here.libraries, use)
    view = preview.look()
    is_text = ROWS.show([(file, data.decode()) for file, data in view.files.items()], arguments.output)
    for file, data in view.files.items() if is_text else ():
        output.data(f"# {file}\n".encode() + data + b"---\n")
    _tell(view)
    if arguments.once or not is_text or not output.on_terminal():
        return 1 if view.problems else 0
    output.note(f"waiting for changes of {arguments.name} {path}; Ctrl-C ends")
    with suppress(KeyboardInterrupt):
        while True:
            while not preview.has_changed():
                time.sleep(_PAUSE)
            time.sleep(_SETTLED)
            view = _next(view, preview.look())
    return 0


def _next(before: View, view: View) -> View:
    """Print how a view differs from the last one that composed, and return the one to compare with next."""
    output.note(time.strftime("%H:%M:%S saved"))
    _tell(view)
    if view.problems:
        return before
    names = sorted({*before.files, *view.files})
    both = {name: (before.files.get(name), view.files.get(name)) for name in names}
    changed = {name: pair for name, pair in both.items() if pair[0] != pair[1]}
    unified.diffs(Path(), changed)
    return view


def _tell(view: View) -> None:
    for problem in view.problems:
        output.problem(str(problem))
    for finding in view.findings:
        output.marked(finding.severity, f"{finding.problem} [{finding.rule}]")
    if not view.problems:
        output.note(f"{output.counted(len(view.findings), 'finding')} of lint")
