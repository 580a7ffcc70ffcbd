"""The files of a directory in a pod, as the pod lists them; what it says is checked and bounded as all that is foreign.

1048576 1795691000 ./checkpoints/weights.h5        size, time of the last change in seconds, name
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError, IntegrityError, Problem, UnavailableError
from packyard.core.files import filenames
from packyard.running.runs import kubectl as clients
from packyard.running.runs.kubectl import Kubectl

#: What a pod lists at most: its files, and the bytes of the list.
FILES, _BYTES = 500_000, 128 * 1024 * 1024
_LINE = re.compile(rb"(\d{1,16}) (\d{1,11}) \./(.+)")
_OTHER, _UNREAD, _END = b"other", b"unread", b"end"
#: POSIX; BusyBox has it as well. Names with a line break, links and devices are counted, and not listed.
SCRIPT = """\
for each in find stat tar; do command -v "$each" >/dev/null || { echo "lacking $each"; exit; }; done
cd "$1" 2>/dev/null || { echo absent; exit; }
break='*
*'
find . -type f ! -path "$break" -exec stat -c '%s %Y %n' {} + 2>/dev/null || echo unread
find . ! -type d \\( ! -type f -o -path "$break" \\) -exec sh -c 'for each; do echo other; done' sh {} + 2>/dev/null
echo end
"""
_LACKING = re.compile(rb"lacking (find|stat|tar)\n")
#: Signs that this system's files may have in their names, and a package must not.
_SIGNS = str.maketrans(dict.fromkeys('<>:"|?*', "_"))
#: What kubectl says where the connection held, and the command failed.
_FAILED = "command terminated with exit code"


class CutError(UnavailableError):
    """The connection to the pod was lost."""

    def __init__(self, why: str) -> None:
        problem = f"the connection to the pod was lost: {why or 'the pod sent no end'}"
        super().__init__(Problem(problem, hint="type the command again"))


@dataclass(frozen=True, slots=True)
class Listed:
    """A file: its path below the directory, its size in bytes, and when it was changed, in seconds since 1970."""

    path: str
    size: int
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The files; ``refused`` are names that are not copied, each with the reason, ``others`` counts what is no file.

    ``is_partial`` says that something could not be looked into.
    """

    files: Sequence[Listed]
    refused: Sequence[tuple[str, str]]
    others: int
    is_partial: bool


def read(kubectl: Kubectl, words: Sequence[str], directory: str) -> Listing:
    """List a directory in a pod; ``words`` run a command there. Raises `CutError` where that may do another time."""
    with kubectl.start(*words, "sh", "-c", SCRIPT, "sh", directory) as process:
        try:
            assert process.stdout
            assert process.stderr
            data = process.stdout.read(_BYTES + 1)
            if len(data) > _BYTES:
                raise _too_many(directory)
            errors = clients.without_log(process.stderr.read(4096))
            process.wait()
        finally:
            process.kill()
    if lacking := _LACKING.fullmatch(data):
        problem = f"the image of the pod that copies has no {lacking[1].decode()}"
        raise InputError(Problem(problem, hint="--image names one with sh, find, stat and tar: busybox"))
    if data == b"absent\n":
        raise InputError(Problem(f"{directory} is not there, or may not be read: the run has written no results yet"))
    if process.returncode or not data.endswith(_END + b"\n"):
        if has_failed(errors):
            raise UnavailableError(Problem(f"{directory} cannot be listed: {errors}"))
        raise CutError(errors)
    return parse(data, directory)


def has_failed(errors: str) -> bool:
    """Say whether a command in the pod failed, of what kubectl printed; otherwise the connection did."""
    return _FAILED in errors


def _too_many(directory: str) -> IntegrityError:
    hint = "pack them by tar in the run"
    return IntegrityError(Problem(f"{directory} has more than {FILES} files, or names as long", hint=hint))


def parse(data: bytes, directory: str = "") -> Listing:
    """Read what the script prints."""
    lines = data.splitlines()
    marks = (_OTHER, _UNREAD, _END)
    listed = [_file(line) for line in lines if line not in marks]
    if len(listed) > FILES:
        raise _too_many(directory)
    files = {each.path: each for each in listed}
    refused = dict(_refused(list(files)))
    return Listing(
        files=[each for path, each in sorted(files.items()) if path not in refused],
        refused=[*refused.items()],
        others=lines.count(_OTHER),
        is_partial=_UNREAD in lines,
    )


def _file(line: bytes) -> Listed:
    match = _LINE.fullmatch(line)
    if not match:
        raise IntegrityError(Problem(f"the pod lists what is no file: {line[:80]!r}"))
    return Listed(match[3].decode("utf-8", "surrogateescape"), int(match[1]), int(match[2]))


def _refused(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield names that would leave the folder, are reserved, or are one on some file system."""
    sound = []
    for path in paths:
        if reason := filenames.fault(path.translate(_SIGNS)):
            yield path, reason
        else:
            sound.append(path)
    yield from filenames.collisions(sound)
