"""What a terminal shows of work that takes longer than a second; a pipe gets none of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from threading import Event

import pytest

import tiny
from cli.terminal import on_terminal
from sharing.servers import Server, answer, answering
from tiny import done, packyard

LARGE = 200_000  # bytes of a bundle, more than are read at a time
GATE = 120  # seconds that a server waits at most


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    sources = tiny.workspace(folder / "sources")
    (sources / "packages/p/files/run.txt").write_text(Random(1).randbytes(LARGE).hex())
    done("publish", "--workspace", sources, "--version", "1.0", "--to", folder / "channel")
    return folder / "channel"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing that another test got."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def gate() -> Iterator[Event]:
    """Opened by a test, lets the rest of a bundle pass."""
    event = Event()
    yield event
    event.set()


@pytest.fixture
def server(channel: Path, gate: Event) -> Iterator[Server]:
    """A server of a channel that stops in the middle of each bundle."""

    def script(request: bytes) -> Iterable[bytes]:
        file = channel / request.split(b" ", 2)[1].decode().lstrip("/")
        whole = answer(file.read_bytes()) if file.is_file() else answer(status=b"404 Not Found")
        if file.suffix == ".gz":
            yield whole[: LARGE // 2]
            gate.wait(GATE)
            whole = whole[LARGE // 2 :]
        yield whole

    with answering(script) as found:
        yield found


@pytest.mark.nightly
def test_get_shows_the_bytes_that_arrived(server: Server, gate: Event, tmp_path: Path) -> None:
    with on_terminal("get", "p", "--from", server.address, cwd=tmp_path) as terminal:
        shown = terminal.until(" kB")
        assert "fetching, p@1.0: 65.5 of 2" in shown
        gate.set()
        rest = terminal.whole()
    assert "\r\x1b[Kp@1.0 from " in rest  # in the place of the line
    assert " kB" not in rest.rpartition("p@1.0 from ")[2]
    assert (tmp_path / "p/packyard.json").is_file()


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_pipe_gets_no_progress(quiet: tuple[str, ...], server: Server, gate: Event, tmp_path: Path) -> None:
    gate.set()
    found = packyard("get", "p", "--from", server.address, *quiet, cwd=tmp_path)
    assert "kB" not in found.stderr
    assert "\x1b" not in found.stderr
