"""The border between packyard and a reader: all that verbs print goes through here, and nothing else prints.

Results go to stdout, the story and problems to stderr. Text for people is cleaned: what a package, a channel or a file
name brings cannot move the cursor, begin a line or turn the text, on a terminal or in a pipe. JSON, diffs and `data`
are for programs, and exact.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from packyard.cli import streams
from packyard.errors import PackyardError, on_one_line

TYPE_CHECKING = False  # `version` does without pathlib
if TYPE_CHECKING:
    from pathlib import Path

#: Whether stories are told, and whether details are; `main` learns both from the command line.
quiet = False
verbose = False


def line(text: str = "") -> None:
    """Print one line of a result."""
    streams.write(_bytes(on_one_line(text) + "\n"))


def page(text: str) -> None:
    """Print a result whose lines are our own: help, a table of kustomize's."""
    streams.write(_bytes(_cleaned(text) + "\n"))


def data(content: bytes) -> None:
    """Print a result that is the user's own, manifests say, byte for byte."""
    streams.write(content)


def read(what: str) -> bytes:
    """Return all of standard input; somebody at a terminal is told what is waited for."""
    if sys.stdin.isatty():
        story(f"reading {what} from the terminal, up to Ctrl-D")
    return streams.read()


def story(text: str) -> None:
    """Tell what happens, in one line on stderr."""
    if not quiet:
        streams.write(_bytes(_masked(on_one_line(text)) + "\n"), "stderr")


def detail(text: str) -> None:
    """Tell what only ``--verbose`` asks for."""
    if verbose:
        streams.write(_bytes(_masked(on_one_line(text)) + "\n"), "stderr")


def problem(text: str) -> None:
    """Say on stderr what is wrong. Further lines are indented, so that none can pass for a message of its own."""
    first, *more = _masked(_cleaned(text)).split("\n")
    lines = [first, *(f"  {each}" if each and not each.startswith("  ") else each for each in more)]
    warning("\n".join(lines))


def warning(text: str) -> None:
    """Say on stderr what has to be said even when quiet; that stderr is gone is no reason to stop."""
    try:
        streams.write(_bytes(_masked(_cleaned(text)) + "\n"), "stderr")
    except (PackyardError, streams.Closed):
        return


def refusal(error: PackyardError) -> None:
    """Say everything that is wrong, a problem each."""
    for each in error.problems:
        problem(str(each))


def counted(number: int, noun: str) -> str:
    """Say how many there are of something: ``1 error``, ``2 errors``."""
    return f"{number} {noun}{'s' * (number != 1)}"


class Progress:
    """One line on stderr that says how far a command is; where that is a terminal, and until it is done."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.count = 0
        self.shown = sys.stderr.isatty() and len(names) > 1 and not quiet

    def done(self, place: int) -> None:
        """Count one more, the one at a place among the names."""
        self.count += 1
        if self.shown:
            last = self.count == len(self.names)
            text = "" if last else on_one_line(f"{self.count}/{len(self.names)} {self.names[place]}")
            streams.write(_bytes(f"\r{text}\x1b[K"), "stderr")


def json_result(value: object) -> None:
    """Print a result as JSON; what would act on a terminal is escaped as JSON does it, and means the same."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=False)
    if not text.replace("\n", "").isprintable():
        text = "\n".join("".join(map(_in_json, each)) for each in text.split("\n"))
    streams.write(_bytes(text + "\n"))


def _in_json(sign: str) -> str:
    import json

    return sign if on_one_line(sign) == sign else json.dumps(sign)[1:-1]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, wide: bool = False, prose: int = 0) -> None:
    """Print a table that fits the terminal, or 80 columns; names, the first column, are never cut.

    The last columns, as many as ``prose`` says, have a line each of their own. With ``wide`` every row is one line with
    all its text.
    """
    from packyard.cli import columns as layout

    bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for number, text in enumerate(layout.lines(columns, rows, wide=wide, prose=prose)):
        streams.write(_bytes((f"\x1b[1m{text}\x1b[m" if bold and not number else text) + "\n"))


def diffs(directory: Path, files: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
    """Print what changes in a directory as one diff, which `patch -p1` takes where one stands.

    ``files`` are paths from the directory with the bytes before and after. Where not all are below the working
    directory, the diff is for the folder that holds them, and the story says so.
    """
    here = os.getcwd()  # noqa: PTH109  # plain paths, which need not be there
    for root in (os.path.abspath(directory), os.path.realpath(directory)):  # noqa: PTH100  # as named, as it is
        whole = {os.path.normpath(os.path.join(root, path)): both for path, both in files.items()}  # noqa: PTH118
        base = os.path.commonpath([root, *map(os.path.dirname, whole)])
        if os.path.commonpath([base, here]) == here:
            base = here
            break
    else:
        if files:
            story(f"the paths of this diff are those below {base}: patch -p1 -d {base}")
    for file, (before, after) in sorted(whole.items()):
        streams.write(_diff(before, after, os.path.relpath(file, base)))


def _diff(before: bytes | None, after: bytes | None, path: str) -> bytes:
    """Return a unified diff that ``patch`` and ``git apply`` accept; nothing where nothing differs.

    Without ``before`` the file is new, without ``after`` it is removed.
    """
    import difflib

    new = "/dev/null" if after is None else _quoted(f"b/{path}")
    old = "/dev/null" if before is None else _quoted(f"a/{path}")
    lines = difflib.unified_diff(_lines(before or b""), _lines(after or b""), old, new, lineterm="\n")
    text = "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
    return text.encode("utf-8", "surrogateescape")


def _quoted(name: str) -> str:
    """Write a file's name as git does: one with a control, a quote or a backslash in quotes, one with a blank ended."""
    if not any(sign < " " or sign in '"\\\x7f' for sign in name):
        return name + "\t" if " " in name else name
    return '"' + "".join(f"\\{ord(sign):03o}" if sign < " " or sign in '"\\\x7f' else sign for sign in name) + '"'


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "surrogateescape")
    return [line + "\n" for line in text.split("\n")[:-1]] + ([text.split("\n")[-1]] if text.split("\n")[-1] else [])


def _cleaned(text: str) -> str:
    return text if text.isprintable() else "\n".join(map(on_one_line, text.split("\n")))


def _masked(text: str) -> str:
    """Hide the user and password of addresses, credentials in their queries, and those of a header."""
    if "://" not in text and "uthorization" not in text:
        return text
    import re

    text = re.sub(r"(\w://)[^/?#\s]*@", r"\1***@", text)
    secrets = r"([?&][\w-]*(?:token|secret|signature|password|credential|key)[\w-]*=)[^&\s]*"
    text = re.sub(secrets, r"\1***", text, flags=re.IGNORECASE)
    return re.sub(r"(authorization\W+)[^\n]*", r"\1***", text, flags=re.IGNORECASE)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
