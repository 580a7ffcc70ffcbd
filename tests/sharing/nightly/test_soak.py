"""Some minutes of publishers, readers, kills, pauses and clocks that jump, on each kind of store.

PACKYARD_SOAK_MINUTES is how long. Some publisher is killed, or stopped for up to 40 seconds (to
it, time jumps, and others take its ticket), at moments that the seed chooses; the first one never is.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

import sample
import tiny
from packyard.sharing.entry import bundle_key
from packyard.sharing.index import access
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.prune import prune
from sharing import buckets, soaking
from sharing.test_provenance import TRUST

MINUTES = float(os.environ.get("PACKYARD_SOAK_MINUTES", "3"))
PUBLISHERS, READERS = 4, 2
LONGEST_PAUSE = 40
#: Seconds between two kills: where there is a lease, others wait for 30 seconds for one that was killed.
STORES = {"directory": 3, "versitygw": 3, "registry3": 40}


@contextmanager
def running(kind: str, address: str, folder: Path, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process of `soaking` as long as the block does."""
    path = os.pathsep.join([str(tiny.SOURCE_ROOT), str(Path(__file__).parents[2])])
    command = [sys.executable, soaking.__file__, kind, address, str(folder), name]
    with (folder / f"{name}.errors").open("ab") as errors:
        process = subprocess.Popen(command, env=tiny.environment(PYTHONPATH=path), stderr=errors)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def address_of(store: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """Return the address of an empty place on a server of this kind."""
    if store == "directory":
        return str(folder / "channel")
    server = request.getfixturevalue(store)
    if store == "registry3":
        return f"oci://{server}/soak-{os.urandom(8).hex()}/models"
    patch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    for name, value in server.environment.items():
        patch.setenv(name, value)
    return f"s3://{buckets.BUCKET}/soak-{os.urandom(8).hex()}"


def disturb(publishers: dict[str, subprocess.Popen[bytes]], chance: random.Random) -> tuple[str, float]:
    """Kill a publisher, or stop it, and return its name and for how many seconds; the first is left alone."""
    name = chance.choice(sorted(publishers)[1:])
    process = publishers[name]
    assert process.poll() is None, f"{name} ended by itself"
    is_killed = chance.random() < 0.8
    process.send_signal(signal.SIGKILL if is_killed else signal.SIGSTOP)
    return name, 0 if is_killed else chance.uniform(0, LONGEST_PAUSE)


def check_flat(lines: list[dict[str, Any]]) -> None:
    """Check that the open files and the memory of a process did not grow from its first tenth on."""
    sizes = [(each["files"], each["megabytes"]) for each in lines]
    begin, end = sizes[: max(1, len(sizes) // 10)], sizes[-max(1, len(sizes) // 10) :]
    assert max(files for files, _ in end) <= max(files for files, _ in begin) + 4
    assert max(size for _, size in end) <= 1.25 * max(size for _, size in begin) + 10


def check_commands(address: str, names: set[str], folder: Path) -> None:
    """Check that the command line lists what was published, and gets some of it."""
    listed = tiny.done("list", "--from", address, "-o", "json")
    assert all(f'"{name.partition("@")[0]}"' in listed for name in names)
    tiny.done("get", min(names), "--from", address, "--into", folder / "got")


@pytest.mark.nightly
@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize("kind", STORES)
def test_publishers_that_are_killed_do_no_harm(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    address, chance = address_of(kind, request, tmp_path), random.Random(f"{sample.SEED} {kind}")
    store = soaking.opened(address)
    soaking.release(store, [soaking.content("shared", "0.0")])
    soaking.release(store, [soaking.content("shared", "0.1")])
    folder, names = tmp_path / "said", [f"own-{number}" for number in range(PUBLISHERS)]
    folder.mkdir()
    kills, pauses, end = 0, 0, time.monotonic() + 60 * MINUTES
    with ExitStack() as stack:

        def start(what: str, name: str) -> subprocess.Popen[bytes]:
            return stack.enter_context(running(what, address, folder, name))

        readers = [start("reader", f"reader-{number}") for number in range(READERS)]
        publishers = {name: start("publisher", name) for name in names}
        while time.monotonic() < end:
            time.sleep(chance.uniform(0, 2 * STORES[kind]))
            name, pause = disturb(publishers, chance)
            time.sleep(pause)
            if pause:
                publishers[name].send_signal(signal.SIGCONT)
                pauses += 1
            else:
                publishers[name].wait()
                publishers[name] = start("publisher", name)
                kills += 1
        (folder / soaking.STOP).touch()
        assert [each.wait(300) for each in (*readers, *publishers.values())] == [0] * (READERS + PUBLISHERS)
    said = {name: soaking.lines(folder / name) for name in [*names, *(f"reader-{each}" for each in range(READERS))]}
    done = {each for lines in said.values() for line in lines for each in line.get("done", ())}
    faults = [line for lines in said.values() for line in lines if "fault" in line]
    refused = [line for lines in said.values() for line in lines if "refused" in line]
    last = {name: (lines[0], lines[-1]) for name, lines in said.items() if name not in names[1:]}
    print(kind, {"kills": kills, "pauses": pauses, "done": len(done), "refused": len(refused), "lines": last})
    assert faults == []
    listed = {f"{each.name}@{each.version}": each for each in access.read(store, TRUST).entries}
    assert done | {"shared@0.0", "shared@0.1"} <= listed.keys()
    for name, entry in listed.items():
        assert store.get(bundle_key(entry.name, entry.version)) == soaking.content(*name.split("@")).data
    prune(store, TRUST)
    assert list(fsck.check(store, TRUST)) == []
    check_commands(address, done, tmp_path)
    for lines in last:
        check_flat(said[lines])
