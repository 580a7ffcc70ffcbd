"""Hostile and damaged archives: each is refused as a whole, and nothing is written."""

from __future__ import annotations

import contextlib
import gzip
import io
import random
import tarfile
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bundle.unpacking import unpack
from packyard.core.bundle import tar
from packyard.core.bundle.archive import LIMITS, Limits, Member, compress, decompress, pack, read
from packyard.core.errors import InputError, IntegrityError

Refuse = Callable[..., None]

GOOD = pack("top", [Member(path="a", data=b"1"), Member(path="b/c", data=b"2" * 1000, executable=True)])


@pytest.fixture
def refuse(tmp_path: Path) -> Refuse:
    """Return a function that unpacks an archive and holds that it is refused, and that no file came to be."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "into").mkdir()

    def run(data: bytes, match: str, *, top: str | None = "top", limits: Limits = LIMITS) -> None:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(IntegrityError, match=match):
            unpack(data, tmp_path / "outside" / "into", top=top, limits=limits)
        assert sorted(tmp_path.rglob("*")) == before

    return run


def packed(entries: Iterable[tar.TarEntry]) -> bytes:
    return compress(tar.write([tar.TarEntry(name="top/", kind="5", mode=0o755), *entries]))


def named(*names: str) -> bytes:
    """Return an archive of files with these names, below a proper top directory; one ending in / is a directory."""
    return packed(tar.TarEntry(name=name, kind="5" if name.endswith("/") else "0") for name in names)


def by_tarfile(*infos: tarfile.TarInfo, form: int = tarfile.PAX_FORMAT, **options: object) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form, **options) as archive:  # type: ignore[call-overload]
        for info in infos:
            archive.addfile(info, io.BytesIO(bytes(max(0, info.size))))
    return compress(buffer.getvalue())


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def with_size(field: bytes) -> bytes:
    """Return an archive whose first header claims a size that the standard library would not write."""
    header = bytearray(tar.write([tar.TarEntry(name="top/a")])[:512])
    header[124:136] = field
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return compress(bytes(header) + bytes(10240))


# Names that lead elsewhere


def test_an_absolute_path(refuse: Refuse) -> None:
    refuse(named("/tmp/packyard-hostile"), "is an absolute path")
    assert not Path("/tmp/packyard-hostile").exists()


def test_a_path_that_leaves_by_dots(refuse: Refuse) -> None:
    refuse(named("top/../../escaped"), r"leads out of its directory with '\.\.'")


def test_a_path_that_leaves_by_dots_and_comes_back(refuse: Refuse) -> None:
    refuse(named("top/a/../b"), r"leads out of its directory with '\.\.'")


def test_a_directory_that_leaves_by_dots(refuse: Refuse) -> None:
    refuse(named("top/../x/"), r"leads out of its directory with '\.\.'")


def test_a_top_directory_of_dots(refuse: Refuse) -> None:
    refuse(compress(tar.write([tar.TarEntry(name="../a")])), r"leads out", top=None)


def test_a_file_outside_of_the_top_directory(refuse: Refuse) -> None:
    refuse(named("other/a"), "'other/a' is outside of the top directory 'top'")


def test_a_file_beside_the_top_directory(refuse: Refuse) -> None:
    refuse(named("a"), "'a' is outside of the top directory 'top'")


def test_a_name_that_only_begins_like_the_top_directory(refuse: Refuse) -> None:
    refuse(named("top-secret/a"), "outside of the top directory 'top'")


def test_two_top_directories(refuse: Refuse) -> None:
    refuse(named("other/a"), "outside of the top directory", top=None)


def test_another_top_directory_than_the_one_expected(refuse: Refuse) -> None:
    refuse(compress(pack("bert", [])), "outside of the top directory 'top'")


def test_a_file_in_the_place_of_the_top_directory(refuse: Refuse) -> None:
    refuse(compress(tar.write([tar.TarEntry(name="top", data=b"1")])), "'top' is outside of the top directory")


def test_an_extended_header_which_readers_take_differently(refuse: Refuse) -> None:
    info = tarfile.TarInfo("top/a")
    info.pax_headers = {"path": "/etc/cron.d/x"}
    refuse(by_tarfile(info), "only plain ustar is accepted")
    refuse(by_tarfile(tarfile.TarInfo("top/a"), pax_headers={"path": "top/b"}), "only plain ustar is accepted")
    refuse(by_tarfile(tarfile.TarInfo(f"../{'x' * 120}"), form=tarfile.GNU_FORMAT), "only plain ustar is accepted")


# Entries that are no files


def test_a_symbolic_link(refuse: Refuse) -> None:
    refuse(by_tarfile(special("top/a", tarfile.SYMTYPE, "/etc/passwd")), "'top/a' is a symbolic link")


def test_a_symbolic_link_that_files_go_through(refuse: Refuse) -> None:
    refuse(by_tarfile(special("top/a", tarfile.SYMTYPE, ".."), tarfile.TarInfo("top/a/b")), "symbolic link")


def test_a_link_as_the_top_directory(refuse: Refuse) -> None:
    refuse(by_tarfile(special("top", tarfile.SYMTYPE, "/tmp"), tarfile.TarInfo("top/x")), "symbolic link")


def test_a_hard_link(refuse: Refuse) -> None:
    refuse(by_tarfile(special("top/a", tarfile.LNKTYPE, "/etc/passwd")), "'top/a' is a hard link")


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE])
def test_a_device(refuse: Refuse, kind: bytes) -> None:
    refuse(by_tarfile(special("top/a", kind)), "'top/a' is a device")


def test_a_named_pipe(refuse: Refuse) -> None:
    refuse(by_tarfile(special("top/a", tarfile.FIFOTYPE)), "'top/a' is a named pipe")


@pytest.mark.parametrize("kind", [b"S", b"D", b"V", b"M", b"7", b"K", b"X", b"z", b"\xff"])
def test_a_type_that_nobody_needs(refuse: Refuse, kind: bytes) -> None:
    refuse(
        packed([tar.TarEntry(name="top/a", kind=kind.decode("latin-1"))]) if kind < b"\x80" else _typed(kind), "type"
    )


def _typed(kind: bytes) -> bytes:
    header = bytearray(tar.write([tar.TarEntry(name="top/a")])[:512])
    header[156:157] = kind
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return compress(bytes(header) + bytes(10240))


def test_a_directory_with_contents_of_its_own(refuse: Refuse) -> None:
    refuse(packed([tar.TarEntry(name="top/d/", kind="5", data=b"x")]), "contents of its own")


# Names that mean something else elsewhere


def test_a_file_that_is_there_twice(refuse: Refuse) -> None:
    refuse(named("top/a", "top/a"), "'top/a' appears twice")


def test_a_directory_that_is_there_twice(refuse: Refuse) -> None:
    refuse(named("top/a/", "top/a/"), "'top/a' appears twice")


def test_a_file_and_a_directory_of_one_name(refuse: Refuse) -> None:
    refuse(named("top/a", "top/a/"), "'top/a' appears twice")


def test_a_file_that_is_needed_as_a_directory(refuse: Refuse) -> None:
    refuse(named("top/a", "top/a/b"), "needs 'top/a' to be both")


def test_a_directory_that_is_needed_as_a_file(refuse: Refuse) -> None:
    refuse(named("top/a/b", "top/a"), "needs 'top/a' to be both")


def test_files_that_differ_in_case(refuse: Refuse) -> None:
    refuse(named("top/README.md", "top/readme.md"), "collides with 'top/README.md'")


def test_directories_that_differ_in_case(refuse: Refuse) -> None:
    refuse(named("top/Docs/a", "top/docs/b"), "collides with 'top/Docs'")


def test_files_that_differ_in_a_sharp_s(refuse: Refuse) -> None:
    refuse(named("top/straße", "top/STRASSE"), "collides with")


def test_files_that_differ_in_unicode_normalization(refuse: Refuse) -> None:
    refuse(named("top/caf\u00e9", "top/cafe\u0301"), "collides with")


@pytest.mark.parametrize("char", ["\n", "\r", "\x1b", "\x7f", "\x85", "\u2028", "\u202e", "\\"], ids=ascii)
def test_a_name_with_a_character_that_is_more_than_a_character(refuse: Refuse, char: str) -> None:
    refuse(named(f"top/a{char}b"), "has the character")


def test_a_name_that_is_not_utf8(refuse: Refuse) -> None:
    info = tarfile.TarInfo("top/caf\u00e9")
    refuse(by_tarfile(info, form=tarfile.USTAR_FORMAT, encoding="latin-1"), "is not UTF-8")


@pytest.mark.parametrize("name", ["top//a", "top/./a", "./top/a", "top/a//"])
def test_a_name_with_an_empty_part(refuse: Refuse, name: str) -> None:
    refuse(named(name), "empty part")


def test_a_file_whose_name_ends_like_a_directory(refuse: Refuse) -> None:
    refuse(packed([tar.TarEntry(name="top/a/", data=b"1")]), "empty part")


def test_a_path_too_deep_to_be_meant_well(refuse: Refuse) -> None:
    refuse(named("top/" + "a/" * 40 + "b"), "deeper than 32")


# More than fits


def test_more_entries_than_allowed(refuse: Refuse) -> None:
    many = named(*(f"top/{number}" for number in range(20)))
    refuse(many, "more than 20 entries", limits=Limits(entries=20))
    assert len(read(many, limits=Limits(entries=21))) == 20


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


@pytest.mark.nightly
def test_a_large_archive_is_not_held_in_memory(tmp_path: Path) -> None:
    large = packed([tar.TarEntry(name="top/a", data=random.Random(1).randbytes(4_000_000) * 8)])
    tracemalloc.start()
    try:
        top_dir = unpack(large, tmp_path, top="top")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (top_dir / "a").stat().st_size == 32_000_000
    assert peak < 4_000_000


def test_a_size_that_is_not_there(refuse: Refuse) -> None:
    refuse(with_size(b"00007777777\0"), "ends in the middle of an entry")
    refuse(with_size(b"77777777777\0"), "is larger than")


def test_a_size_beyond_octal(refuse: Refuse) -> None:
    refuse(with_size(b"\x80" + b"\0" * 3 + b"\x7f" * 8), "is not an octal number")


def test_a_negative_size_which_makes_some_readers_loop_for_ever(refuse: Refuse) -> None:
    refuse(with_size(b"\xff" * 10 + b"\xfe\0"), "is not an octal number")
    refuse(with_size(b"-0000001000\0"), "is not an octal number")


# Damaged, or with something added


def with_gzip_header(flags: int, fields: bytes = b"") -> bytes:
    """Return the good archive with other flags, and what they announce, in the header of its gzip data."""
    plain = compress(GOOD)
    return plain[:3] + bytes([flags]) + plain[4:10] + fields + plain[10:]


@pytest.mark.parametrize("flags", [0x20, 0x40, 0x80, 0xE0], ids=hex)
def test_a_gzip_header_with_flags_that_nobody_knows(refuse: Refuse, flags: int) -> None:
    refuse(with_gzip_header(flags), "gzip data is damaged")


@pytest.mark.parametrize(
    ("flags", "fields"),
    [(0x02, b"\0\0"), (0x04, b"\xff\xff"), (0x08, b"x" * 100), (0x10, b"x" * 100), (0x1E, b"\0\1")],
    ids=["checksum", "extra", "name", "comment", "all"],
)
def test_a_gzip_header_whose_fields_are_not_there(refuse: Refuse, flags: int, fields: bytes) -> None:
    refuse(with_gzip_header(flags, fields), "damaged|truncated|middle of a header|octal|no end mark")


@pytest.mark.parametrize(
    ("flags", "fields"),
    [(0x08, b"../../etc/passwd\0"), (0x10, b"\x1b[2J\0"), (0x04, b"\4\0abcd"), (0x01, b"")],
    ids=["name", "comment", "extra", "text"],
)
def test_what_a_gzip_header_says_beside_is_not_believed(tmp_path: Path, flags: int, fields: bytes) -> None:
    top_dir = unpack(with_gzip_header(flags, fields), tmp_path, top="top")
    assert sorted(path.name for path in top_dir.rglob("*")) == ["a", "b", "c"]
    assert [path.name for path in tmp_path.iterdir()] == ["top"]


def test_a_method_of_compression_that_nobody_knows(refuse: Refuse) -> None:
    plain = bytearray(compress(GOOD))
    plain[2] = 7
    refuse(bytes(plain), "gzip data is damaged")


def test_a_length_that_the_gzip_data_does_not_have(refuse: Refuse) -> None:
    refuse(compress(GOOD)[:-4] + b"\1\0\0\0", "gzip data is damaged")


@pytest.mark.parametrize("behind", [b"\0" * 1_000_000, b"PK\x03\x04", b"\x1f", b"\x1f\x8b\x08\0", b"\n"], ids=len)
def test_anything_behind_the_gzip_data(refuse: Refuse, behind: bytes) -> None:
    refuse(compress(GOOD) + behind, "data after the end of the gzip stream")


def test_a_gnu_long_link_target(refuse: Refuse) -> None:
    refuse(packed([tar.TarEntry(name="x", kind="K", data=b"/etc/passwd"), tar.TarEntry("top/a")]), "unknown type")


def test_something_behind_the_gzip_data(refuse: Refuse) -> None:
    refuse(compress(GOOD) + b"\0", "data after the end of the gzip stream")


def test_a_second_gzip_member(refuse: Refuse) -> None:
    refuse(compress(GOOD) + compress(GOOD), "data after the end of the gzip stream")


def test_something_behind_the_end_mark_of_the_tar(refuse: Refuse) -> None:
    refuse(compress(GOOD + GOOD), "data after the end of the archive")


def test_gzip_data_cut_off_anywhere(refuse: Refuse) -> None:
    whole = compress(GOOD)
    for length in range(len(whole)):
        refuse(whole[:length], "truncated|ends in the middle")


def test_a_tar_cut_off_anywhere(refuse: Refuse) -> None:
    end = 512 * 7  # two directories, two files of one and of two blocks
    for length in range(0, end + 1024, 100):
        refuse(compress(GOOD[:length]), "ends in the middle|no end mark")


def test_a_tar_without_an_end_mark(refuse: Refuse) -> None:
    refuse(compress(GOOD[: 512 * 7]), "no end mark")


def test_gzip_data_with_a_wrong_checksum(refuse: Refuse) -> None:
    whole = bytearray(compress(GOOD))
    whole[-8] ^= 1
    refuse(bytes(whole), "gzip data is damaged")


def test_a_damaged_header_is_not_taken_for_the_end(refuse: Refuse) -> None:
    damaged = bytearray(GOOD)
    damaged[512 + 3] ^= 1
    refuse(compress(bytes(damaged)), "the header at byte 512 is damaged")


def test_a_header_of_an_unknown_format(refuse: Refuse) -> None:
    header = bytearray(tar.write([tar.TarEntry(name="top/a")])[:512])
    header[257:265] = bytes(8)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    refuse(compress(bytes(header) + bytes(1024)), "has an unknown format")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"<html>not found</html>", GOOD], ids=["", "zip", "html", "tar"])
def test_what_is_no_gzip_data_at_all(refuse: Refuse, data: bytes) -> None:
    refuse(data, "damaged|truncated")


@pytest.mark.parametrize("data", [b"", bytes(1024), b"hello", b"x" * 2000])
def test_gzip_data_that_is_no_tar(refuse: Refuse, data: bytes) -> None:
    refuse(compress(data), "no end mark|is empty|middle of a header|damaged|octal")


@given(st.integers(0, 512 * 7 - 1), st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_read_but_never_crashes(position: int, flip: int) -> None:
    changed = bytearray(GOOD)
    changed[position] ^= flip
    with contextlib.suppress(IntegrityError):
        read(compress(bytes(changed)))


@given(st.binary(max_size=3000))
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(IntegrityError):
        decompress(data)


# What is harmless is taken, without what could harm


def test_special_mode_bits_and_owners_are_dropped(tmp_path: Path) -> None:
    info = tarfile.TarInfo("top/a")
    info.mode, info.uid, info.uname = 0o6777, 12345, "somebody"
    file = unpack(by_tarfile(info), tmp_path, top="top") / "a"
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


@pytest.mark.parametrize("unseen", ["\u200c", "\u200d", "\u200e", "\u206a", "\ufeff"], ids=ascii)
def test_files_that_differ_in_what_a_file_system_does_not_see(refuse: Refuse, unseen: str) -> None:
    refuse(named("top/README.md", f"top/READ{unseen}ME.md"), "collides with 'top/README.md'")


# What readers of tar take differently


def test_a_header_in_the_format_of_star_which_divides_names_elsewhere(refuse: Refuse) -> None:
    header = bytearray(tar.write([tar.TarEntry(name=f"top/{'d' * 140}/a")])[:512])
    header[508:512] = b"tar\0"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    refuse(compress(bytes(header) + bytes(10240)), "data after its last field")


def test_more_folders_than_allowed_though_none_has_an_entry(refuse: Refuse) -> None:
    deep = "/".join("d" * 20)
    many = named(*(f"top/{number}/{deep}/a" for number in range(10)))
    refuse(many, "more than 100 entries", limits=Limits(entries=100))


def test_a_package_that_would_be_refused_when_it_is_read_is_not_packed() -> None:
    for members in (
        [Member(path="a", data=bytes(LIMITS.file_size + 1))],
        [Member(path=str(number), data=bytes(LIMITS.file_size)) for number in range(3)],
        [Member(path=f"{number}/a", data=b"") for number in range(LIMITS.entries // 2)],
    ):
        with pytest.raises(InputError, match=r"larger than|would hold more than"):
            pack("top", members)
