"""Hostile channels, generated: a message or the right bytes, within limits of time and memory.

`make fuzz` runs more of them.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sharing.hostile import BUNDLES, Grammar
from tiny import environment, write

FUZZ = int(os.environ.get("PACKYARD_FUZZ", "0"))
CASES = max(150, FUZZ // 250) if FUZZ else 8

#: A process that is started begins with the peak of who starts it; that of its own memory it tells itself.
#: One that computes without end is ended by the system.
PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from packyard.sharing.stores import store
store.PATIENCE = 1.0
from packyard.cli.main import main
code = main(sys.argv[1:])
lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
open(".memory", "w").write(lines["VmHWM"].split()[0])
sys.exit(code)
"""
MEMORY = 256 * 1024 * 1024
REFERENCES = ["bert", "bert@1.0", "bert@v1.1", "gpt@1", "gpt", "bert", "bert@1", "bert@^1", "bret", "bert@7.0"]


@dataclass(frozen=True)
class Done:
    code: int
    err: str
    memory: int


def run(*words: object, cwd: Path) -> Done:
    """Run packyard with a deadline of a second for requests, and return what it took."""
    env = environment(NO_PROXY="127.0.0.1", HOME=str(cwd))
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    how = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace", "timeout": 60}
    process = subprocess.run(command, cwd=cwd, env=env, **how)
    return Done(process.returncode, process.stderr, int((cwd / ".memory").read_text()) * 1024)


def state(folder: Path, *, without: Path) -> dict[str, tuple[int, int, float]]:
    """Return everything below a folder, but for another one: mode, size and time."""
    found = {}
    for directory, names, files in os.walk(folder):
        names[:] = [name for name in names if Path(directory, name) != without]
        for path in (Path(directory, name) for name in (*names, *files) if name != ".memory"):
            about = path.lstat()
            found[str(path)] = (about.st_mode, about.st_size, about.st_mtime)
    return found


def check_refused_or_done(done: Done, case: str) -> None:
    assert done.code in (0, 1), f"{case}: {done}"
    assert "Traceback" not in done.err, f"{case}: {done.err}"
    assert bool(done.err) or done.code == 0, case
    assert done.code == 0 or 0 < len(done.err.splitlines()) <= 10, f"{case}: {done.err[:3000]}"
    assert len(done.err) < 5000, f"{case}: {done.err[:3000]}"
    assert done.memory < MEMORY, f"{case}: {done.memory} bytes; {done.err[:500]}"


def check_got(into: Path, done: Done, case: str) -> None:
    """Hold that what was unpacked is one of the bundles, to the byte, and nothing where it was refused."""
    if done.code:
        assert not into.exists() or not list(into.iterdir()), case
        return
    (top,) = into.iterdir()
    described = json.loads((top / "packyard.json").read_bytes())
    (expected,) = (each for each in BUNDLES if (each.name, each.version) == (described["name"], described["version"]))
    found = {str(file.relative_to(top)): file.read_bytes() for file in top.rglob("*") if not file.is_dir()}
    assert b"s3cret" not in found.pop(".packyard.json"), case
    assert found == {member.path: member.data for member in expected.members}, case


def words(grammar: Grammar, channel: object, into: Path) -> list[object]:
    if grammar.random.random() < 0.3:
        return ["list", "--from", channel, *grammar.random.choice([[], ["--output", "json"], ["pytorch"]])]
    return ["get", grammar.random.choice(REFERENCES), "--from", channel, "--to", into]


@pytest.mark.parametrize("seed", range(CASES))
def test_a_folder_that_harms_is_read_or_refused(seed: int, tmp_path: Path) -> None:
    grammar, channel, into = Grammar(seed), tmp_path / "channel", tmp_path / "into"
    write(tmp_path / "outside/secret", b"secret")
    grammar.channel(channel, tmp_path / "outside")
    before = state(tmp_path, without=into)
    chosen = words(grammar, channel, into)
    done = run(*chosen, cwd=tmp_path)
    case = f"seed {seed}: {grammar.told}: {chosen}"
    check_refused_or_done(done, case)
    assert state(tmp_path, without=into) == before, case
    if chosen[0] == "get":
        check_got(into, done, case)
