"""What `packyard get` takes over HTTP, against curl, tar and sha256sum of the same; see `make bench`."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import real
from bench import measuring
from bench.measuring import process
from packyard.core.bundle import Manifest, build
from packyard.core.bundle.archive import Member
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores.directory import DirectoryStore

_PACKYARD = Path(sys.executable).with_name("packyard")
_CURL = 'curl -sSf -o got.tar.gz "$1" && sha256sum got.tar.gz && tar xzf got.tar.gz'


def measure(folder: Path, runs: int) -> None:
    """Get a bundle of 100 MB and a small one, with nothing cached."""
    chance, folder = random.Random(15), folder / "get"
    words = [b"%x " % chance.getrandbits(40) for _ in range(5_000)]
    texts = [Member(path=f"d/{number}.txt", data=b"".join(chance.choices(words, k=400_000))) for number in range(25)]
    weights = [Member(path=f"e/{number}.bin", data=chance.randbytes(1_000_000)) for number in range(46)]
    for name, members in (("large", [*texts, *weights]), ("small", [Member(path="README.md", data=b"# small\n")])):
        described = Manifest(name=name, version="1.0", model={}, use_cases={})
        publish(DirectoryStore(folder / "channel"), [build(described, members)])
    size = (folder / "channel/1.0/large.tar.gz").stat().st_size // 10**6
    compare = partial(measuring.compare, runs=runs)
    with real.serve(folder / "channel") as address:
        (folder / "config").mkdir()
        get = ("env", "NO_PROXY=127.0.0.1", f"XDG_CACHE_HOME={folder}/cache", f"XDG_CONFIG_HOME={folder}/config",
               _PACKYARD, "get", "--from", address, "--into", folder / "got")  # fmt: skip
        again = _clean(folder)
        curl = ("sh", "-c", f"cd {folder}/got && {_CURL}", "sh", f"{address}/1.0/large.tar.gz")
        compare(f"packyard get, {size} MB, curl + sha256sum + tar", process(*get, "large"), process(*curl),
                goal="2 x the time", ahead=again)  # fmt: skip
        imports = (sys.executable, "-c", "import requests")
        compare("packyard get, a small bundle, import requests", process(*get, "small"), process(*imports),
                goal="2 x the time", ahead=again)  # fmt: skip


def _clean(folder: Path) -> Callable[[], None]:
    def clean() -> None:
        for name in ("got", "cache"):
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir()

    return clean


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory(prefix="packyard-bench-") as made:
        measure(Path(made), int(sys.argv[1]) if len(sys.argv) > 1 else 5)
