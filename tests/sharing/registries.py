"""Real registries, each started for as long as a block runs, and the clients that others read them with."""

from __future__ import annotations

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from real import free_port

CONFIGURATION = """\
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {folder}}}, delete: {{enabled: {deletes}}}}}
http: {{addr: "{host}"}}
"""


@contextmanager
def distribution(program: Path, folder: Path, *, deletes: bool = True, more: str = "", host: str = "") -> Iterator[str]:
    """Run a distribution registry, version 2 or 3, and yield its host and port; ``more`` is more configuration."""
    host = host or f"127.0.0.1:{free_port()}"
    text = CONFIGURATION.format(folder=folder / "data", host=host, deletes="true" if deletes else "false")
    (folder / "config.yml").write_text(text + more)
    with _running([program, "serve", folder / "config.yml"], host):
        yield host


@contextmanager
def with_referrers(program: Path) -> Iterator[str]:
    """Run a registry that has the referrers API, and yield its host and port."""
    host = f"127.0.0.1:{free_port()}"
    with _running([program, host], host):
        yield host


@contextmanager
def _running(command: Sequence[object], host: str) -> Iterator[None]:
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait(process, host)
            yield
        finally:
            process.kill()


def _wait(process: subprocess.Popen[bytes], host: str) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, "the registry ended"
        try:
            opener.open(f"http://{host}/v2/", timeout=5).close()
        except urllib.error.HTTPError as error:
            error.close()
            return
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the registry does not answer")
