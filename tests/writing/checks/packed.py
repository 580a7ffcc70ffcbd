"""Archives that no packyard made, from a list of their entries."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

_TEXT = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"


def write(listing: str, folder: Path) -> Path:
    """Write an archive: a line ``PATH MODE [owner=NAME] [time=SECONDS] [link=TARGET]`` for each entry."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for path, mode, *more in (line.split() for line in listing.splitlines() if line.strip()):
            member = tarfile.TarInfo(path)
            member.mode, member.size = int(mode, 8), len(_TEXT)
            given = dict(each.split("=") for each in more)
            member.uname, member.mtime = given.get("owner", ""), int(given.get("time", 0))
            if "link" in given:
                member.type, member.linkname, member.size = tarfile.SYMTYPE, given["link"], 0
            archive.addfile(member, io.BytesIO(_TEXT[: member.size]))
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "package.tar.gz"
    file.write_bytes(gzip.compress(raw.getvalue(), mtime=0))
    return file
