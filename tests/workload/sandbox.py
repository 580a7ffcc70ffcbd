"""Namespaces that live as long as this process: what a pod's containers share, and what a node is."""

from __future__ import annotations

import subprocess

from real import program


class Sandbox:
    """A process that does nothing but hold namespaces for as long as this one lives."""

    def __init__(self, hostname: str, *options: str) -> None:
        # The fourth word of `stat` is the parent of cut, by its number here, not in a namespace of its own.
        script = "echo \"$0\" >/proc/sys/kernel/hostname && cut -d ' ' -f 4 /proc/self/stat && exec sleep infinity"
        words = [program("setpriv"), "--pdeathsig=KILL", program("unshare"), "--net", "--uts", "--ipc", *options]
        self._process = subprocess.Popen([*words, "sh", "-c", script, hostname[:63]], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.pid = int(self._process.stdout.readline())

    def enter(self, *options: str) -> list[str]:
        """Return the words before a command that is to run in here."""
        return [str(program("nsenter")), f"--target={self.pid}", *options]

    def ip(self, *lines: str) -> None:
        """Configure the network."""
        if lines:
            words = [*self.enter("--net"), program("ip"), "-batch", "-"]
            subprocess.run(words, input="\n".join(lines), text=True, check=True)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
