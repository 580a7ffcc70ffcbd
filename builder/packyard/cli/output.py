"""Printing: all that verbs print goes through here.

Results go to stdout; messages and problems go to stderr. Text for people is cleaned: text from a package, a channel or
a file name cannot move the cursor, start a line or reorder text. JSON, diffs and `data` are for programs, and exact.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from packyard.cli import colors, streams
from packyard.core.errors import PackyardError, on_one_line

if TYPE_CHECKING:
    from pathlib import Path

Rows = Sequence[Sequence[str]] | Callable[[], Iterable[Sequence[str]]]

#: Whether messages are printed, and whether details are; set from the command line.
quiet = False
verbose = False
_hidden: frozenset[str] = frozenset()

_TICK = 0.2  # seconds
_HOME = "\x1b[H"
_WORTH_A_WORD = 10  # seconds that work takes, and that are left
_TELLS = 0.02  # the part of the work that says how long the rest takes
_doing = _arriving = ""


def line(text: str = "") -> None:
    """Print one line of a result."""
    if "results" in _hidden:
        return
    streams.write(_bytes(on_one_line(text) + "\n"))


def page(text: str) -> None:
    """Print a result of several lines: help, a table of kustomize's."""
    streams.write(_bytes(_cleaned(text) + "\n"))


def data(content: bytes) -> None:
    """Print a result byte for byte, such as manifests."""
    streams.write(content)


def printed(content: bytes, prefix: str) -> None:
    """Print a line that a program printed, as it is; at a terminal without what would act on that, colors included."""
    if on_terminal():
        import re

        text = re.sub(r"\x1b\[[\d;]*m", "", content.decode("utf-8", "backslashreplace")).rstrip("\r\n")
        line(prefix + text.rpartition("\r")[2].expandtabs())  # what was printed last in its place
    elif prefix:
        streams.write(prefix.encode() + content.removesuffix(b"\n") + b"\n")
    else:
        streams.write(content)


def read(what: str) -> bytes:
    """Return all of standard input; at a terminal, first print what is expected."""
    if sys.stdin.isatty():
        note(f"reading {what} from the terminal, up to Ctrl-D")
    return streams.read()


def secret(prompt: str) -> str | None:
    """Ask for a text on the terminal without showing it; None where there is no terminal."""
    from getpass import getpass

    return getpass(prompt, sys.stderr) if sys.stdin.isatty() else None


def on_terminal() -> bool:
    """Say whether results are printed on a terminal."""
    return sys.stdout.isatty()


def digest(whole: str) -> str:
    """Return a digest as a result shows it: on a terminal its first twelve digits, as docker shows it."""
    return whole.removeprefix("sha256:")[:12] if on_terminal() else whole


def can_draw() -> bool:
    """Say whether results are printed on a terminal that can place its cursor."""
    return on_terminal() and os.environ.get("TERM", "dumb") != "dumb"


def size() -> tuple[int, int]:
    """Return the columns and rows of the terminal."""
    from shutil import get_terminal_size

    return get_terminal_size()


@contextmanager
def screen() -> Iterator[Callable[[Sequence[str]], None]]:
    """Have the terminal's other screen, to draw lines on that fit it, again and again; what was there comes back."""

    def draw(lines: Sequence[str]) -> None:
        placed = "".join(f"\x1b[{row};1H{text}\x1b[K" for row, text in enumerate(lines, 1))
        streams.write(_bytes(f"{placed or _HOME}\x1b[J"))
        flush()

    streams.write(b"\x1b[?1049h\x1b[?25l\x1b[2J")
    try:
        yield draw
    finally:
        streams.write(b"\x1b[?25h\x1b[?1049l")
        flush()


def drawn(text: str) -> None:
    """Print a line as it was drawn, with its colors."""
    streams.write(_bytes(text + "\n"))


