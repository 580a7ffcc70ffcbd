"""The tar format: we write what the standard library writes, and read what other programs write."""

from __future__ import annotations

import io
import tarfile

import pytest

from packyard.core.bundle import tar
from packyard.core.errors import InputError

LONG = "/".join(["directory-with-a-long-name"] * 5)
NAMES = ["a", "a/b.yaml", f"{LONG}/file.yaml", "x" * 100, f"{'p' * 155}/{'n' * 100}", "naïve/模型.md"]


def info(name: str, data: bytes = b"", mode: int = 0o644, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.mode, made.size, made.mtime = kind, mode, len(data), tar.MTIME
    return made


def written_by_the_standard_library(entries: list[tar.TarEntry], form: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form, encoding="utf-8") as archive:
        for entry in entries:
            archive.addfile(info(entry.name, entry.data, entry.mode, entry.kind.encode()), io.BytesIO(entry.data))
    return buffer.getvalue()


def entries_of(data: bytes) -> list[tar.TarEntry]:
    return [
        tar.TarEntry(name=entry.name, kind=entry.kind, mode=entry.mode, data=b"".join(entry.content))
        for entry in tar.read(io.BytesIO(data))
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 10240])
def test_writes_the_bytes_that_tarfile_writes(name: str, size: int) -> None:
    entries = [tar.TarEntry(name=name, mode=0o755, data=b"x" * size), tar.TarEntry(name="d/", kind="5", mode=0o755)]
    assert tar.write(entries) == written_by_the_standard_library(entries, tarfile.USTAR_FORMAT)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("name", NAMES)
def test_reads_the_formats_of_other_tools(name: str, form: int) -> None:
    entries = [tar.TarEntry(name=name, data=b"1"), tar.TarEntry(name="short", data=b"2")]
    assert entries_of(written_by_the_standard_library(entries, form)) == entries


@pytest.mark.parametrize("name", ["x" * 101, f"{'p' * 156}/n", f"p/{'n' * 101}", f"{'p/' * 120}{'n' * 99}"])
def test_refuses_to_write_a_name_that_does_not_fit(name: str) -> None:
    with pytest.raises(InputError, match="too long for a tar archive"):
        tar.write([tar.TarEntry(name=name)])
