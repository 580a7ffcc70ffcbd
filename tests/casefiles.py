"""Cases as files in the manner of txtar: what a command does to a tree of files, in one file that a person reads.

    set . REPLICAS=3
    -- before/job.yaml --
    replicas: 1 # {"$openapi":"REPLICAS"}
    -- before/other.yaml (escaped) --
    a: 1\\r
    b: 2\\
    -- before/link.yaml -> other.yaml --
    -- expected.diff --
    …

The text above the first header is the part ``args``. A part is the lines below its header, byte for byte. What lines
of text do not show, and a text without a line break at its end, is written *escaped*: ``\\r`` is a carriage return,
``\\uXXXX`` a character or, as ``\\udcXX``, a byte that is no UTF-8, ``\\\\`` a backslash, and a backslash at the end
of a line takes the line break away. ``-> TARGET`` is a symbolic link; ``before`` as a whole may be one to a folder
below tests/. Folders without files are not written, as git has none.
"""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

TESTS = Path(__file__).parent
CASES = TESTS / "cases"
_HEADER = re.compile(r"^-- (\S+)(?: (\(escaped\))| -> (\S+))? --\n", re.MULTILINE)
_ESCAPED = re.compile(r"\\(\n|r|\\|u[0-9a-f]{4})")
_HIDDEN = re.compile(r"[\\\r\ufeff\udc80-\udcff]|(?<![^\n])-(?=- \S.* --\n)")


class Case:
    """A file of tests/cases/: its parts by their names, and the links among them by theirs."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.id = f"{file.parent.name}/{file.stem}"
        commands, *headers = _HEADER.split(file.read_bytes().decode())
        self.parts = {"args": commands}
        self.links: dict[str, str] = {}
        for name, escaped, target, text in zip(*(headers[start::4] for start in range(4)), strict=True):
            if target:
                self.links[name] = target
            else:
                self.parts[name] = _ESCAPED.sub(_character, text) if escaped else text

    def write_before(self, folder: Path) -> None:
        """Write the files that the commands find into an empty folder."""
        if "before" in self.links:
            shutil.copytree(TESTS / self.links["before"], folder, dirs_exist_ok=True, symlinks=True)
        for name, text in self.parts.items():
            if name.startswith("before/"):
                _place(folder, name).write_bytes(text.encode(errors="surrogateescape"))
        for name, target in self.links.items():
            if name.startswith("before/"):
                _place(folder, name).symlink_to(target)

    def save(self) -> None:
        """Write the file anew with the parts as they are now."""
        links = (f"-- {name} -> {target} --\n" for name, target in self.links.items())
        parts = (_part(name, text) for name, text in self.parts.items() if name != "args")
        self.file.write_bytes("".join([self.parts["args"], *links, *parts]).encode())


def cases(pattern: str) -> Iterable[Case]:
    """Return the cases whose files match a pattern, sorted."""
    return [Case(file) for file in sorted(CASES.glob(f"{pattern}.txtar"))]


def _part(name: str, text: str) -> str:
    if not _HIDDEN.search(text.replace("\\", "")) and text[-1:] in ("", "\n"):
        return f"-- {name} --\n{text}"
    escaped = _HIDDEN.sub(lambda found: {"\r": "\\r", "\\": "\\\\"}.get(found[0], f"\\u{ord(found[0]):04x}"), text)
    return f"-- {name} (escaped) --\n{escaped}" + ("" if text.endswith("\n") else "\\\n")


def _character(found: re.Match[str]) -> str:
    named = {"\n": "", "r": "\r", "\\": "\\"}
    return named[found[1]] if found[1] in named else chr(int(found[1][1:], 16))


def _place(folder: Path, name: str) -> Path:
    file = folder / name.removeprefix("before/")
    file.parent.mkdir(parents=True, exist_ok=True)
    return file