def is_utf8() -> bool:
    """Say whether results may have signs beyond ASCII."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def flush() -> None:
    """Hand on what is printed so far, for those who read along."""
    streams.flush()


def can_ask() -> bool:
    """Say whether there is somebody at a terminal to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(prompt: str) -> str:
    """Ask for a line on the terminal; an empty text where there is none."""
    if not can_ask():
        return ""
    streams.write(_bytes(_cleaned(prompt)), "stderr")
    return sys.stdin.readline().strip()


def note(text: str) -> None:
    """Print a message in one line on stderr, unless quiet."""
    if not quiet and "messages" not in _hidden:
        streams.write(_bytes(masked(on_one_line(text)) + "\n"), "stderr")


@contextmanager
def without(*kinds: str) -> Iterator[None]:
    """Print no ``results``, or no ``messages``, of a step of something larger; problems and warnings are printed."""
    global _hidden
    before, _hidden = _hidden, frozenset(kinds)
    try:
        yield
    finally:
        _hidden = before


def waiting(text: str, seconds: float) -> None:
    """Show on a terminal, in a line that the next message takes the place of, what is waited for and since when."""
    if seconds >= 1:
        _show(text, seconds)


def _show(text: str, seconds: float) -> None:
    if _is_watched():
        shown = masked(on_one_line(text)) + (f" ({seconds:.0f} s)" if seconds >= 1 else "")
        streams.show(_bytes(shown[: size()[0] - 1]))


def waited() -> None:
    """Clear the line of `waiting`."""
    streams.clear()


def _is_watched() -> bool:
    return sys.stderr.isatty() and not quiet


@contextmanager
def busy(text: str) -> Iterator[None]:
    """Show in the line of `waiting` what is being done; `doing` and `arriving` say how far it is.

    A thread does that, and processes are only forked where there is one thread: `progress` is for work that forks.
    """
    if not _is_watched():
        yield
        return
    from threading import Event, Thread

    ended, begin = Event(), monotonic()
    doing(text)
    arriving("", 0, 0)

    def show() -> None:
        with suppress(PackyardError, streams.Closed):
            while not ended.wait(_TICK):
                waiting(", ".join(filter(None, (_doing, _arriving))), monotonic() - begin)

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        waited()


def doing(text: str) -> None:
    """Say how far `busy` work is."""
    global _doing
    _doing = text


def arriving(what: str, arrived: int, size: int | None) -> None:
    """Say how many bytes of a file have arrived, as long as some are missing."""
    global _arriving
    unit, name = (1e6, "MB") if (size or arrived) >= 1e6 else (1e3, "kB")
    whole = f" of {size / unit:.1f}" if size is not None else ""
    _arriving = "" if arrived == size else f"{what}: {arrived / unit:.1f}{whole} {name}"


def detail(text: str) -> None:
    """Print a message that only ``--verbose`` asks for."""
    if verbose:
        streams.write(_bytes(masked(on_one_line(text)) + "\n"), "stderr")


def problem(text: str) -> None:
    """Print a problem on stderr, even when quiet."""
    marked("error", text)


def warning(text: str) -> None:
    """Print what does not keep the command from its work on stderr, even when quiet."""
    marked("warning", text)


def marked(mark: str, text: str) -> None:
    """Print a message behind its mark. Further lines are indented, so that they do not look like other messages."""
    first, *more = masked(_cleaned(text)).split("\n")
    lines = [first, *(f"  {line}" if line and not line.startswith("  ") else line for line in more)]
    _on_stderr(f"{colors.painted(f'{mark}:', mark, 'stderr')} " + "\n".join(lines))


def notice(text: str) -> None:
    """Print what is neither a problem nor a warning on stderr, even when quiet."""
    _on_stderr(masked(_cleaned(text)))


def _on_stderr(text: str) -> None:
    """Do not fail if stderr is closed."""
    try:
        streams.write(_bytes(text + "\n"), "stderr")
    except (PackyardError, streams.Closed):
        return


