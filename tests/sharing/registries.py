"""Real registries, each started for as long as a block runs, and the clients that others read them with."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from packyard.sharing.stores.oci.manifest import INDEX_TYPE, MANIFEST_TYPE
from packyard.sharing.stores.store import Store
from real import free_port
from sharing.buckets import running

CONFIGURATION = """\
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {folder}}}, delete: {{enabled: true}}}}
http: {{addr: "{host}"}}
"""


@contextmanager
def distribution(program: Path, folder: Path, *, more: str = "", host: str = "") -> Iterator[str]:
    """Run a distribution registry, version 2 or 3, and yield its host and port; ``more`` is more configuration."""
    host = host or f"127.0.0.1:{free_port()}"
    text = CONFIGURATION.format(folder=folder / "data", host=host)
    (folder / "config.yml").write_text(text + more)
    with running([program, "serve", folder / "config.yml"], int(host.rpartition(":")[2])):
        yield host


@contextmanager
def with_referrers(program: Path) -> Iterator[str]:
    """Run a registry that has the referrers API, and yield its host and port."""
    host = f"127.0.0.1:{free_port()}"
    with running([program, host], int(host.rpartition(":")[2])):
        yield host


def anywhere(host: str) -> str:
    """Return the address of a channel that nobody else uses."""
    return f"oci://{host}/c-{uuid.uuid4().hex}/models"


def ask(store: Store, repository: str, path: str, **named: Any) -> requests.Response:
    """Send a request of the test's own."""
    host, _, channel = store.address.removeprefix("oci://").partition("/")
    url = f"http://{host}/v2/{channel}/{repository}/{path}"
    headers = {"Accept": f"{MANIFEST_TYPE}, {INDEX_TYPE}", "Content-Type": MANIFEST_TYPE}
    return requests.request(named.pop("method", "GET"), url, timeout=300, headers=headers, **named)
