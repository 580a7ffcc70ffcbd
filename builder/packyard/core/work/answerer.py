"""A process of Python that answers what strangers wrote, within bounds that it sets itself: see `bound`.

It is started when something is asked, and ends with this process, or with a question that takes too much.
"""

import atexit
import json
import resource
import subprocess
import sys
import time
from threading import Lock
from typing import Any

#: What such a process may take: bytes of memory, and seconds of a processor for a question.
MEMORY, SECONDS = 512 << 20, 2


class Answerer:
    """A process that runs a module, which reads requests, and answers each of their questions with a line of JSON."""

    def __init__(self, module: str) -> None:
        # -P: no module comes from the working directory, which may be a stranger's.
        self._command = (sys.executable, "-P", "-m", module)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = Lock()
        atexit.register(self.close)

    def ask(self, request: bytes, count: int) -> list[Any]:
        """Return the answers to so many questions; fewer where the process does not survive one of them."""
        answers = list[Any]()
        pipe = subprocess.PIPE
        with self._lock:
            process = self._process = self._process or subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
            )
            assert process.stdin
            assert process.stdout
            try:
                process.stdin.write(request)
                process.stdin.flush()
                for _ in range(count):
                    answers.append(json.loads(process.stdout.readline()))
            except (BrokenPipeError, json.JSONDecodeError):
                self.close()
        return answers

    def close(self) -> None:
        """End the process."""
        if process := self._process:
            process.kill()
            with process:  # closes its pipes
                self._process = None


def bound() -> None:
    """Bound the memory of this process, and the time of its next question; ask again before each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + SECONDS, resource.RLIM_INFINITY))
