"""The Pods that controllers will make of an object's pod templates, wherever these sit."""

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

Object = dict[str, Any]

_META = ("labels", "annotations")
#: What a Workflow says of all its pods, and a template of it may say of its own.
_OF_WORKFLOW = (
    *("automountServiceAccountToken", "imagePullSecrets", "nodeSelector", "priorityClassName", "schedulerName"),
    *("securityContext", "serviceAccountName", "tolerations"),
)


def as_pods(objects: list[Object]) -> Iterator[tuple[str, Object]]:
    """Yield a Pod for every pod template, with its place."""
    for item in objects:
        found = _of_workflow(item["spec"]) if item["kind"] in ("Workflow", "WorkflowTemplate") else _templates(item)
        for path, template in found:
            if path:
                meta = {key: template.get("metadata", {}).get(key, {}) for key in _META}
                pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": "pod"}, "spec": template["spec"]}
                yield f"{item['kind']} {item['metadata']['name']}{path}", pod


def _templates(value: object, path: str = "") -> Iterator[tuple[str, Object]]:
    if isinstance(value, dict):
        spec = value.get("spec")
        if isinstance(spec, dict) and isinstance(spec.get("containers"), list):
            yield path, value
        value = {f".{key}": item for key, item in value.items()}
    if isinstance(value, list):
        value = {f"[{index}]": item for index, item in enumerate(value)}
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _templates(item, path + key)


def _of_workflow(spec: Object) -> Iterator[tuple[str, Object]]:
    """Yield the pods of a Workflow, without the containers that Argo adds; a parameter stands as the text 1."""
    claims = [item["metadata"]["name"] for item in spec.get("volumeClaimTemplates", ())]
    made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    for index, template in enumerate(spec.get("templates", ())):
        mains = template.get("containerSet", {}).get("containers", [])
        mains += [template[key] for key in ("container", "script") if key in template]
        if mains:
            own = {
                **{key: source[key] for source in (spec, template) for key in _OF_WORKFLOW if key in source},
                "restartPolicy": "Never",
                "enableServiceLinks": yaml.safe_load(spec.get("podSpecPatch", "{}")).get("enableServiceLinks", True),
                "volumes": [*spec.get("volumes", ()), *made, *template.get("volumes", ())],
                "initContainers": [_container(item) for item in template.get("initContainers", ())],
                "containers": [_container(item) for item in (*mains, *template.get("sidecars", ()))],
            }
            pod = {"metadata": {**spec.get("podMetadata", {}), **template.get("metadata", {})}, "spec": own}
            yield f".spec.templates[{index}]", json.loads(re.sub(r"\{\{.*?\}\}", "1", json.dumps(pod)))


def _container(item: Object) -> Object:
    """Return a container of a Workflow's template without what Pods do not know; the only one needs no name."""
    return {"name": "main", **{key: value for key, value in item.items() if key not in _OF_ARGO}}


_OF_ARGO = ("dependencies", "mirrorVolumeMounts", "source")
