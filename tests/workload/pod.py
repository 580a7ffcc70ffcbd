"""A pod that was started, and its containers: processes that tests wait for, read and kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from real import program
from workload.objects import Object
from workload.sandbox import Sandbox

#: Seconds until a test gives up waiting, on a busy machine.
PATIENCE = 300.0


class Container:
    """A container that was started."""

    def __init__(self, spec: Object, words: list[str], folder: Path) -> None:
        self.spec = spec
        self.log_file = folder / "log"
        self._pid_link = folder / "pid"
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def wait(self) -> int:
        """Return the exit code; a process that takes too long is killed, and the test fails with its log."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.spec['name']} does not end:\n{self.log}") from None

    def kill(self) -> None:
        """Kill every process of the container, as a node that runs out of memory does."""
        self.send(signal.SIGKILL)  # with the first process go all others
        self.process.wait()

    def send(self, sent: signal.Signals) -> None:
        """Send a signal to the first process, as a kubelet does."""
        while self.process.poll() is None and not self._pid_link.is_symlink():
            time.sleep(0.01)
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(int(self._pid_link.readlink().name), sent)

    def run(self, *words: str) -> None:
        """Run a command in the container, as hooks do: as its user, with its environment and mounts."""
        pid = self._pid_link.readlink().name
        status = dict(line.split(":\t", 1) for line in Path("/proc", pid, "status").read_text().splitlines())
        user, group = (status[name].split()[0] for name in ("Uid", "Gid"))
        variables = Path("/proc", pid, "environ").read_text().rstrip("\0").split("\0")
        entered = ["--mount", "--pid", "--net", "--uts", "--ipc", "--root", f"--setuid={user}", f"--setgid={group}"]
        command = [program("nsenter"), f"--target={pid}", *entered, "/usr/bin/env", "-i", *variables, *words]
        subprocess.run(command, check=True, timeout=PATIENCE)


class Pod:
    """A pod that was started: its sandbox, its volumes, its containers."""

    def __init__(self, described: Object, folder: Path, address: str) -> None:
        self.described = described
        self.folder = folder
        self.address = address
        self.containers: list[Container] = []
        self.is_ready = False
        self.refused: set[str] = set()
        spec = described["spec"]
        self.name: str = described["metadata"]["name"]
        self.hostname: str = spec.get("hostname") or self.name
        self.volumes: dict[str, Path] = {}
        #: A directory of each container, for all of a pod have one hostname and are process 1 for themselves.
        self.records_dirs = {
            each["name"]: folder / "records" / each["name"]
            for each in [*spec.get("initContainers", []), *spec["containers"]]
        }
        self.hosts_file = folder / "hosts"
        folder.mkdir()
        for records_dir in self.records_dirs.values():
            records_dir.mkdir(parents=True)
            records_dir.chmod(0o1777)
        self.hosts_file.touch()
        self.sandbox = Sandbox(self.hostname)

    @property
    def log(self) -> str:
        """What all containers printed."""
        return "".join(f"--- {self.name} {each.spec['name']}\n{each.log}" for each in self.containers)

    @property
    def records(self) -> list[dict[str, Any]]:
        """What the stand-ins in its first container noted, not those beside it."""
        return _read(self.records_dirs[self.described["spec"]["containers"][0]["name"]])

    @property
    def init_records(self) -> list[dict[str, Any]]:
        """What those in its init containers noted."""
        names = [each["name"] for each in self.described["spec"].get("initContainers", [])]
        return [record for name in names for record in _read(self.records_dirs[name])]

    @property
    def has_ended(self) -> bool:
        return bool(self.containers) and all(each.process.poll() is not None for each in self.containers)

    def release(self) -> None:
        """Let stand-ins end that were held."""
        for records_dir in self.records_dirs.values():
            (records_dir / "hold").unlink(missing_ok=True)

    def wait(self) -> int:
        """Return the first exit code that is not 0, when all containers ended."""
        return next((code for code in [each.wait() for each in self.containers] if code), 0)

    def kill(self) -> None:
        for each in self.containers:
            each.kill()


def _read(records_dir: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_bytes()) for file in sorted(records_dir.glob("*.json"))]
