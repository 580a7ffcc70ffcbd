"""The part of the tar format that bundles need: ustar, written with the headers of ``tarfile``, and read here.

Why not read by ``tarfile``: it takes a damaged header for the end of the archive, and in supported versions of Python a
crafted size makes it loop forever. What is not ustar is refused: the extended headers of pax, GNU's long names.

Names and sizes are not checked here, but in ``archive``.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from packyard.core.errors import InputError, IntegrityError, Problem

FILE = "0"
DIRECTORY = "5"

MTIME = 315619200
"""1980-01-02T00:00:00Z, the time of every file and directory in a bundle.

Not zero: GNU tar calls 1970 "an implausibly old time stamp", and zip, to which people repack, begins with 1980. The
second of January is in 1980 in every time zone.
"""

_BLOCK = 512
RECORD = 10240
_MAGIC = b"ustar\x0000"


class TarEntry(NamedTuple):
    """One entry of an archive; ``kind`` is tar's type flag."""

    name: str
    kind: str = FILE
    mode: int = 0o644
    data: bytes = b""


def write(entries: Iterable[TarEntry]) -> bytes:
    """Return the archive of ``entries`` in the order given; its bytes depend on their fields only."""
    parts = []
    for entry in entries:
        parts += [_header(entry), entry.data, bytes(-len(entry.data) % _BLOCK)]
    size = sum(map(len, parts)) + 2 * _BLOCK
    return b"".join(parts) + bytes(2 * _BLOCK + -size % RECORD)


def read(archive: bytes) -> Iterator[TarEntry]:
    """Yield the entries of an archive; raise `IntegrityError` where it is damaged, or not in the ustar format."""
    position = 0
    while any(header := archive[position : position + _BLOCK]):
        entry, size = _parse(header, position)
        start = position + _BLOCK
        position = start + size + -size % _BLOCK
        if position > len(archive):
            raise refusal("the archive ends in the middle of an entry")
        yield entry._replace(data=archive[start : start + size])
    if len(archive) - position < 2 * _BLOCK:
        raise refusal("the archive has no end mark; it is truncated")
    if archive.count(0, position) != len(archive) - position:
        raise refusal("there is data after the end of the archive")


def _header(entry: TarEntry) -> bytes:
    from tarfile import USTAR_FORMAT, TarInfo  # of the verbs that pack only

    info = TarInfo(entry.name)
    info.type, info.mode, info.size, info.mtime = entry.kind.encode(), entry.mode, len(entry.data), MTIME
    try:
        return info.tobuf(USTAR_FORMAT, "utf-8", "strict")
    except ValueError as error:
        problem = "the path is too long for a tar archive"
        raise InputError(Problem(problem, file=entry.name, hint="shorten it to 100 characters")) from error


def _parse(block: bytes, position: int) -> tuple[TarEntry, int]:
    """Read a header block, and return an entry without its data, and how many bytes it has; ``position`` is named."""
    if len(block) < _BLOCK:
        raise refusal("the archive ends in the middle of a header")
    if _octal(block[148:156]) != sum(block) - sum(block[148:156]) + 8 * ord(" "):
        raise refusal(f"the header at byte {position} is damaged")
    magic, name = block[257:265], _text(block[:100])
    if magic != _MAGIC:
        raise refusal(f"the header at byte {position} has an unknown format")
    if any(block[500:]):
        raise refusal(f"the header at byte {position} has data after its last field")
    if block[345] != 0:
        name = f"{_text(block[345:500])}/{name}"
    kind = FILE if block[156] == 0 else chr(block[156])
    return TarEntry(name, kind, _octal(block[100:108])), _octal(block[124:136])


def _octal(field: bytes) -> int:
    match = re.fullmatch(rb" *([0-7]*)[ \0]*", field)
    if match is None:
        raise refusal(f"{field!r} in a header is not an octal number")
    return int(match[1] or b"0", 8)


def _text(field: bytes) -> str:
    name = field.partition(b"\0")[0]
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise refusal(f"the name {name!r} is not UTF-8") from error


def refusal(message: str) -> IntegrityError:
    """Return the error for an archive that is damaged or hostile."""
    return IntegrityError(Problem(message, hint="do not use this archive; fetch it again"))
