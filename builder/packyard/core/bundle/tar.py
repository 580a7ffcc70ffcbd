"""The part of the tar format that bundles need, written and read byte by byte.

Why not ``tarfile``: its output changed between Python 3.8 and 3.9, and a bundle's identity is the digest of these
bytes on every future Python. Its reader takes a damaged header for the end of the archive, and in supported versions
of Python a crafted size makes it loop forever. What is written here is byte for byte what ``tarfile`` (USTAR) of Python
3.9 and later writes for the same names, so that a bundle can be rebuilt without packyard; a test holds that.

Names and sizes are not checked here, but in ``archive``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from packyard.core.errors import InputError, IntegrityError, Problem

FILE = "0"
DIRECTORY = "5"

MTIME = 315619200
"""1980-01-02T00:00:00Z, the time of every file and directory in a bundle.

Not zero: GNU tar calls 1970 "an implausibly old time stamp", and zip, to which people repack, begins with 1980. The
second of January is in 1980 in every time zone.
"""

_BLOCK = 512
_PIECE = 256 * 1024
RECORD = 10240
_NAME, _PREFIX = 100, 155
_EXTENSION_LIMIT = 64 * 1024
_EXTENSIONS_LIMIT = 2 * 1024 * 1024  # for all extended headers together
_MAGIC_POSIX, _MAGIC_GNU = b"ustar\x0000", b"ustar  \0"


class TarEntry(NamedTuple):
    """One entry of an archive that is written; ``kind`` is tar's type flag."""

    name: str
    kind: str = FILE
    mode: int = 0o644
    data: bytes = b""


class FoundEntry(NamedTuple):
    """One entry of an archive that is read, and its ``size`` bytes, piece by piece."""

    name: str
    kind: str
    mode: int
    size: int
    content: Iterator[bytes]


