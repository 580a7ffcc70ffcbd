"""Users of the control plane other than its administrator, and what each of them asked of it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from controlplane.api import Api, Object, wait
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


def await_right(
    api: Api, user: str, namespace: str = "", *, verb: str = "*", resource: str = "*", group: str = "*"
) -> None:
    """Return when the API server knows that a user has a right: it looks up roles and bindings in copies."""
    attributes = {"namespace": namespace, "verb": verb, "resource": resource, "group": group}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": {}}
    asked = {**review, "spec": {"resourceAttributes": attributes}}
    own = replace(api, user=user)
    wait(lambda: [] if own.create(asked).expect_done()["status"]["allowed"] else [f"{user} may not {verb} {resource}"])


def requests(api: Api, user: str) -> Iterator[Object]:
    """Yield the audit events of what a user asked, in their order, but for what everybody may know of the API."""
    data = (api.folder / "audit.log").read_bytes()
    for line in data[: data.rfind(b"\n") + 1].splitlines():  # behind it is a part of what another test asks
        event = json.loads(line)
        if event.get("impersonatedUser", {}).get("username") == user and "objectRef" in event:
            yield event