def refusal(error: PackyardError) -> None:
    """Print every problem of an error."""
    for each in error.problems:
        problem(str(each))
        if each.detail:
            detail(each.detail)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 error``, ``2 errors``."""
    return f"{number} {noun}{'s' * (number != 1)}"


@contextmanager
def progress(names: Sequence[str]) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how many of several things are done, and the last one, as the caller is told their places."""
    begin, number = monotonic(), 0

    def done(place: int) -> None:
        nonlocal number
        number += 1
        if len(names) > 1:
            seconds = monotonic() - begin
            doing(f"{number} of {len(names)}{_left(seconds, number / len(names))}: {names[place]}")
            _show(_doing, seconds)

    try:
        yield done
    finally:
        waited()


def _left(seconds: float, done: float) -> str:
    """Say how long the rest will take, by the part that is done after some seconds, where that is worth a word."""
    left = seconds / done - seconds
    if min(seconds, left) < _WORTH_A_WORD or done < _TELLS:
        return ""
    return f", about {left / 60:.0f} min left" if left >= 90 else f", about {left:.0f} s left"


def json_object(value: object) -> None:
    """Print an object as JSON; characters that act on a terminal are escaped, which means the same."""
    import json

    streams.write(_bytes(_exact(json.dumps(value, indent=2, ensure_ascii=False)) + "\n"))


def json_list(values: Iterable[object]) -> None:
    """Print a list as `json_object` prints its items, without holding all of it."""
    import json

    before = "["
    for value in values:
        text = json.dumps(value, indent=2, ensure_ascii=False, default=_in_words).replace("\n", "\n  ")
        streams.write(_bytes(f"{before}\n  {_exact(text)}"))
        before = ","
    streams.write(_bytes("[]\n" if before == "[" else "\n]\n"))


def yaml_list(values: Iterable[object]) -> None:
    """Print the list that `json_list` prints as YAML; an item with what acts on a terminal is written as JSON."""
    import json

    from packyard.using.kustomize import manifest

    empty = b"[]\n"
    for value in values:
        text = json.dumps(value, ensure_ascii=False, default=_in_words)
        is_clean = on_one_line(text) == text
        streams.write(manifest.write([[json.loads(text)]]) if is_clean else f"- {_in_yaml(text)}\n".encode())
        empty = b""
    streams.write(empty)


def _in_yaml(text: str) -> str:
    """Escape the characters of JSON that act on a terminal as YAML does."""
    return "".join(sign if on_one_line(sign) == sign else f"\\U{ord(sign):08x}" for sign in text)


def _in_words(value: Any) -> object:
    """Return what JSON has for a value that it does not know: a path, or what else is written as a text."""
    if isinstance(value, Mapping):
        return dict(value)
    if not any("__str__" in vars(each) for each in type(value).__mro__[:-1]):
        raise TypeError(f"{value!r} has no JSON")
    return str(value)


def _exact(text: str) -> str:
    """Escape the characters of JSON that act on a terminal."""
    if text.replace("\n", "").isprintable():
        return text
    return "\n".join("".join(map(_in_json, each)) for each in text.split("\n"))


def _in_json(sign: str) -> str:
    import json

    return sign if on_one_line(sign) == sign else json.dumps(sign)[1:-1]


def table(
    columns: Sequence[str],
    rows: Rows,
    *,
    wide: bool = False,
    prose: int = 0,
    ahead: int | None = None,
    bare: bool = False,
) -> None:
    """Print a table that fits the terminal; nothing in it is cut.

    The last ``prose`` columns have lines of their own. With ``wide``, every row is one line with all its text, as it is
    in a pipe. Rows that are more than memory holds come from a function, which is called twice, or once with ``ahead``:
    so many rows are read before any is printed, and the others are printed as they come. A ``bare`` table without rows
    has no header.
    """
    from packyard.cli import columns as layout

    each = rows if callable(rows) else lambda: rows
    room = size()[0] if on_terminal() and not wide else None
    lines = layout.lines(
        columns, each, prose=0 if wide else prose, room=room, paint=painted_cell, ahead=ahead, bare=bare
    )
    for number, text in enumerate(lines):
        streams.write(_bytes((text if number else colors.painted(text, "heading")) + "\n"))
        if ahead and not number % ahead:
            flush()


