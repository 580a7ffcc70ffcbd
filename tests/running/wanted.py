"""Small objects to deploy as runs, ready as `prepare` returns them."""

from collections.abc import Mapping
from typing import Any

from controlplane.api import Api
from packyard.running.runs import plan as deploying
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.rendering import Rendered
from packyard.running.runs.run import Object
from running.made import WHEN, template

_INSTANCE = "app.kubernetes.io/instance"


def rendered(*objects: Object, run: str = "first") -> Rendered:
    """Return objects as those of a run."""
    for item in objects:
        item["metadata"].setdefault("labels", {})[_INSTANCE] = run
    about = {"package": "mnist", "version": "1.0.0", "use_case": "first-run"}
    draft = RunRecord(run="", number=1, when="", **about)
    return Rendered(objects=objects, draft=draft, setters=frozenset({"RUN_NAME"}))


def deploy(client: Kubectl, run: Rendered, who: str = "ann") -> RunRecord:
    """Deploy a run as `packyard deploy` does, and return its record."""
    plan = deploying.plan(client, run, who=who, when=WHEN)
    deploying.carry_out(client, plan)
    return plan.record


def made(client: Kubectl, *objects: Object, run: str = "first", who: str = "ann") -> RunRecord:
    """Deploy objects as a run."""
    return deploy(client, rendered(*objects, run=run), who)


def names(api: Api, namespace: str, *kinds: str) -> list[str]:
    """Return the names of ConfigMaps and Jobs, or objects of other kinds, but for what every namespace has."""
    found = (each for each in api.everything(namespace) if each["kind"] in (kinds or ("ConfigMap", "Job")))
    return sorted(name for each in found if (name := each["metadata"]["name"]) not in ("kube-root-ca.crt", "default"))


def item(api_version: str, kind: str, name: str, **fields: Any) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


def config_map(name: str = "settings", **data: str) -> Object:
    return item("v1", "ConfigMap", name, data=data)


def secret(name: str = "key", **data: str) -> Object:
    return item("v1", "Secret", name, stringData=data)


def claim(name: str = "disk") -> Object:
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none"}
    return item("v1", "PersistentVolumeClaim", name, spec=spec)


def job(name: str = "work", **limits: str) -> Object:
    return item(
        "batch/v1",
        "Job",
        name,
        spec={"backoffLimit": 0, "template": {"metadata": {"labels": {}}, "spec": _pod(limits)}},
    )


def deployment(name: str = "server", **limits: str) -> Object:
    labels = {_INSTANCE: name}
    template = {"metadata": {"labels": labels}, "spec": {**_pod(limits), "restartPolicy": "Always"}}
    return item("apps/v1", "Deployment", name, spec={"selector": {"matchLabels": labels}, "template": template})


def _pod(limits: Mapping[str, str]) -> Object:
    spec: Object = template("run", resources={"limits": limits})["spec"]
    return spec
