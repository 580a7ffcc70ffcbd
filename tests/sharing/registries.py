"""Real registries, each started for as long as a block runs, and the clients that others read them with."""

from __future__ import annotations

import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from packyard.sharing.stores.oci.manifest import INDEX_TYPE, MANIFEST_TYPE
from packyard.sharing.stores.store import Store
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


def anywhere(host: str) -> str:
    """Return the address of a channel that nobody else uses."""
    return f"oci://{host}/c-{uuid.uuid4().hex}/models"


def ask(store: Store, repository: str, path: str, **named: Any) -> requests.Response:
    """Send a request of the test's own."""
    host, _, channel = store.address.removeprefix("oci://").partition("/")
    url = f"http://{host}/v2/{channel}/{repository}/{path}"
    headers = {"Accept": f"{MANIFEST_TYPE}, {INDEX_TYPE}", "Content-Type": MANIFEST_TYPE}
    return requests.request(named.pop("method", "GET"), url, timeout=300, headers=headers, **named)