def painted_cell(column: int, text: str) -> str:
    """Color what a reader looks for in a table: names, states, and what must be set."""
    return colors.painted(text, colors.STATES.get(text, "" if column else "name"))


def diffs(directory: Path, files: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
    """Print the changes in a directory as one diff, for `patch -p1` in the working directory.

    ``files`` maps paths, relative to the directory, to the bytes before and after. Where not all are below the working
    directory, the diff is for the folder that holds them all, and a message says so.
    """
    here = os.getcwd()  # noqa: PTH109  # plain paths, which need not exist
    for root in (os.path.abspath(directory), os.path.realpath(directory)):  # noqa: PTH100  # as named, without links
        whole = {os.path.normpath(os.path.join(root, path)): both for path, both in files.items()}  # noqa: PTH118
        base = os.path.commonpath([root, *map(os.path.dirname, whole)])
        if os.path.commonpath([base, here]) == here:
            base = here
            break
    else:
        if files:
            note(f"the paths of this diff are relative to {base}: patch -p1 -d {base}")
    texts({os.path.relpath(file, base): both for file, both in whole.items()})


def texts(files: Mapping[str, tuple[bytes | None, bytes | None]]) -> None:
    """Print the changes of files, by paths below a folder that the reader knows, as one unified diff."""
    for path, (before, after) in sorted(files.items()):
        diff(_diff(before, after, path))


def diff(content: bytes) -> None:
    """Print a unified diff, byte for byte but for the colors of its lines on a terminal."""
    if not colors.used_on("stdout"):
        streams.write(content)
        return
    for text in content.decode("utf-8", "surrogateescape").splitlines(keepends=True):
        bare = text.rstrip("\n")
        style = next((style for begin, style in colors.DIFF if bare.startswith(begin)), "")
        streams.write((colors.painted(bare, style) + text[len(bare) :]).encode("utf-8", "surrogateescape"))


def _diff(before: bytes | None, after: bytes | None, path: str) -> bytes:
    """Return a unified diff for ``patch`` and ``git apply``; empty where nothing differs.

    The file is new without ``before``, and removed without ``after``.
    """
    import difflib

    new = "/dev/null" if after is None else _quoted(f"b/{path}")
    old = "/dev/null" if before is None else _quoted(f"a/{path}")
    lines = difflib.unified_diff(_lines(before or b""), _lines(after or b""), old, new, lineterm="\n")
    text = "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
    return text.encode("utf-8", "surrogateescape")


def _quoted(name: str) -> str:
    """Return a file's name as git writes it: special characters quoted, a name with a space ended by a tab."""
    if not any(sign < " " or sign in '"\\\x7f' for sign in name):
        return name + "\t" if " " in name else name
    return '"' + "".join(f"\\{ord(sign):03o}" if sign < " " or sign in '"\\\x7f' else sign for sign in name) + '"'


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "surrogateescape")
    return [line + "\n" for line in text.split("\n")[:-1]] + ([text.split("\n")[-1]] if text.split("\n")[-1] else [])


def _cleaned(text: str) -> str:
    return text if text.isprintable() else "\n".join(map(on_one_line, text.split("\n")))


def masked(text: str) -> str:
    """Hide the user and password of addresses, credentials in their queries, and those of a header."""
    if "://" not in text and "uthorization" not in text.lower():
        return text
    import re

    text = re.sub(r"(\w://)[^/?#\s]*@", r"\1***@", text)
    secrets = r"([?&][\w-]*(?:token|secret|signature|password|credential|key)[\w-]*=)[^&\s]*"
    text = re.sub(secrets, r"\1***", text, flags=re.IGNORECASE)
    return re.sub(r"(\bauthorization\"?\s*[:=]\s*)[^\n]*", r"\1***", text, flags=re.IGNORECASE)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
