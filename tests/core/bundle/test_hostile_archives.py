"""Hostile and damaged archives: each is refused as a whole, and nothing is written."""

import gzip
import io
import tarfile
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from core.bundle.unpacking import read, unpack
from packyard.core.bundle import tar
from packyard.core.bundle.archive import LIMITS, Limits, Member, compress, pack
from packyard.core.errors import InputError, IntegrityError

Refuse = Callable[..., None]

GOOD = pack("top", [Member(path="a", data=b"1"), Member(path="b/c", data=b"2" * 1000, executable=True)])


@pytest.fixture
def refuse(tmp_path: Path) -> Refuse:
    """Return a function that unpacks an archive and holds that it is refused, and that no file came to be."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "into").mkdir()

    def run(data: bytes, match: str, *, limits: Limits = LIMITS) -> None:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(IntegrityError, match=match):
            unpack(data, tmp_path / "outside" / "into", limits=limits)
        assert sorted(tmp_path.rglob("*")) == before

    return run


def packed(entries: Iterable[tar.TarEntry]) -> bytes:
    return compress(tar.write([tar.TarEntry(name="top/", kind="5", mode=0o755), *entries]))


def named(*names: str) -> bytes:
    """Return an archive of files with these names, below a proper top directory; one ending in / is a directory."""
    return packed(tar.TarEntry(name=name, kind="5" if name.endswith("/") else "0") for name in names)


def headed(name: str = "top/a", at: int = 0, field: bytes = b"", behind: int = 10240) -> bytes:
    """Return an archive whose first header has other bytes at a place, and a checksum that fits."""
    header = bytearray(tar.write([tar.TarEntry(name=name)])[:512])
    header[at : at + len(field)] = field
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return compress(bytes(header) + bytes(behind))


def by_tarfile(*infos: tarfile.TarInfo, form: int = tarfile.USTAR_FORMAT, **options: object) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form, **options) as archive:  # type: ignore[call-overload]
        for info in infos:
            archive.addfile(info, io.BytesIO(bytes(max(0, info.size))))
    return compress(buffer.getvalue())


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def changed(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :] if at >= 0 else changed(data, len(data) + at, value)


ELSEWHERE = {
    "an absolute path": (named("/tmp/packyard-hostile"), "is an absolute path"),
    "a path that leaves by dots": (named("top/../../escaped"), r"leads out of its directory with '\.\.'"),
    "a path by dots and back": (named("top/a/../b"), r"leads out of its directory with '\.\.'"),
    "a directory by dots": (named("top/../x/"), r"leads out of its directory with '\.\.'"),
    "a file outside of the top directory": (named("other/a"), "'other/a' is outside of the top directory 'top'"),
    "a file beside the top directory": (named("a"), "'a' is outside of the top directory 'top'"),
    "a name that begins like the top directory": (named("top-secret/a"), "outside of the top directory 'top'"),
    "a top directory of dots": (compress(tar.write([tar.TarEntry(name="../a")])), "leads out"),
    "a file as the top directory": (
        compress(tar.write([tar.TarEntry(name="top", data=b"1")])),
        "'top' is outside of the top directory",
    ),
}


EXTENDED = {
    "a pax name in place of a harmless one": (
        by_tarfile(tarfile.TarInfo(f"top/{'a' * 120}"), form=tarfile.PAX_FORMAT),
        "'././@PaxHeader' is of the unknown type 'x'",
    ),
    "a global name": (
        by_tarfile(tarfile.TarInfo("top/a"), form=tarfile.PAX_FORMAT, pax_headers={"path": "top/b"}),
        "unknown type 'g'",
    ),
    "a GNU long name": (
        by_tarfile(tarfile.TarInfo(f"../{'x' * 120}"), form=tarfile.GNU_FORMAT),
        "has an unknown format",
    ),
}
NO_FILES = {
    "a symbolic link": (by_tarfile(special("top/a", tarfile.SYMTYPE, "/etc/passwd")), "'top/a' is a symbolic link"),
    "a link that files go through": (
        by_tarfile(special("top/a", tarfile.SYMTYPE, ".."), tarfile.TarInfo("top/a/b")),
        "symbolic link",
    ),
    "a link as the top directory": (
        by_tarfile(special("top", tarfile.SYMTYPE, "/tmp"), tarfile.TarInfo("top/x")),
        "symbolic link",
    ),
    "a hard link": (by_tarfile(special("top/a", tarfile.LNKTYPE, "/etc/passwd")), "'top/a' is a hard link"),
    "a device of characters": (by_tarfile(special("top/a", tarfile.CHRTYPE)), "'top/a' is a device"),
    "a device of blocks": (by_tarfile(special("top/a", tarfile.BLKTYPE)), "'top/a' is a device"),
    "a named pipe": (by_tarfile(special("top/a", tarfile.FIFOTYPE)), "'top/a' is a named pipe"),
    **{f"the type {kind:02x}": (headed(at=156, field=bytes([kind])), "type") for kind in b"SDVM7KXz\xff"},
    "a directory with contents": (packed([tar.TarEntry(name="top/d/", kind="5", data=b"x")]), "contents of its own"),
}
NAMES = {
    "a file twice": (named("top/a", "top/a"), "'top/a' appears twice"),
    "a directory twice": (named("top/a/", "top/a/"), "'top/a' appears twice"),
    "a file and a directory": (named("top/a", "top/a/"), "'top/a' appears twice"),
    "a file needed as a directory": (named("top/a", "top/a/b"), "needs 'top/a' to be both"),
    "a directory needed as a file": (named("top/a/b", "top/a"), "needs 'top/a' to be both"),
    "files by case": (named("top/README.md", "top/readme.md"), "collides with 'top/README.md'"),
    "directories by case": (named("top/Docs/a", "top/docs/b"), "collides with 'top/Docs'"),
    "a sharp s": (named("top/straße", "top/STRASSE"), "collides with"),
    "Unicode normalization": (named("top/caf\u00e9", "top/cafe\u0301"), "collides with"),
    **{
        f"what nobody sees {sign!a}": (named("top/README.md", f"top/READ{sign}ME.md"), "collides with 'top/README.md'")
        for sign in "\u200c\u200d\u200e\u206a\ufeff"
    },
    **{
        f"the character {sign!a}": (named(f"top/a{sign}b"), "has the character")
        for sign in "\n\r\x1b\x7f\x85\u2028\u202e\\"
    },
    "what is not UTF-8": (
        by_tarfile(tarfile.TarInfo("top/caf\u00e9"), form=tarfile.USTAR_FORMAT, encoding="latin-1"),
        "is not UTF-8",
    ),
    **{f"an empty part {name}": (named(name), "empty part") for name in ("top//a", "top/./a", "./top/a", "top/a//")},
    "a file that ends like a directory": (packed([tar.TarEntry(name="top/a/", data=b"1")]), "empty part"),
    "a path too deep": (named("top/" + "a/" * 40 + "b"), "deeper than 32"),
}
DAMAGED = {
    "a size that is not there": (headed(at=124, field=b"00007777777\0"), "ends in the middle of an entry"),
    "a size of gigabytes": (headed(at=124, field=b"77777777777\0"), "ends in the middle of an entry"),
    "a size beyond octal": (headed(at=124, field=b"\x80" + b"\0" * 3 + b"\x7f" * 8), "is not an octal number"),
    "a negative size": (headed(at=124, field=b"\xff" * 10 + b"\xfe\0"), "is not an octal number"),
    "a size with a sign": (headed(at=124, field=b"-0000001000\0"), "is not an octal number"),
    "a header of star, which divides names elsewhere": (
        headed(f"top/{'d' * 140}/a", 508, b"tar\0"),
        "data after its last field",
    ),
    "an unknown format": (headed(at=257, field=bytes(8)), "has an unknown format"),
    "a damaged header": (compress(changed(GOOD, 515, GOOD[515] ^ 1)), "the header at byte 512 is damaged"),
    "no end mark": (compress(GOOD[: 512 * 7]), "no end mark"),
    "something behind the end mark": (compress(GOOD + GOOD), "data after the end of the archive"),
    "another checksum": (changed(compress(GOOD), -8, compress(GOOD)[-8] ^ 1), "gzip data is damaged"),
    "a second gzip member": (compress(GOOD) + compress(GOOD), "data after the end of the gzip stream"),
    "a zero behind gzip": (compress(GOOD) + b"\0", "data after the end of the gzip stream"),
    **{
        f"no gzip, {data[:4]!r}": (data, "damaged|truncated")
        for data in (b"", b"PK\x03\x04", b"<html>not found</html>", GOOD)
    },
    **{
        f"no tar of {len(data)} bytes": (compress(data), "no end mark|is empty|middle of a header|damaged|octal")
        for data in (b"", bytes(1024), b"hello", b"x" * 2000)
    },
}


@pytest.mark.parametrize(
    ("data", "match"), (rows := ELSEWHERE | EXTENDED | NO_FILES | NAMES | DAMAGED).values(), ids=rows
)
def test_an_archive_with_a_path_by_dots_a_link_or_damage_is_refused(refuse: Refuse, data: bytes, match: str) -> None:
    refuse(data, match)
    assert not Path("/tmp/packyard-hostile").exists()


# More than fits


def test_more_entries_than_allowed(refuse: Refuse) -> None:
    many = named(*(f"top/{number}" for number in range(20)))
    refuse(many, "more than 20 entries", limits=Limits(entries=20))
    assert len(read(many, limits=Limits(entries=21))) == 20
    many = named(*(f"top/{number}/{'d/' * 20}a" for number in range(10)))  # folders that have no entry
    refuse(many, "more than 100 entries", limits=Limits(entries=100))


def test_a_file_larger_than_allowed(refuse: Refuse) -> None:
    one = packed([tar.TarEntry(name="top/a", data=bytes(1001))])
    refuse(one, "'top/a' is larger than 1000 bytes", limits=Limits(file_size=1000))


def test_more_bytes_than_allowed(refuse: Refuse) -> None:
    refuse(compress(GOOD), "expands to more than 10239 bytes", limits=Limits(total_size=10239))
    assert read(compress(GOOD), limits=Limits(total_size=10240))


def test_a_bomb_is_not_expanded(refuse: Refuse) -> None:
    bomb = gzip.compress(bytes(200 * 1024 * 1024), 1)
    tracemalloc.start()
    try:
        refuse(bomb, "expands to more than", limits=Limits(total_size=1024 * 1024))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 1024 * 1024


def test_a_bomb_by_its_ratio_is_not_expanded(refuse: Refuse) -> None:
    bomb = packed([tar.TarEntry(name=f"top/{number}", data=bytes(100_000)) for number in range(20)])
    tight = Limits(small_size=1_000_000, ratio=100)
    refuse(bomb, f"expands to more than {max(1_000_000, 100 * len(bomb))} bytes", limits=tight)
    assert read(bomb, limits=Limits(small_size=3_000_000, ratio=100))
    assert read(bomb, limits=Limits(small_size=1_000_000, ratio=1000))


def test_what_would_be_refused_for_its_ratio_is_not_compressed() -> None:
    with pytest.raises(InputError, match="would expand to more than 100 times its compressed size"):
        compress(bytes(LIMITS.small_size + 1))


def test_gzip_data_cut_off_anywhere(refuse: Refuse) -> None:
    whole = compress(GOOD)
    for length in range(len(whole)):
        refuse(whole[:length], "truncated|ends in the middle")


# What is harmless is taken, without what could harm


def test_special_mode_bits_and_owners_are_dropped(tmp_path: Path) -> None:
    info = tarfile.TarInfo("top/a")
    info.mode, info.uid, info.uname = 0o6777, 12345, "somebody"
    file = unpack(by_tarfile(info), tmp_path) / "a"
    assert file.stat().st_mode & 0o7022 == 0
    assert file.stat().st_uid != 12345


# Names that mean something to packyard, to version control, or to other systems

RESERVED = [
    *(".git/config", ".GIT/config", ".git./a", ".git /a", "d/.git", "git~1/config", ".hg/hgrc", ".svn/entries"),
    *(".g\u200cit/config", "\ufeff.git/config", "\uff0egit/config", ".\u017fvn/entries", ".git\u202f"),
    *(".packyard-journal", "d/.packyard-0123456789abcdef/a", ".Packyard-journal", ".p\u200backyard-x", "PACKYA~1"),
    *(".cm.yaml.packyard-new", "cm.yaml.PACKYARD-NEW", "cm.yaml.packyard-new. ", "d.packyard-new/a"),
    *("CON", "con.txt", "aux/a", "NUL .txt", "com1", "COM\u00b2.yaml", "lpt9", "conin$", "prn."),
    *("a:b", "a<b", "a>b", 'a"b', "a|b", "a?b", "a*b", "a.", "a ", "d./a", "d /a", "...", "a:$DATA"),
]


@pytest.mark.parametrize("path", RESERVED, ids=ascii)
def test_no_bundle_brings_a_name_that_means_something_else_somewhere(path: str, refuse: Refuse) -> None:
    refuse(named(f"top/{path}"), "has a part|has the character")
    with pytest.raises(InputError, match=r"has a part|has the character"):
        pack("top", [Member(path=path, data=b"")])


@pytest.mark.parametrize("path", [".gitignore", ".github/a", "git", "console", "com10", "a~1", "x.packyard", "a.b.c"])
def test_a_name_that_only_looks_like_one_of_those_is_taken(path: str) -> None:
    assert [member.path for member in read(compress(pack("top", [Member(path=path, data=b"")])))] == [path]


def test_a_package_that_would_be_refused_when_it_is_read_is_not_packed() -> None:
    for members in (
        [Member(path="a", data=bytes(LIMITS.file_size + 1))],
        [Member(path=str(number), data=bytes(LIMITS.file_size)) for number in range(3)],
        [Member(path=f"{number}/a", data=b"") for number in range(LIMITS.entries // 2)],
    ):
        with pytest.raises(InputError, match=r"larger than|would hold more than"):
            pack("top", members)
