"""The Jobs of a probe: made of the pods of a use case, created and deleted.

What the use case brings is not there yet. Variables of its ConfigMaps are written out; its volumes are empty, and what
is mounted from them is not looked at; its account is the namespace's own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from packyard.core.errors import Problem
from packyard.core.kubernetes import held, pods
from packyard.core.kubernetes.lenient import mapping, mappings, name_of, text
from packyard.core.kubernetes.pods import Pod
from packyard.running.probe import contract
from packyard.running.probe.contract import Check
from packyard.running.runs import beside
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.rendered import Rendered
from packyard.running.runs.run import LABEL, Object

#: Kind and name of what the use case brings.
Own = frozenset[tuple[str, str]]

#: The fields of a pod that decide where it runs, as whom, and what it sees.
_OF_POD = (
    *("automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks", "hostAliases", "hostNetwork"),
    *("hostUsers", "imagePullSecrets", "nodeSelector", "os", "priorityClassName", "runtimeClassName", "schedulerName"),
    *("securityContext", "serviceAccountName", "tolerations"),
)
_OF_CONTAINER = ("image", "imagePullPolicy", "securityContext", "volumeMounts", "workingDir")
_NOT_MAIN = frozenset(("initContainers", "ephemeralContainers", "sidecars"))
_RESOURCES = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"cpu": "500m", "memory": "256Mi"}}
_PURPOSE = "probe"
#: A name that every cluster has.
_DNS = Check("name", "kubernetes.default.svc", "kubernetes.default.svc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The objects of a probe, and what each container of its Jobs looks for, by the names of both."""

    name: str
    objects: Sequence[Object]
    checks: Mapping[tuple[str, str], Sequence[Check]]


def make(rendered: Rendered, word: str, *, seconds: int) -> Probe:
    """Make the probe of a use case; ``word`` tells it from others, and its pods end after ``seconds``."""
    name = beside.name(rendered.run, _PURPOSE, word)
    labels = beside.labels(name, _PURPOSE)
    own = frozenset((text(item.get("kind")), name_of(item)) for item in rendered.objects)
    tried: dict[str, tuple[Object, Mapping[str, Sequence[Check]]]] = {}
    for pod in pods.find_all(rendered.objects):
        volumes = [_volume(each, own) for each in pod.volumes]
        named = {text(each.get("name")) for each in volumes}
        volumes += [{"name": each, "emptyDir": {}} for each in sorted(pod.volume_names - named)]
        containers = {
            text(each.get("name")) or "main": each for path, each in pod.container_places if _NOT_MAIN.isdisjoint(path)
        }
        checks: dict[str, Sequence[Check]] = {}
        probing = []
        for called, container in containers.items():
            values = contract.values_of(container, rendered.objects)
            checks[called] = (*contract.find(container, volumes, values), _DNS)
            named_checks = [part for each in checks[called] for part in (each.kind, each.word)]
            probing.append({**_container(container, values, own), "name": called, "args": [name, *named_checks]})
        spec = {**_pod(pod, own), "volumes": volumes, "containers": probing, "restartPolicy": "Never"}
        annotations = mapping(mapping((pod.template or {}).get("metadata")).get("annotations"))
        template = {"metadata": {"annotations": annotations, "labels": labels}, "spec": spec}
        tried.setdefault(json.dumps(template, sort_keys=True), (template, checks))
    jobs = {f"{name}-{number}": pair for number, pair in enumerate(tried.values())}
    return Probe(
        name=name,
        objects=[beside.job(job, labels, template, seconds) for job, (template, _) in jobs.items()],
        checks={(job, container): of for job, (_, checks) in jobs.items() for container, of in checks.items()},
    )


def delete(kubectl: Kubectl, probe: Probe) -> None:
    """Delete what there is of a probe."""
    command = kubectl.by_hand("delete", "job", f"--selector={LABEL}={probe.name}")
    left = Problem(f"the probe {probe.name} could not be deleted", hint=command)
    beside.delete(kubectl, probe.objects, left=left)


def _pod(pod: Pod[Any], own: Own) -> Object:
    fields = {field: value for field in _OF_POD if (value := pod.get(field)) is not None}
    if ("ServiceAccount", fields.get("serviceAccountName")) in own:
        del fields["serviceAccountName"]
    node_affinity = mapping(pod.get("affinity")).get("nodeAffinity")
    return {**fields, **({"affinity": {"nodeAffinity": node_affinity}} if node_affinity else {})}


def _container(container: Object, values: Mapping[str, str], own: Own) -> Object:
    """Return a container that runs the script; variables in what it looks for are left to the kubelet."""
    script = files("packyard.running.probe").joinpath("probe.sh").read_text("utf-8")
    written = [{"name": name, "value": value} for name, value in values.items()]
    others = [each for each in mappings(container.get("env")) if each.get("name") not in values]
    return {
        **{field: container[field] for field in _OF_CONTAINER if field in container},
        "command": ["/bin/sh", "-c", script, "probe.sh"],
        "env": [*written, *(each for each in others if not _is_brought(each, own))],
        "envFrom": [each for each in mappings(container.get("envFrom")) if not _is_brought(each, own)],
        "resources": _RESOURCES,
    }


def _volume(volume: Object, own: Own) -> Object:
    """Return a volume, or an empty one in place of what is made for the run alone, or with it."""
    is_new = "ephemeral" in volume or _is_brought(volume, own)
    return {"name": volume.get("name"), "emptyDir": {}} if is_new else volume


def _is_brought(part: Mapping[str, Any], own: Own) -> bool:
    return any((each.kind, each.name) in own for each in held.of(part))
