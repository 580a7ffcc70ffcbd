"""Users of the control plane other than its administrator, and what each of them asked of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from controlplane.api import Api, Object
from controlplane.service import AUDITED


def kubeconfig(api: Api, user: str, namespace: str, folder: Path) -> Path:
    """Write a file for kubectl in which ``user`` is who asks, by nothing but the name, in ``namespace``."""
    config = json.loads((api.folder / "kubeconfig").read_text())
    (token,) = (each["user"]["token"] for each in config["users"] if each["name"] == AUDITED)
    config["users"] = [{"name": user, "user": {"token": token, "as": user}}]
    config["contexts"][0]["context"] |= {"user": user, "namespace": namespace}
    file = folder / f"kubeconfig-{user}"
    file.write_text(json.dumps(config))
    return file


def requests(api: Api, user: str) -> Iterator[Object]:
    """Yield the audit events of what a user asked, in their order, but for what everybody may know of the API."""
    for line in (api.folder / "audit.log").read_text().splitlines():
        event = json.loads(line)
        if event.get("impersonatedUser", {}).get("username") == user and "objectRef" in event:
            yield event
