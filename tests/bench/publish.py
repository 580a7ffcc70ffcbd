"""Publishing many packages to an S3 server on this machine, against rclone copying the same files.

publish.py COPIES RUNS: the catalogue, renamed so many times over.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import real
from bench.measuring import compare, peak, process, void
from catalogue import workspaces
from packyard.sharing.index import access
from packyard.sharing.publishing.publish import Packed, publish
from packyard.sharing.stores import open_store
from sharing import buckets

PACKYARD = Path(sys.executable).with_name("packyard")
RCLONE = Path(sys.executable).with_name("rclone")


def measure(folder: Path, copies: int, runs: int) -> None:
    """Print the lines of the table that are about publishing."""
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    root, same, served = workspaces.multiply(folder / "sources", copies), folder / "same", folder / "served"
    publishing = (PACKYARD, "publish", "--workspace", root, "--version", "1.0.0", "--to")
    process(*publishing, same)()
    entries = access.read(open_store(str(same))).entries
    packed = [Packed(entry=entry, file=same / entry.key) for entry in entries]
    count = f"{len(packed):,} packages"
    served.mkdir()
    with buckets.versitygw(real.pinned_program("versitygw"), served) as server:
        os.environ.update(server.environment)
        os.environ |= {"RCLONE_CONFIG_THERE_TYPE": "s3", "RCLONE_CONFIG_THERE_PROVIDER": "Other"}
        os.environ |= {"RCLONE_CONFIG_THERE_ENV_AUTH": "true", "RCLONE_CONFIG_THERE_ENDPOINT": server.url}
        numbers = itertools.count()

        def anew(call: Callable[[str], None]) -> Callable[[], None]:
            """Return the call for a channel that is not there yet."""
            return lambda: call(f"{buckets.BUCKET}/{next(numbers)}")

        def clear() -> None:
            shutil.rmtree(served / buckets.BUCKET)
            (served / buckets.BUCKET).mkdir()

        def extra(key: str) -> dict[str, bytes]:
            ends = (".spdx.json", ".intoto.json")
            return {f"{key}{end}": (same / f"{key}{end}").read_bytes() for end in ends}

        rclone = (RCLONE, "--config", folder / "none", "copy", same)
        copied = anew(lambda place: process(*rclone, f"there:{place}")())
        library = anew(
            lambda place: void(
                publish(open_store(f"s3://{place}"), packed, attest=lambda entry: extra(entry.key), at_once=8)
            )
        )
        verb = anew(lambda place: process(*publishing, f"s3://{place}")())
        what = f"publish to S3 (library), {count}; rclone copy"
        compare(what, library, copied, goal="not slower", runs=runs, ahead=clear)
        what = f"packyard publish to S3, builds kept, {count}; rclone copy"
        compare(what, verb, copied, goal="-", runs=runs, ahead=clear)
        print(f"peak memory of a publish to S3: {peak(*publishing, f's3://{buckets.BUCKET}/peak'):.0f} MB for {count}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="packyard-bench-") as work:
        measure(Path(work), *map(int, sys.argv[1:]))
