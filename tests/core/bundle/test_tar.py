"""The tar format: we write and read what the standard library writes as ustar."""

from __future__ import annotations

import io
import tarfile

import pytest

from packyard.core.bundle import tar
from packyard.core.errors import InputError

LONG = "/".join(["directory-with-a-long-name"] * 5)


@pytest.mark.parametrize("name", ["a/b.yaml", f"{LONG}/file.yaml", f"{'p' * 155}/{'n' * 100}", "naïve/模型.md"])
@pytest.mark.parametrize("size", [0, 512, 513, 10240])
def test_writes_and_reads_the_bytes_that_tarfile_writes(name: str, size: int) -> None:
    entries = [tar.TarEntry(name=name, mode=0o755, data=b"x" * size), tar.TarEntry(name="d/", kind="5", mode=0o755)]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT, encoding="utf-8") as archive:
        for entry in entries:
            info = tarfile.TarInfo(entry.name)
            info.type, info.mode, info.size, info.mtime = entry.kind.encode(), entry.mode, len(entry.data), tar.MTIME
            archive.addfile(info, io.BytesIO(entry.data))
    assert tar.write(entries) == buffer.getvalue()
    assert [*tar.read(buffer.getvalue())] == entries


@pytest.mark.parametrize("name", ["x" * 101, f"{'p' * 156}/n", f"p/{'n' * 101}", f"{'p/' * 120}{'n' * 99}"])
def test_refuses_to_write_a_name_that_does_not_fit(name: str) -> None:
    with pytest.raises(InputError, match="too long for a tar archive"):
        tar.write([tar.TarEntry(name=name)])