class ByteSource(Protocol):
    """Where bytes are read from, in order: a file, for example."""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes, and none at the end alone."""


def write(entries: Iterable[TarEntry]) -> bytes:
    """Return the archive of ``entries`` in the order given; its bytes depend on their fields only."""
    parts = []
    for entry in entries:
        parts += [_header(entry), entry.data, bytes(-len(entry.data) % _BLOCK)]
    size = sum(map(len, parts)) + 2 * _BLOCK
    return b"".join(parts) + bytes(2 * _BLOCK + -size % RECORD)


def read(source: ByteSource, *, large: bool = False) -> Iterator[FoundEntry]:
    """Yield the entries of an archive in the ustar, pax or GNU format; raise `IntegrityError` where it is damaged.

    The content of an entry can be read until the next one is asked for. Pax and GNU long names are understood. Other
    pax records that change an entry (a size, a sparse map) are refused, and so is what different readers give different
    names: two names for one entry, or the format of star. ``large`` admits files of 8 GiB and more, as GNU writes them.
    """
    position = extensions = 0
    name: str | None = None
    while any(block := _take(source, _BLOCK)):
        header = _Header.parse(block, position, large=large)
        content = _content(source, header.size)
        if header.kind in "xgL":
            extensions += header.size + _BLOCK // 4
            if header.size > _EXTENSION_LIMIT:
                raise refusal("an extended header is larger than 64 KiB")
            if extensions > _EXTENSIONS_LIMIT:
                raise refusal(f"the extended headers are larger than {_EXTENSIONS_LIMIT} bytes")
            extended = _extended_name(header.kind, b"".join(content))
            if name is not None and extended is not None:
                raise refusal(f"{name!r} has a second name: {extended!r}")
            name = name if extended is None else extended
        else:
            name = header.name if name is None else name
            yield FoundEntry(name=name, kind=header.kind, mode=header.mode, size=header.size, content=content)
            name = None
            for _ in content:
                pass  # what nobody read
        position += _BLOCK + header.size + -header.size % _BLOCK
    if name is not None:
        raise refusal("the archive ends after an extended header")
    _check_end(source, len(block))


def _take(source: ByteSource, size: int) -> bytes:
    """Return so many bytes, or fewer at the end."""
    data = source.read(size)
    while len(data) < size and (more := source.read(size - len(data))):
        data += more
    return data


def _content(source: ByteSource, size: int) -> Iterator[bytes]:
    """Yield the content of an entry, and pass over what fills its last block."""
    remaining = size
    while remaining:
        piece = source.read(min(remaining, _PIECE))
        if not piece:
            raise refusal("the archive ends in the middle of an entry")
        remaining -= len(piece)
        yield piece
    if len(_take(source, -size % _BLOCK)) != -size % _BLOCK:
        raise refusal("the archive ends in the middle of an entry")


def _check_end(source: ByteSource, size: int) -> None:
    """Read what follows the first ``size`` bytes of the end mark, which are zero."""
    while piece := source.read(_PIECE):
        size += len(piece)
        if piece.count(0) != len(piece):
            raise refusal("there is data after the end of the archive")
    if size < 2 * _BLOCK:
        raise refusal("the archive has no end mark; it is truncated")


def _header(entry: TarEntry) -> bytes:
    prefix, name = _split(entry.name)
    fields = (
        name.ljust(_NAME, b"\0"),
        b"%07o\0" % entry.mode,
        b"%07o\0" % 0,  # uid
        b"%07o\0" % 0,  # gid
        b"%011o\0" % len(entry.data),
        b"%011o\0" % MTIME,
        b" " * 8,  # the checksum is computed with spaces in its place
        entry.kind.encode(),
        bytes(100),  # link target
        _MAGIC_POSIX,
        bytes(32 + 32 + 8 + 8),  # user name, group name, device numbers
        prefix.ljust(_PREFIX, b"\0"),
        bytes(12),
    )
    header = b"".join(fields)
    return header[:148] + b"%06o\0 " % sum(header) + header[156:]


def _split(text: str) -> tuple[bytes, bytes]:
    """Split a name at the first ``/`` that makes both parts fit into a ustar header."""
    name = text.encode()
    if len(name) <= _NAME:
        return b"", name
    for at in range(len(name) - 1 - _NAME, min(_PREFIX, len(name) - 2) + 1):
        if name[at] == ord("/"):
            return name[:at], name[at + 1 :]
    raise InputError(Problem("the path is too long for a tar archive", file=text, hint="shorten it to 100 characters"))


class _Header(NamedTuple):
    name: str
    kind: str
    mode: int
    size: int

    @classmethod
    def parse(cls, block: bytes, position: int, *, large: bool) -> _Header:
        """Read a header block; messages name ``position``."""
        if len(block) < _BLOCK:
            raise refusal("the archive ends in the middle of a header")
        if _octal(block[148:156]) != sum(block) - sum(block[148:156]) + 8 * ord(" "):
            raise refusal(f"the header at byte {position} is damaged")
        magic = block[257:265]
        if magic not in (_MAGIC_POSIX, _MAGIC_GNU):
            raise refusal(f"the header at byte {position} has an unknown format")
        name = _text(block[:_NAME])
        if magic == _MAGIC_POSIX and any(block[500:]):
            raise refusal(f"the header at byte {position} has data after its last field")
        if magic == _MAGIC_POSIX and block[345] != 0:
            name = f"{_text(block[345:500])}/{name}"
        kind = FILE if block[156] == 0 else chr(block[156])
        size = block[124:136]
        is_large = large and size.startswith(b"\x80\0\0\0")  # eight more bytes have it
        whole = int.from_bytes(size[4:], "big") if is_large else _octal(size)
        return cls(name=name, kind=kind, mode=_octal(block[100:108]), size=whole)


def _octal(field: bytes) -> int:
    match = re.fullmatch(rb" *([0-7]*)[ \0]*", field)
    if match is None:
        raise refusal(f"{field!r} in a header is not an octal number")
    return int(match[1] or b"0", 8)


def _text(field: bytes) -> str:
    return _decode(field.partition(b"\0")[0])


def _decode(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise refusal(f"the name {name!r} is not UTF-8") from error


def _extended_name(kind: str, data: bytes) -> str | None:
    """Return the name that an extended header (pax local or global, GNU long name) gives to the next entry, if any."""
    if kind == "L":
        return _decode(data.removesuffix(b"\0"))
    records = _pax_records(data)
    forbidden = {"size", "linkpath", "hdrcharset"} | ({"path"} if kind == "g" else set())
    for key in records:
        if key in forbidden or key.startswith("GNU.sparse."):
            raise refusal(f"the extended header {key!r} is not accepted")
    if records.get("path") == "":
        raise refusal("an extended header gives an empty name")
    return records.get("path")


def _pax_records(data: bytes) -> dict[str, str]:
    """Read ``<length> <key>=<value>\\n`` records; the length counts the whole record (POSIX.1-2001, pax)."""
    records: dict[str, str] = {}
    position = 0
    while position < len(data):
        match = re.compile(rb"([1-9][0-9]{0,5}) ([^=\n]+)=").match(data, position)
        end = position + int(match[1]) if match else 0
        if match is None or not match.end() < end <= len(data) or data[end - 1 : end] != b"\n":
            raise refusal("an extended header is damaged")
        key = _decode(match[2])
        if key in records and key == "path":
            raise refusal("an extended header gives two names")
        value = data[match.end() : end - 1]
        records[key] = _decode(value) if key == "path" else ""
        position = end
    return records


def refusal(message: str) -> IntegrityError:
    """Return the error for an archive that is damaged or hostile."""
    return IntegrityError(Problem(message, hint="do not use this archive; fetch it again"))
